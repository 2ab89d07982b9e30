// Scores all entities on one question in a single pass over its forecasts in order of time (METHODOLOGY §2).
import type { RowSink } from '../../schemas/columns.ts'
import { Field, READING_LENGTH } from './field.ts'
import { PPM, negativeLogNano } from './logarithm.ts'
import type { Methodology } from './methodology.ts'
import type { PAIR_COLUMNS } from './pairs.ts'
import { PICO, roundHalfEven } from './round.ts'

/** A resolved question. All times are integer milliseconds UTC. */
export interface ResolvedQuestion {
  openedAtMs: number
  closesAtMs: number
  resolvedAtMs: number
  /** 1 = yes, 0 = no. */
  outcome: 0 | 1
}

/** The forecasts of one question as columns, in the order (atMs, forecast_id); rows 0..count-1 are filled. */
export interface ForecastColumns {
  count: number
  /** Index of the entity, 0 ≤ entity < the number of entities. */
  entity: Int32Array
  atMs: Float64Array
  /** Probability of yes in parts per million. */
  ppm: Int32Array
  /** 1 where the operator imported the forecast. */
  imported: Int32Array
}

/** Convert 1e-9 nats to 1e-12 of a baseline or peer score: 100/ln 2 · 1e-9 · 1e12 and 100 · 1e-9 · 1e12. */
const BASELINE_PICO_PER_NANO = 1e5 / Math.LN2
const PEER_PICO_PER_NANO = 1e5

/** One entity on the question: its current forecast, and its integrals over the time that it has held. */
class Participant {
  entity = 0
  isVoice = false
  startMs = 0
  sinceMs = 0
  ppm = 0
  /** |p − o| of the current forecast in parts per million, and its −ln q̃ in 1e-9. */
  error = 0
  nanoNats = 0
  // Integrals over milliseconds: squared errors in 1e-12, nats in 1e-9, |2p − 1| in parts per million.
  brier = 0
  reference = 0
  crowd = 0
  log = 0
  peer = 0
  conviction = 0
  forecasts = 0
  imported = 0
  moved = 0
  toward = 0
  highest = 0
  lowest = 0

  enter(entity: number, isVoice: boolean, nowMs: number, ppm: number): void {
    this.entity = entity
    this.isVoice = isVoice
    this.startMs = this.sinceMs = nowMs
    this.highest = this.lowest = ppm
    this.brier = this.reference = this.crowd = this.log = this.peer = this.conviction = 0
    this.forecasts = this.imported = this.moved = this.toward = 0
  }
}

/**
 * Scores questions one after another, reusing its buffers.
 *
 * The other entities' forecasts enter an entity's integrals only through the integrals of the field, which
 * are read when the entity's own forecast changes. So a question costs one step per forecast, however many
 * entities take part.
 */
export class QuestionSweep {
  readonly #negativeLogNano: Float64Array
  readonly #isVoice: Uint8Array
  /** For each entity its participant on the question that is being swept, or −1. */
  readonly #slotOf: Int32Array
  readonly #participants: Participant[] = []
  /** The field as each participant read it last. */
  #readings = new Float64Array(0)
  readonly #field = new Field()

  /** `voices` has for each entity 1 if it is a voice, else 0. */
  constructor({ parameters }: Methodology, voices: Uint8Array) {
    this.#negativeLogNano = negativeLogNano(parameters.log_probability_floor)
    this.#isVoice = voices
    this.#slotOf = new Int32Array(voices.length).fill(-1)
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
  ): void {
    const { openedAtMs, outcome } = question
    const closeMs = Math.min(question.closesAtMs, question.resolvedAtMs)
    const { count, entity: entities, atMs, ppm: ppms, imported } = forecasts
    const field = this.#field
    field.reset()

    let taking = 0
    let voices = 0
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
      const participant = this.#participantAt(slot < 0 ? taking : slot)
      if (slot < 0) {
        slot = this.#slotOf[entity] = taking++
        participant.enter(entity, this.#isVoice[entity] === 1, nowMs, ppm)
        if (participant.isVoice) voices += 1
        field.read(this.#readings, slot * READING_LENGTH)
      } else {
        this.#settle(participant, slot, nowMs)
        field.remove(participant.isVoice, participant.error, participant.nanoNats)
        const moved = ppm - participant.ppm
        participant.moved += Math.abs(moved)
        participant.toward += Math.max(0, outcome === 1 ? moved : -moved)
        participant.highest = Math.max(participant.highest, ppm)
        participant.lowest = Math.min(participant.lowest, ppm)
      }
      const error = outcome === 1 ? PPM - ppm : ppm
      participant.ppm = ppm
      participant.error = error
      participant.nanoNats = this.#negativeLogNano[PPM - error]!
      participant.forecasts += 1
      participant.imported += imported[row]!
      field.add(participant.isVoice, error, participant.nanoNats)
    }
    if (closeMs > nowMs) field.advance(closeMs - nowMs)
    // First, because the sink may throw: the next question must begin without current forecasts.
    for (let slot = 0; slot < taking; slot++) this.#slotOf[this.#participants[slot]!.entity] = -1
    for (let slot = 0; slot < taking; slot++) {
      const participant = this.#participants[slot]!
      this.#settle(participant, slot, closeMs)
      const { columns, row } = pairs
      columns.question[row] = number
      columns.voices[row] = voices - (participant.isVoice ? 1 : 0)
      writeScores(columns, row, participant, closeMs, question.closesAtMs - openedAtMs)
      pairs.next()
    }
  }

  #participantAt(slot: number): Participant {
    if (slot === this.#participants.length) {
      this.#participants.push(new Participant())
      if (this.#readings.length < (slot + 1) * READING_LENGTH) {
        const readings = new Float64Array(2 * (slot + 1) * READING_LENGTH)
        readings.set(this.#readings)
        this.#readings = readings
      }
    }
    return this.#participants[slot]!
  }

  /** Adds to a participant's integrals for the time since its forecast began to count. */
  #settle(participant: Participant, slot: number, nowMs: number): void {
    const spanMs = nowMs - participant.sinceMs
    if (spanMs === 0) return
    const field = this.#field
    const readings = this.#readings
    const at = slot * READING_LENGTH
    const { error, nanoNats, isVoice } = participant
    const squared = error * error
    participant.brier += squared * spanMs
    participant.log += nanoNats * spanMs
    participant.conviction += Math.abs(2 * participant.ppm - PPM) * spanMs
    if (isVoice) {
      const alone = squared * field.since('alone', readings, at)
      participant.reference +=
        field.since('squares', readings, at) - squared * field.since('share', readings, at) + alone
      participant.crowd +=
        field.since('squaredSum', readings, at) -
        2 * error * field.since('sum', readings, at) +
        squared * field.since('squaredShare', readings, at) +
        alone
    } else {
      const alone = squared * field.since('outsideAlone', readings, at)
      participant.reference += field.since('outsideSquares', readings, at) + alone
      participant.crowd += field.since('outsideSquaredSum', readings, at) + alone
    }
    participant.peer += field.since('peerAll', readings, at) - nanoNats * field.since('peerOwn', readings, at)
    participant.sinceMs = nowMs
    field.read(readings, at)
  }
}

function writeScores(
  columns: RowSink<typeof PAIR_COLUMNS>['columns'],
  row: number,
  participant: Participant,
  closeMs: number,
  horizonMs: number,
): void {
  const { brier, reference, crowd, log, forecasts } = participant
  const heldMs = closeMs - participant.startMs
  columns.entity[row] = participant.entity
  columns.coverage[row] = roundHalfEven((heldMs / horizonMs) * PICO)
  columns.brier[row] = roundHalfEven(brier / heldMs)
  columns.reference_brier[row] = roundHalfEven(reference / heldMs)
  columns.crowd_brier[row] = roundHalfEven(crowd / heldMs)
  columns.brier_part[row] = roundHalfEven(brier / horizonMs)
  columns.reference_part[row] = roundHalfEven(reference / horizonMs)
  columns.crowd_part[row] = roundHalfEven(crowd / horizonMs)
  columns.log_score[row] = roundHalfEven((log / heldMs) * 1e3)
  columns.baseline_score[row] = roundHalfEven(
    (100 * PICO * heldMs - BASELINE_PICO_PER_NANO * log) / horizonMs,
  )
  columns.peer_score[row] = roundHalfEven((PEER_PICO_PER_NANO * participant.peer) / horizonMs)
  columns.forecasts[row] = forecasts
  columns.closing_probability[row] = participant.ppm
  columns.imported[row] = participant.imported
  columns.conviction[row] = roundHalfEven((participant.conviction / heldMs) * 1e6)
  columns.moved[row] = participant.moved
  columns.toward[row] = participant.toward
  // (Σ|Δp| − (max − min)) / (k − 2), or −1 if k < 3. Source: Griffiths et al. 2019, doi:10.1002/met.1732.
  const wander = participant.moved - (participant.highest - participant.lowest)
  columns.flip_flop[row] = forecasts < 3 ? -1 : roundHalfEven((wander / (forecasts - 2)) * 1e6)
}
