// Scores all entities on one question in a single pass over its forecasts in order of time (METHODOLOGY §2).
import type { RowSink } from '../../schemas/columns.ts'
import { Course } from './course.ts'
import { Field, type IntegralName, NO_PRICE, READING_LENGTH } from './field.ts'
import { addOthers, addOwn, addPriced } from './judged.ts'
import { PPM, negativeLogNano } from './logarithm.ts'
import type { Methodology } from './methodology.ts'
import { Median } from './median.ts'
import type { PAIR_COLUMNS } from './pairs.ts'
import { Participant, WITHDRAWN, writeScores } from './participant.ts'
import { Peaks } from './peaks.ts'
import { NO_PRICES, type PriceColumns, StandingPrice } from './prices.ts'
import { SWEPT_REFERENCES, REFERENCE_SCORES_LENGTH, writeReferenceScores } from './swept-references.ts'
import { type Voices, isVoice } from './voices.ts'

/** A resolved question. All times are integer milliseconds UTC. */
export interface ResolvedQuestion {
  openedAtMs: number
  closesAtMs: number
  /** c, the effective close. */
  endsAtMs: number
  /** 1 = yes, 0 = no. */
  outcome: 0 | 1
  /** D, by which all errors of its unit are divided. */
  divisor: number
}

/** The forecasts of one question as columns, in the order (atMs, forecast_id); rows 0..count-1 are filled. */
export interface ForecastColumns {
  count: number
  /** The entity's number, from 0. */
  entity: Int32Array
  atMs: Float64Array
  /** Probability of yes in parts per million; −1 for a withdrawal. */
  ppm: Int32Array
  /** 1 if the service can vouch for the time of the forecast. */
  witnessed: Int32Array
}

/** The references have the first slots. No field counts them. */
const [HALF, MEDIAN, MARKET] = [0, 1, 2]
const NOBODY = -1

/**
 * Scores questions one after another, reusing its buffers.
 *
 * Yardsticks enter an entity's integrals only through the integrals of the field. The sweep reads these when
 * the entity's own forecast changes, or that of its owner's voice. So a question costs one step per forecast
 * and price, and one more for each forecast of a voice and each further agent of its owner.
 */
export class QuestionSweep {
  readonly #negativeLogNano: Float64Array
  readonly #judgedShare: number
  readonly #leastOthers: number
  readonly #voices: Voices
  /** The slot of each entity on the question under way, or −1. */
  readonly #slotOf: Int32Array
  /** For each voice, the slot of its owner's agent that came to this question last, or −1. */
  readonly #siblingOf: Int32Array
  readonly #participants: Participant[] = []
  /** The field as each participant read it last. */
  #readings = new Float64Array(SWEPT_REFERENCES.length * READING_LENGTH)
  readonly #field: Field
  readonly #median = new Median()
  readonly #price: StandingPrice
  /** The numbers of voices in all judged spans, and in the judged spans with a price. */
  readonly #peaks = new Peaks()
  readonly #pricedPeaks = new Peaks()
  #outcome: 0 | 1 = 0
  #hasPrices = false
  #nowMs = 0
  #judgedUntilMs = 0
  #medianPpm = WITHDRAWN
  /** The course of the last question. */
  readonly course = new Course()
  readonly referenceScores = new Float64Array(REFERENCE_SCORES_LENGTH)

  constructor({ parameters }: Methodology, voices: Voices) {
    this.#negativeLogNano = negativeLogNano(parameters.log_probability_floor)
    this.#judgedShare = parameters.judged_share
    this.#leastOthers = parameters.least_others
    this.#voices = voices
    this.#slotOf = new Int32Array(voices.length).fill(-1)
    this.#siblingOf = new Int32Array(voices.length).fill(-1)
    this.#field = new Field(parameters.least_others)
    this.#price = new StandingPrice(parameters.price_hours)
    this.#participants.push(...SWEPT_REFERENCES.map(() => new Participant()))
  }

  /**
   * Writes one row to `pairs` for each entity that took part, in the order of their first forecasts. `number`
   * is the question's number.
   */
  run(
    number: number,
    question: ResolvedQuestion,
    forecasts: ForecastColumns,
    pairs: RowSink<typeof PAIR_COLUMNS>,
    prices: PriceColumns = NO_PRICES,
  ): void {
    const { openedAtMs, closesAtMs, endsAtMs, divisor } = question
    this.#begin(question, forecasts, prices)
    const taken = this.#takeAll(question, forecasts)
    // Integrate from the last forecast to the end.
    if (endsAtMs > openedAtMs) this.#advance(endsAtMs)
    this.course.end(this.#field)
    for (let slot = 0; slot < taken; slot++) this.#settle(this.#participants[slot]!, slot)
    // Do this before writing, because the sink may throw: the next question must begin without participants.
    this.#leaveAll(taken)
    const life = { lifeMs: closesAtMs - openedAtMs, divisor }
    writeReferenceScores(this.referenceScores, this.#participants, life)
    for (let slot = SWEPT_REFERENCES.length; slot < taken; slot++) {
      const participant = this.#participants[slot]!
      if (participant.heldMs === 0) continue
      pairs.columns.question[pairs.row] = number
      writeScores(pairs.columns, pairs.row, participant, life)
      pairs.next()
    }
  }

  /** Clears what is left of the question before, and lets the references enter. */
  #begin(
    { openedAtMs, closesAtMs, endsAtMs, outcome }: ResolvedQuestion,
    { count, ppm }: ForecastColumns,
    prices: PriceColumns,
  ): void {
    const lifeMs = closesAtMs - openedAtMs
    this.#outcome = outcome
    this.#hasPrices = prices.count > 0
    this.#nowMs = openedAtMs
    // Round the last quarter down, so that the judged part is rounded up.
    this.#judgedUntilMs = Math.min(endsAtMs, closesAtMs - Math.floor(lifeMs * (1 - this.#judgedShare)))
    this.#field.begin(this.#hasPrices)
    this.#median.begin(ppm.subarray(0, count))
    this.#price.begin(prices, openedAtMs)
    this.#peaks.begin()
    this.#pricedPeaks.begin()
    this.course.begin(openedAtMs, endsAtMs, outcome)

    for (const reference of this.#participants.slice(0, SWEPT_REFERENCES.length))
      reference.enter(NOBODY, false)
    this.#say(HALF, PPM / 2)
    this.#say(MARKET, this.#price.ppm)
  }

  /** Takes all forecasts before the end. Returns how many slots are taken then. */
  #takeAll({ openedAtMs, endsAtMs }: ResolvedQuestion, forecasts: ForecastColumns): number {
    const { count, entity: entities, atMs, ppm: ppms, witnessed } = forecasts
    let taken = SWEPT_REFERENCES.length
    for (let row = 0; row < count; row++) {
      const eventMs = Math.max(atMs[row]!, openedAtMs)
      if (eventMs >= endsAtMs) break
      this.#advance(eventMs)
      const entity = entities[row]!
      const ppm = ppms[row]!
      let slot = this.#slotOf[entity]!
      if (slot < 0) {
        slot = taken++
        this.#enter(entity, slot)
      }
      const participant = this.#participants[slot]!
      this.#settle(participant, slot)
      this.#remove(participant)
      participant.isCurrent = false
      if (ppm !== WITHDRAWN) this.#forecast(participant, ppm, atMs[row]!)
      participant.witnessed &= witnessed[row]!
      if (participant.isVoice) this.#leaveOut(participant)
    }
    return taken
  }

  /** Frees the slots of all entities. */
  #leaveAll(taken: number): void {
    for (let slot = SWEPT_REFERENCES.length; slot < taken; slot++) {
      const { entity } = this.#participants[slot]!
      this.#slotOf[entity] = -1
      // The voice itself may not have come, only other agents of its owner.
      const ownVoice = this.#voices[entity]!
      if (ownVoice >= 0) this.#siblingOf[ownVoice] = -1
    }
  }

  /** Advances to an instant, in spans within which the standing forecasts and prices stay the same. */
  #advance(untilMs: number): void {
    if (untilMs === this.#nowMs) return
    this.course.advance(untilMs, this.#field)
    this.#field.advance(untilMs - this.#nowMs)
    const judgedMs = Math.min(untilMs, this.#judgedUntilMs)
    if (this.#nowMs < judgedMs) {
      this.#medianPpm = this.#field.voices === 0 ? WITHDRAWN : this.#median.ppm
      this.#say(MEDIAN, this.#medianPpm)
    }
    while (this.#nowMs < judgedMs) {
      const nextMs = Math.min(judgedMs, this.#price.changesAtMs)
      this.#judge(nextMs - this.#nowMs)
      this.#nowMs = nextMs
      if (nextMs !== this.#price.changesAtMs) continue
      this.#price.change()
      this.#say(MARKET, this.#price.ppm)
    }
    this.#nowMs = untilMs
  }

  #judge(spanMs: number): void {
    const { voices } = this.#field
    const { ppm: price } = this.#price
    const median = this.#errorOf(this.#medianPpm)
    this.#field.advanceJudged(spanMs, median, price === NO_PRICE ? NO_PRICE : this.#errorOf(price))
    this.#peaks.push(voices)
    if (price !== NO_PRICE) this.#pricedPeaks.push(voices)
  }

  #errorOf(ppm: number): number {
    return this.#outcome === 1 ? PPM - ppm : ppm
  }

  /** Sets the probability of a reference from now on, or withdraws it. */
  #say(slot: number, ppm: number): void {
    const reference = this.#participants[slot]!
    if (reference.isCurrent ? reference.ppm === ppm : ppm < 0) return
    this.#settle(reference, slot)
    reference.isCurrent = ppm >= 0
    reference.ppm = ppm
    reference.error = this.#errorOf(ppm)
  }

  /** Returns a participant without a forecast at a new slot. */
  #enter(entity: number, slot: number): void {
    if (slot === this.#participants.length) {
      this.#participants.push(new Participant())
      if (this.#readings.length < (slot + 1) * READING_LENGTH) {
        const readings = new Float64Array(2 * (slot + 1) * READING_LENGTH)
        readings.set(this.#readings)
        this.#readings = readings
      }
    }
    this.#slotOf[entity] = slot
    const participant = this.#participants[slot]!
    participant.enter(entity, isVoice(this.#voices, entity))
    const ownVoice = this.#voices[entity]!
    if (participant.isVoice || ownVoice < 0) return
    participant.nextSibling = this.#siblingOf[ownVoice]!
    this.#siblingOf[ownVoice] = slot
    const voice = this.#participants[this.#slotOf[ownVoice]!]
    if (voice?.isCurrent) participant.leftOut = voice.error
  }

  /** Takes the current forecast out of the field. */
  #remove({ isCurrent, isVoice: asVoice, error, nanoNats, ppm }: Participant): void {
    if (!isCurrent) return
    this.#field.remove(asVoice, error, nanoNats)
    if (asVoice) this.#median.remove(ppm)
  }

  /** Makes a forecast the current one. */
  #forecast(participant: Participant, ppm: number, madeAtMs: number): void {
    const error = this.#errorOf(ppm)
    participant.isCurrent = true
    participant.isCounted = false
    participant.madeAtMs = madeAtMs
    participant.ppm = ppm
    participant.error = error
    participant.nanoNats = this.#negativeLogNano[PPM - error]!
    this.#field.add(participant.isVoice, error, participant.nanoNats)
    if (!participant.isVoice) return
    this.#median.add(ppm)
    participant.leftOut = error
  }

  /** After a voice's change, leaves its new error out for the other agents of its owner. */
  #leaveOut({ entity, isCurrent, error }: Participant): void {
    for (let slot = this.#siblingOf[entity]!; slot >= 0;) {
      const sibling = this.#participants[slot]!
      this.#settle(sibling, slot)
      sibling.leftOut = isCurrent ? error : -1
      slot = sibling.nextSibling
    }
  }

  /** Brings a participant's integrals up to now, if its forecast stood. */
  #settle(participant: Participant, slot: number): void {
    const spanMs = participant.isCurrent ? this.#nowMs - participant.sinceMs : 0
    const at = slot * READING_LENGTH
    if (spanMs > 0) {
      const { error, nanoNats } = participant
      if (!participant.isCounted) participant.count(this.#outcome)
      participant.heldMs += spanMs
      participant.brier += error * error * spanMs
      participant.log += nanoNats * spanMs
      participant.conviction += Math.abs(2 * participant.ppm - PPM) * spanMs
      const since = (name: 'peerAll' | 'peerOwn') => this.#field.since(name, this.#readings, at)
      participant.peer += since('peerAll') - nanoNats * since('peerOwn')
      if (this.#peaks.length > participant.peakPlace) this.#settleJudged(participant, at)
    }
    participant.sinceMs = this.#nowMs
    participant.peakPlace = this.#peaks.length
    participant.pricedPeakPlace = this.#pricedPeaks.length
    this.#field.read(this.#readings, at)
  }

  /** The same for the judged instants. */
  #settleJudged(participant: Participant, at: number): void {
    const since = (name: IntegralName) => this.#field.since(name, this.#readings, at)
    const own = participant.leftOut >= 0 ? 1 : 0
    const most = this.#peaks.since(participant.peakPlace) - own
    let judgedMs = 0
    if (most >= this.#leastOthers)
      judgedMs = addOthers(participant, since, most, this.#outcome, this.#hasPrices)
    const pricedMs = this.#hasPrices ? since('priceTime') : 0
    if (pricedMs > 0) {
      const mostPriced = this.#pricedPeaks.since(participant.pricedPeakPlace) - own
      judgedMs += addPriced(participant, since, pricedMs, mostPriced)
    }
    addOwn(participant, judgedMs)
  }
}
