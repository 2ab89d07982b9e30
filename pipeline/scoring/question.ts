// Scores all entities on one question in a single pass over its forecasts in order of time (METHODOLOGY §2).
import type { RowSink } from '../../schemas/columns.ts'
import { Field, READING_LENGTH } from './field.ts'
import { PPM, negativeLogNano } from './logarithm.ts'
import type { Methodology } from './methodology.ts'
import type { PAIR_COLUMNS } from './pairs.ts'
import { PICO, roundHalfEven } from './round.ts'
import { weightOf } from './strength.ts'
import type { Voices } from './voices.ts'

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

/** Convert 1e-9 nats to 1e-12 of a baseline or peer score: 100/ln 2 · 1e-9 · 1e12 and 100 · 1e-9 · 1e12. */
const BASELINE_PICO_PER_NANO = 1e5 / Math.LN2
const PEER_PICO_PER_NANO = 1e5

/** The closing probability of an entity that has withdrawn its forecast. */
const NONE = -1

/** One entity on the question: its current forecast, and its integrals over the time that it has held. */
class Participant {
  entity = 0
  isVoice = false
  /** Whether a forecast of its stands. */
  isCurrent = false
  /** The beginning of its first stretch; −1 before it. */
  startMs = -1
  heldMs = 0
  sinceMs = 0
  /** The last forecast, also where it is withdrawn. */
  ppm = 0
  /** |p − o| of the current forecast in parts per million, and its −ln q̃ in 1e-9. */
  error = 0
  nanoNats = 0
  /** The error of the voice that is left out for it, its own or its owner's; −1 where none is. */
  leftOut = -1
  /** The next agent of the same owner on this question, by its slot; −1 for none. */
  nextSibling = -1
  /** Itself if it is a voice, else the voice of its owner if that came to this question. */
  measure: Participant | undefined
  // Integrals over milliseconds: squared errors in 1e-12, nats in 1e-9, |2p − 1| and errors in parts per
  // million.
  brier = 0
  brierOther = 0
  reference = 0
  crowd = 0
  /** Of the mean error of the other voices. */
  mean = 0
  log = 0
  peer = 0
  conviction = 0
  forecasts = 0
  imported = 0
  /** 1 as long as all its forecasts are. */
  witnessed = 1
  moved = 0
  toward = 0
  highest = 0
  lowest = 0

  enter(entity: number, isVoice: boolean): void {
    this.entity = entity
    this.isVoice = isVoice
    this.isCurrent = false
    this.startMs = this.leftOut = this.nextSibling = -1
    this.brier = this.brierOther = this.reference = this.crowd = this.mean = 0
    this.log = this.peer = this.conviction = this.heldMs = 0
    this.forecasts = this.imported = this.moved = this.toward = 0
    this.witnessed = 1
  }
}

/**
 * Scores questions one after another, reusing its buffers.
 *
 * The other entities' forecasts enter an entity's integrals only through the integrals of the field, which
 * are read when the entity's own forecast changes, or that of its owner's voice. So a question costs one step
 * per forecast, and one more for each forecast of a voice and each further agent of its owner.
 */
export class QuestionSweep {
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

  constructor({ parameters }: Methodology, voices: Voices) {
    this.#negativeLogNano = negativeLogNano(parameters.log_probability_floor)
    this.#latestStart = parameters.latest_start
    this.#voices = voices
    this.#slotOf = new Int32Array(voices.isVoice.length).fill(-1)
    this.#siblingOf = new Int32Array(voices.isVoice.length).fill(-1)
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

    let taking = 0
    let nowMs = openedAtMs
    for (let row = 0; row < count; row++) {
      const eventMs = Math.max(atMs[row]!, openedAtMs)
      if (eventMs >= closeMs) break
      if (eventMs > nowMs) {
        field.advance(eventMs - nowMs)
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
      if (ppm === NONE) participant.isCurrent = false
      else this.#forecast(participant, ppm, outcome, nowMs)
      if (participant.isCurrent) {
        field.add(participant.isVoice, participant.error, participant.nanoNats)
        participant.imported += forecasts.imported[row]!
      }
      participant.witnessed &= forecasts.witnessed[row]!
      if (participant.isVoice) this.#leaveOut(participant, nowMs)
    }
    if (closeMs > nowMs) field.advance(closeMs - nowMs)
    for (let slot = 0; slot < taking; slot++) this.#settle(this.#participants[slot]!, slot, closeMs)
    let voices = 0
    for (let slot = 0; slot < taking; slot++) {
      const participant = this.#participants[slot]!
      const { entity, isVoice, heldMs } = participant
      if (isVoice && heldMs > 0) voices += 1
      const ownVoice = this.#voices.ownVoice[entity]!
      participant.measure = isVoice ? participant : this.#participants[this.#slotOf[ownVoice] ?? -1]
    }
    // First, because the sink may throw: the next question must begin without current forecasts.
    for (let slot = 0; slot < taking; slot++) {
      const { entity } = this.#participants[slot]!
      this.#slotOf[entity] = -1
      // A voice whose owner's other agents alone came is not among them.
      const ownVoice = this.#voices.ownVoice[entity]!
      if (ownVoice >= 0) this.#siblingOf[ownVoice] = -1
    }
    const horizonMs = closesAtMs - openedAtMs
    const latestMs = closesAtMs - horizonMs * this.#latestStart
    for (let slot = 0; slot < taking; slot++) {
      const participant = this.#participants[slot]!
      if (participant.heldMs === 0) continue
      const { columns, row } = pairs
      const ownMs = participant.measure?.heldMs ?? 0
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
    participant.enter(entity, this.#voices.isVoice[entity] === 1)
    const ownVoice = this.#voices.ownVoice[entity]!
    if (ownVoice < 0) return
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

function writeScores(
  columns: RowSink<typeof PAIR_COLUMNS>['columns'],
  row: number,
  participant: Participant,
  horizonMs: number,
): void {
  const { heldMs, brier, reference, crowd, log, forecasts } = participant
  // (1 − x)² is 1 − 2x + x², so that the other outcome needs the mean error alone besides.
  const other = PICO * heldMs - 2 * PPM * participant.mean
  columns.entity[row] = participant.entity
  columns.coverage[row] = roundHalfEven((heldMs / horizonMs) * PICO)
  columns.brier[row] = roundHalfEven(brier / heldMs)
  columns.reference_brier[row] = roundHalfEven(reference / heldMs)
  columns.crowd_brier[row] = roundHalfEven(crowd / heldMs)
  columns.brier_part[row] = roundHalfEven(brier / horizonMs)
  columns.reference_part[row] = roundHalfEven(reference / horizonMs)
  columns.crowd_part[row] = roundHalfEven(crowd / horizonMs)
  columns.brier_other[row] = roundHalfEven(participant.brierOther / horizonMs)
  columns.reference_other[row] = roundHalfEven((other + reference) / horizonMs)
  columns.crowd_other[row] = roundHalfEven((other + crowd) / horizonMs)
  columns.log_score[row] = roundHalfEven((log / heldMs) * 1e3)
  columns.baseline_score[row] = roundHalfEven(
    (100 * PICO * heldMs - BASELINE_PICO_PER_NANO * log) / horizonMs,
  )
  columns.peer_score[row] = roundHalfEven((PEER_PICO_PER_NANO * participant.peer) / horizonMs)
  columns.forecasts[row] = forecasts
  columns.closing_probability[row] = participant.isCurrent ? participant.ppm : NONE
  columns.imported[row] = participant.imported
  columns.witnessed[row] = participant.witnessed
  columns.conviction[row] = roundHalfEven((participant.conviction / heldMs) * 1e6)
  columns.moved[row] = participant.moved
  columns.toward[row] = participant.toward
  // (Σ|Δp| − (max − min)) / (k − 2), or −1 if k < 3. Source: Griffiths et al. 2019, doi:10.1002/met.1732.
  const wander = participant.moved - (participant.highest - participant.lowest)
  columns.flip_flop[row] = forecasts < 3 ? -1 : roundHalfEven((wander / (forecasts - 2)) * 1e6)
}
