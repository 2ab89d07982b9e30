// Scores all entities on one question in a single pass over its forecasts in order of time (METHODOLOGY §2).
import type { RowSink } from '../../schemas/columns.ts'
import { Course } from './course.ts'
import { type CrowdPair, type SweptCrowd, crowdPairOf } from './crowd.ts'
import { Field, READING_LENGTH } from './field.ts'
import { PPM, negativeLogNano } from './logarithm.ts'
import type { Methodology } from './methodology.ts'
import type { PAIR_COLUMNS } from './pairs.ts'
import { Participant, WITHDRAWN, writeScores } from './participant.ts'
import { PICO, roundHalfEven } from './round.ts'
import { weightOf } from './strength.ts'
import { type Voices, isVoice } from './voices.ts'

/** A resolved question. All times are integer milliseconds UTC. */
export interface ResolvedQuestion {
  openedAtMs: number
  closesAtMs: number
  resolvedAtMs: number
  /** 1 = yes, 0 = no. */
  outcome: 0 | 1
  /** Whether it has closed by the `as_of` of the release, so that it counts in the numbers of entities. */
  isSettled: boolean
}

/** The forecasts of one question as columns, in the order (atMs, forecast_id); rows 0..count-1 are filled. */
export interface ForecastColumns {
  count: number
  /** Index of the entity, 0 ≤ entity < the number of entities. */
  entity: Int32Array
  atMs: Float64Array
  /** Probability of yes in parts per million; −1 for a withdrawal. */
  ppm: Int32Array
  /** 1 where the operator imported the forecast. */
  imported: Int32Array
  /** 1 where the service can say that the forecast was made when it says. */
  witnessed: Int32Array
}

/**
 * Scores questions one after another, reusing its buffers.
 *
 * The other entities' forecasts enter an entity's integrals only through the integrals of the field, which
 * are read when the entity's own forecast changes, or that of its owner's voice. So a question costs one step
 * per forecast, and one more for each forecast of a voice and each further agent of its owner.
 */
export class QuestionSweep implements SweptCrowd {
  readonly #negativeLogNano: Float64Array
  readonly #latestStart: number
  readonly #voices: Voices
  /** For each entity its participant on the question that is being swept, or −1. */
  readonly #slotOf: Int32Array
  /** For each voice the slot of the last agent of its owner that came to this question, or −1. */
  readonly #siblingOf: Int32Array
  readonly #participants: Participant[] = []
  /** The field as each participant read it last. */
  #readings = new Float64Array(0)
  readonly #field = new Field()
  /** Of the question that was swept last, as is `crowd`. */
  readonly course = new Course()
  crowd!: CrowdPair

  constructor({ parameters }: Methodology, voices: Voices) {
    this.#negativeLogNano = negativeLogNano(parameters.log_probability_floor)
    this.#latestStart = parameters.latest_start
    this.#voices = voices
    this.#slotOf = new Int32Array(voices.length).fill(-1)
    this.#siblingOf = new Int32Array(voices.length).fill(-1)
  }

  /**
   * Writes one row to `pairs` for each entity that took part, in the order of their first forecasts. `number`
   * is the question's number.
   */
  run(
    number: number,
    question: Omit<ResolvedQuestion, 'isSettled'>,
    forecasts: ForecastColumns,
    pairs: RowSink<typeof PAIR_COLUMNS>,
  ): void {
    const { openedAtMs, closesAtMs, outcome } = question
    const closeMs = Math.min(closesAtMs, question.resolvedAtMs)
    const { count, entity: entities, atMs, ppm: ppms } = forecasts
    const field = this.#field
    field.reset()
    this.course.begin(openedAtMs, closeMs, outcome)

    let taking = 0
    let nowMs = openedAtMs
    for (let row = 0; row < count; row++) {
      const eventMs = Math.max(atMs[row]!, openedAtMs)
      if (eventMs >= closeMs) break
      if (eventMs > nowMs) {
        field.advance(eventMs - nowMs)
        this.course.advance(eventMs, field)
        nowMs = eventMs
      }
      const entity = entities[row]!
      const ppm = ppms[row]!
      let slot = this.#slotOf[entity]!
      if (slot < 0) {
        slot = taking++
        this.#enter(entity, slot)
      }
      const participant = this.#participants[slot]!
      this.#settle(participant, slot, nowMs)
      if (participant.isCurrent) {
        field.remove(participant.isVoice, participant.error, participant.nanoNats)
      }
      if (ppm === WITHDRAWN) participant.isCurrent = false
      else this.#forecast(participant, ppm, outcome, nowMs)
      if (participant.isCurrent) {
        field.add(participant.isVoice, participant.error, participant.nanoNats)
        participant.imported += forecasts.imported[row]!
      }
      participant.witnessed &= forecasts.witnessed[row]!
      if (participant.isVoice) this.#leaveOut(participant, nowMs)
    }
    if (closeMs > nowMs) field.advance(closeMs - nowMs)
    this.course.end(field)
    for (let slot = 0; slot < taking; slot++) this.#settle(this.#participants[slot]!, slot, closeMs)
    let voices = 0
    let firstMs = Infinity
    for (let slot = 0; slot < taking; slot++) {
      const participant = this.#participants[slot]!
      if (participant.isVoice && participant.heldMs > 0) {
        voices += 1
        firstMs = Math.min(firstMs, participant.startMs)
      }
      const ownSlot = this.#slotOf[this.#voices[participant.entity]!] ?? -1
      participant.ownVoiceMs = ownSlot < 0 ? 0 : this.#participants[ownSlot]!.heldMs
    }
    // First, because the sink may throw: the next question must begin without current forecasts.
    for (let slot = 0; slot < taking; slot++) {
      const { entity } = this.#participants[slot]!
      this.#slotOf[entity] = -1
      // A voice whose owner's other agents alone came is not among them.
      const ownVoice = this.#voices[entity]!
      if (ownVoice >= 0) this.#siblingOf[ownVoice] = -1
    }
    const horizonMs = closesAtMs - openedAtMs
    const latestMs = closesAtMs - horizonMs * this.#latestStart
    this.crowd = crowdPairOf(field, { voices, isInTime: firstMs <= latestMs, horizonMs })
    for (let slot = 0; slot < taking; slot++) {
      const participant = this.#participants[slot]!
      if (participant.heldMs === 0) continue
      const { columns, row } = pairs
      const ownMs = participant.ownVoiceMs
      columns.question[row] = number
      columns.voices[row] = voices - (ownMs > 0 ? 1 : 0)
      columns.own_weight[row] = ownMs > 0 ? weightOf(roundHalfEven((ownMs / horizonMs) * PICO)) : 0
      columns.in_time[row] = participant.startMs <= latestMs ? 1 : 0
      writeScores(columns, row, participant, horizonMs)
      pairs.next()
    }
  }

  /** A participant at a new slot, which begins without a forecast. */
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

  /** Makes a forecast the current one. */
  #forecast(participant: Participant, ppm: number, outcome: 0 | 1, nowMs: number): void {
    if (participant.forecasts === 0) participant.highest = participant.lowest = ppm
    else {
      const moved = ppm - participant.ppm
      participant.moved += Math.abs(moved)
      participant.toward += Math.max(0, outcome === 1 ? moved : -moved)
      participant.highest = Math.max(participant.highest, ppm)
      participant.lowest = Math.min(participant.lowest, ppm)
    }
    const error = outcome === 1 ? PPM - ppm : ppm
    participant.isCurrent = true
    participant.sinceMs = nowMs
    participant.ppm = ppm
    participant.error = error
    participant.nanoNats = this.#negativeLogNano[PPM - error]!
    participant.forecasts += 1
    if (participant.isVoice) participant.leftOut = error
  }

  /** After a change of a voice: leaves its error out for the other agents of its owner. */
  #leaveOut(voice: Participant, nowMs: number): void {
    const { entity, isCurrent, error } = voice
    for (let slot = this.#siblingOf[entity]!; slot >= 0;) {
      const sibling = this.#participants[slot]!
      this.#settle(sibling, slot, nowMs)
      sibling.leftOut = isCurrent ? error : -1
      slot = sibling.nextSibling
    }
  }

  /** Adds to a participant's integrals for the time since they were added to last, if its forecast stood. */
  #settle(participant: Participant, slot: number, nowMs: number): void {
    const field = this.#field
    const readings = this.#readings
    const at = slot * READING_LENGTH
    const spanMs = participant.isCurrent ? nowMs - participant.sinceMs : 0
    if (spanMs > 0) {
      const { error, nanoNats, leftOut } = participant
      const squared = error * error
      if (participant.startMs < 0) participant.startMs = participant.sinceMs
      participant.heldMs += spanMs
      participant.brier += squared * spanMs
      participant.brierOther += (PPM - error) * (PPM - error) * spanMs
      participant.log += nanoNats * spanMs
      participant.conviction += Math.abs(2 * participant.ppm - PPM) * spanMs
      if (leftOut >= 0) {
        const aloneMs = field.since('alone', readings, at)
        const share = field.since('share', readings, at)
        const leftSquared = leftOut * leftOut
        participant.reference +=
          field.since('squares', readings, at) - leftSquared * share + squared * aloneMs
        participant.crowd +=
          field.since('squaredSum', readings, at) -
          2 * leftOut * field.since('sum', readings, at) +
          leftSquared * field.since('squaredShare', readings, at) +
          squared * aloneMs
        participant.mean += field.since('errors', readings, at) - leftOut * share + error * aloneMs
      } else {
        const aloneMs = field.since('allAlone', readings, at)
        participant.reference += field.since('allSquares', readings, at) + squared * aloneMs
        participant.crowd += field.since('allSquaredSum', readings, at) + squared * aloneMs
        participant.mean += field.since('allErrors', readings, at) + error * aloneMs
      }
      participant.peer +=
        field.since('peerAll', readings, at) - nanoNats * field.since('peerOwn', readings, at)
    }
    participant.sinceMs = nowMs
    field.read(readings, at)
  }
}
