// Scores everyone on one question: a single pass over its forecasts in the order of time.
import { PPM, negativeLogNano } from './logarithm.ts'
import type { Methodology } from './methodology.ts'
import { roundHalfEven } from './round.ts'

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
  imported: Uint8Array
}

/**
 * One entity on one question. Scores are integers of 1e-12, so that adding them up is exact in any order.
 * Formulas, ranges and orientation: METHODOLOGY §2, docs/methodology.md.
 */
export interface Pair {
  entity: number
  /** Forecasts before the effective close, and how many of them were imported. */
  forecasts: number
  imported: number
  /** The forecast that stands at the effective close, in parts per million. */
  closingPpm: number
  coverage: number
  brier: number
  referenceBrier: number
  logScore: number
  baselineScore: number
  peerScore: number
  /** Time-weighted |2p − 1|. */
  conviction: number
  /** coverage · brier, coverage · reference_brier and coverage · log_score. */
  weightedBrier: number
  weightedReference: number
  weightedLog: number
  /** Forecasts after the first, the mass they moved and the part of it toward the outcome (both in ppm). */
  updates: number
  movedPpm: number
  towardPpm: number
  /** (Σ|Δp| − (max − min)) / (N − 2) for N ≥ 3 forecasts, else -1. Griffiths et al. 2019, doi:10.1002/met.1732. */
  flipFlop: number
}

const PICO = 1e12
/** 100/ln 2 · 1e-9 · 1e12 and 100 · 1e-9 · 1e12: from 1e-9 nats to 1e-12 of a baseline or peer score. */
const BASELINE_PICO_PER_NANO = 1e5 / Math.LN2
const PEER_PICO_PER_NANO = 1e5

/** The per-entity state of a sweep: one column of doubles for each of these. */
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
 * A running integral that keeps what addition rounds off (Neumaier 1974), so that the difference of two
 * readings is exact to the last bit or two even when it is tiny beside the readings.
 */
class Integral {
  high = 0
  low = 0

  reset(): void {
    this.high = 0
    this.low = 0
  }

  add(x: number): void {
    const sum = this.high + x
    const part = sum - this.high
    this.low += this.high - (sum - part) + (x - part)
    this.high = sum
  }

  since(high: number, low: number): number {
    return this.high - high + (this.low - low)
  }
}

/**
 * Scores questions one after another, reusing its buffers.
 *
 * What others stand for enters an entity's integrals only through four integrals over the whole field, read
 * where the entity's own forecast changes. So a question costs one step per forecast, however many take part.
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
  readonly #pair: Pair = {
    entity: 0,
    forecasts: 0,
    imported: 0,
    closingPpm: 0,
    coverage: 0,
    brier: 0,
    referenceBrier: 0,
    logScore: 0,
    baselineScore: 0,
    peerScore: 0,
    conviction: 0,
    weightedBrier: 0,
    weightedReference: 0,
    weightedLog: 0,
    updates: 0,
    movedPpm: 0,
    towardPpm: 0,
    flipFlop: -1,
  }

  constructor({ parameters }: Methodology, entityCount: number) {
    this.#negativeLogNano = negativeLogNano(parameters.log_probability_floor)
    this.#houseBrierPico = parameters.house_brier * PICO
    this.#slotOf = new Int32Array(entityCount).fill(-1)
  }

  /**
   * Hands `emit` one pair for each entity that took part, in the order of their first forecasts. The pair is
   * the same object every time and holds only until `emit` returns.
   */
  run(question: ResolvedQuestion, forecasts: ForecastColumns, emit: (pair: Pair) => void): void {
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
    let squaredErrors = 0 // Σ (p − o)² of the standing forecasts, in 1e-12: exact up to 9,007 of them
    let nanoNats = 0 // Σ −ln q̃ of the standing forecasts, in 1e-9: an exact integer
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
    // Before anyone is handed a pair, who might throw: the next question must find no one standing.
    for (let slot = 0; slot < standing; slot++) slotOf[state.entity[slot]!] = -1
    for (let slot = 0; slot < standing; slot++) {
      this.#settle(slot, closeMs)
      this.#fill(slot, closeMs, horizonMs)
      emit(this.#pair)
    }
  }

  /** Lets time pass while the standing forecasts stay as they are. */
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

  /** Notes where the field's integrals stand as an entity's forecast begins to count. */
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

  /** Adds what an entity's forecast has earned since it began to count. */
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

  #fill(slot: number, closeMs: number, horizonMs: number): void {
    const state = this.#state
    const pair = this.#pair
    const heldMs = closeMs - state.startMs[slot]!
    const forecasts = state.forecasts[slot]!
    const coverage = heldMs / horizonMs
    pair.entity = state.entity[slot]!
    pair.forecasts = forecasts
    pair.imported = state.imported[slot]!
    pair.closingPpm = state.ppm[slot]!
    pair.coverage = roundHalfEven(coverage * PICO)
    pair.brier = roundHalfEven(state.brierIntegral[slot]! / heldMs)
    pair.referenceBrier = roundHalfEven(state.referenceIntegral[slot]! / heldMs)
    pair.logScore = roundHalfEven((state.logIntegral[slot]! / heldMs) * 1e3)
    pair.baselineScore = roundHalfEven(
      (100 * PICO * heldMs - BASELINE_PICO_PER_NANO * state.logIntegral[slot]!) / horizonMs,
    )
    pair.peerScore = roundHalfEven((PEER_PICO_PER_NANO * state.peerIntegral[slot]!) / horizonMs)
    pair.conviction = roundHalfEven((state.convictionIntegral[slot]! / heldMs) * 1e6)
    const weight = pair.coverage / PICO
    pair.weightedBrier = roundHalfEven(weight * pair.brier)
    pair.weightedReference = roundHalfEven(weight * pair.referenceBrier)
    pair.weightedLog = roundHalfEven(weight * pair.logScore)
    pair.updates = forecasts - 1
    pair.movedPpm = state.moved[slot]!
    pair.towardPpm = state.toward[slot]!
    const wander = state.moved[slot]! - (state.highest[slot]! - state.lowest[slot]!)
    pair.flipFlop = forecasts < 3 ? -1 : roundHalfEven((wander / (forecasts - 2)) * 1e6)
  }
}

function newState(capacity: number): State {
  return Object.fromEntries(STATE.map((name) => [name, new Float64Array(capacity)])) as State
}
