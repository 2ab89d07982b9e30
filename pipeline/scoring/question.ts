// Scores all entities on one question in a single pass over its forecasts in order of time (METHODOLOGY §2).
import type { RowSink } from '../../schemas/columns.ts'
import { Integral } from './integral.ts'
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
  /** Index of the entity, 0 ≤ entity < the sweep's entityCount. */
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

/** The state of a sweep: for each entity, a double under each of these names. */
const STATE = [
  'startMs',
  'sinceMs',
  'ppm',
  'squaredError',
  'nanoNats',
  'atReference',
  'atReferenceLow',
  'atShare',
  'atShareLow',
  'atPeerOwn',
  'atPeerOwnLow',
  'atPeerAll',
  'atPeerAllLow',
  'brierIntegral',
  'logIntegral',
  'convictionIntegral',
  'referenceIntegral',
  'peerIntegral',
  'forecasts',
  'imported',
  'moved',
  'toward',
  'highest',
  'lowest',
  'entity',
] as const
type State = Record<(typeof STATE)[number], Float64Array>

/**
 * Scores questions one after another, reusing its buffers.
 *
 * The other entities' forecasts enter an entity's integrals only through four integrals over all standing forecasts,
 * which are read when the entity's own forecast changes. So a question costs one step per forecast, however many
 * entities take part.
 */
export class QuestionSweep {
  readonly #negativeLogNano: Float64Array
  readonly #houseBrierPico: number
  readonly #slotOf: Int32Array
  #capacity = 0
  #state: State = newState(0)
  readonly #reference = new Integral()
  readonly #share = new Integral()
  readonly #peerOwn = new Integral()
  readonly #peerAll = new Integral()

  constructor({ parameters }: Methodology, entityCount: number) {
    this.#negativeLogNano = negativeLogNano(parameters.log_probability_floor)
    this.#houseBrierPico = parameters.house_brier * PICO
    this.#slotOf = new Int32Array(entityCount).fill(-1)
  }

  /**
   * Writes one row to `pairs` for each entity that took part, in the order of their first forecasts. `number` is the
   * question's number.
   */
  run(
    number: number,
    question: ResolvedQuestion,
    forecasts: ForecastColumns,
    pairs: RowSink<typeof PAIR_COLUMNS>,
  ): void {
    const { openedAtMs, outcome } = question
    const closeMs = Math.min(question.closesAtMs, question.resolvedAtMs)
    const horizonMs = question.closesAtMs - openedAtMs
    const { count, entity: entities, atMs, ppm: ppms, imported } = forecasts
    if (count > this.#capacity) {
      this.#capacity = Math.max(count, 2 * this.#capacity)
      this.#state = newState(this.#capacity)
    }
    const state = this.#state
    const slotOf = this.#slotOf
    const logarithms = this.#negativeLogNano
    const integrals = [this.#reference, this.#share, this.#peerOwn, this.#peerAll]
    for (const integral of integrals) integral.reset()

    let standing = 0
    let squaredErrors = 0 // Σ (p − o)² over the standing forecasts, in 1e-12: exact for up to 9,007 of them
    let nanoNats = 0 // Σ −ln q̃ over the standing forecasts, in 1e-9: an exact integer
    let nowMs = openedAtMs
    for (let row = 0; row < count; row++) {
      const eventMs = Math.max(atMs[row]!, openedAtMs)
      if (eventMs >= closeMs) break
      if (eventMs > nowMs) {
        this.#advance(eventMs - nowMs, standing, squaredErrors, nanoNats)
        nowMs = eventMs
      }
      const entity = entities[row]!
      const ppm = ppms[row]!
      let slot = slotOf[entity]!
      if (slot < 0) {
        slot = slotOf[entity] = standing++
        this.#enter(slot, entity, nowMs, ppm)
      } else {
        this.#settle(slot, nowMs)
        squaredErrors -= state.squaredError[slot]!
        nanoNats -= state.nanoNats[slot]!
        const moved = ppm - state.ppm[slot]!
        state.moved[slot]! += Math.abs(moved)
        state.toward[slot]! += Math.max(0, outcome === 1 ? moved : -moved)
        state.highest[slot] = Math.max(state.highest[slot]!, ppm)
        state.lowest[slot] = Math.min(state.lowest[slot]!, ppm)
      }
      const error = outcome === 1 ? PPM - ppm : ppm
      state.ppm[slot] = ppm
      state.squaredError[slot] = error * error
      state.nanoNats[slot] = logarithms[PPM - error]!
      state.forecasts[slot]! += 1
      state.imported[slot]! += imported[row]!
      squaredErrors += state.squaredError[slot]!
      nanoNats += state.nanoNats[slot]!
    }
    if (closeMs > nowMs) this.#advance(closeMs - nowMs, standing, squaredErrors, nanoNats)
    // First, because the sink may throw: the next question must begin without standing forecasts.
    for (let slot = 0; slot < standing; slot++) slotOf[state.entity[slot]!] = -1
    for (let slot = 0; slot < standing; slot++) {
      this.#settle(slot, closeMs)
      this.#write(slot, closeMs, horizonMs, number, pairs)
    }
  }

  /** Integrates over a span of time in which the standing forecasts do not change. */
  #advance(spanMs: number, standing: number, squaredErrors: number, nanoNats: number): void {
    if (standing === 0) return
    this.#reference.add(((squaredErrors + this.#houseBrierPico) / standing) * spanMs)
    this.#share.add(spanMs / standing)
    if (standing === 1) return
    this.#peerOwn.add((standing / (standing - 1)) * spanMs)
    this.#peerAll.add((nanoNats / (standing - 1)) * spanMs)
  }

  #enter(slot: number, entity: number, nowMs: number, ppm: number): void {
    const state = this.#state
    state.entity[slot] = entity
    state.startMs[slot] = nowMs
    state.highest[slot] = ppm
    state.lowest[slot] = ppm
    state.brierIntegral[slot] = 0
    state.logIntegral[slot] = 0
    state.convictionIntegral[slot] = 0
    state.referenceIntegral[slot] = 0
    state.peerIntegral[slot] = 0
    state.forecasts[slot] = 0
    state.imported[slot] = 0
    state.moved[slot] = 0
    state.toward[slot] = 0
    this.#read(slot, nowMs)
  }

  /** Reads the integrals over all standing forecasts when an entity's forecast begins to count. */
  #read(slot: number, nowMs: number): void {
    const state = this.#state
    state.sinceMs[slot] = nowMs
    state.atReference[slot] = this.#reference.high
    state.atReferenceLow[slot] = this.#reference.low
    state.atShare[slot] = this.#share.high
    state.atShareLow[slot] = this.#share.low
    state.atPeerOwn[slot] = this.#peerOwn.high
    state.atPeerOwnLow[slot] = this.#peerOwn.low
    state.atPeerAll[slot] = this.#peerAll.high
    state.atPeerAllLow[slot] = this.#peerAll.low
  }

  /** Adds to an entity's integrals for the time since its forecast began to count. */
  #settle(slot: number, nowMs: number): void {
    const state = this.#state
    const spanMs = nowMs - state.sinceMs[slot]!
    if (spanMs === 0) return
    const squaredError = state.squaredError[slot]!
    const nanoNats = state.nanoNats[slot]!
    state.brierIntegral[slot]! += squaredError * spanMs
    state.logIntegral[slot]! += nanoNats * spanMs
    state.convictionIntegral[slot]! += Math.abs(2 * state.ppm[slot]! - PPM) * spanMs
    state.referenceIntegral[slot]! +=
      this.#reference.since(state.atReference[slot]!, state.atReferenceLow[slot]!) -
      squaredError * this.#share.since(state.atShare[slot]!, state.atShareLow[slot]!)
    state.peerIntegral[slot]! +=
      this.#peerAll.since(state.atPeerAll[slot]!, state.atPeerAllLow[slot]!) -
      nanoNats * this.#peerOwn.since(state.atPeerOwn[slot]!, state.atPeerOwnLow[slot]!)
    this.#read(slot, nowMs)
  }

  #write(
    slot: number,
    closeMs: number,
    horizonMs: number,
    number: number,
    pairs: RowSink<typeof PAIR_COLUMNS>,
  ): void {
    const state = this.#state
    const { columns, row } = pairs
    const heldMs = closeMs - state.startMs[slot]!
    const forecasts = state.forecasts[slot]!
    columns.question[row] = number
    columns.entity[row] = state.entity[slot]!
    columns.coverage[row] = roundHalfEven((heldMs / horizonMs) * PICO)
    columns.brier[row] = roundHalfEven(state.brierIntegral[slot]! / heldMs)
    columns.reference_brier[row] = roundHalfEven(state.referenceIntegral[slot]! / heldMs)
    columns.log_score[row] = roundHalfEven((state.logIntegral[slot]! / heldMs) * 1e3)
    columns.baseline_score[row] = roundHalfEven(
      (100 * PICO * heldMs - BASELINE_PICO_PER_NANO * state.logIntegral[slot]!) / horizonMs,
    )
    columns.peer_score[row] = roundHalfEven((PEER_PICO_PER_NANO * state.peerIntegral[slot]!) / horizonMs)
    columns.forecasts[row] = forecasts
    columns.closing_probability[row] = state.ppm[slot]!
    columns.imported[row] = state.imported[slot]!
    columns.conviction[row] = roundHalfEven((state.convictionIntegral[slot]! / heldMs) * 1e6)
    columns.moved[row] = state.moved[slot]!
    columns.toward[row] = state.toward[slot]!
    // (Σ|Δp| − (max − min)) / (k − 2), or −1 if k < 3. Source: Griffiths et al. 2019, doi:10.1002/met.1732.
    const wander = state.moved[slot]! - (state.highest[slot]! - state.lowest[slot]!)
    columns.flip_flop[row] = forecasts < 3 ? -1 : roundHalfEven((wander / (forecasts - 2)) * 1e6)
    pairs.next()
  }
}

function newState(capacity: number): State {
  return Object.fromEntries(STATE.map((name) => [name, new Float64Array(capacity)])) as State
}
