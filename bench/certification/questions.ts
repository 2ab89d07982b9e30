// Simulated questions of known probability, and what their readers say.
import { type Random, logistic, normal } from '../../jobs/sandbox/random.ts'
import { PPM } from '../../pipeline/scoring/logarithm.ts'
import type { ForecastColumns } from '../../pipeline/scoring/question.ts'

export const HORIZON_MS = 30 * 86_400_000
/** Standard deviations in log-odds: of the truth over questions, and of the error of a reading. */
export const TRUTH_SPREAD = 1.5
export const NOISE = 0.8

export interface SimulatedForecast {
  entity: number
  atMs: number
  /** −1 for a withdrawal. */
  ppm: number
}

export interface SimulatedQuestion {
  forecasts: SimulatedForecast[]
  outcome: 0 | 1
  cluster: number
  /** The week in which it closes, where that is not the next one after fourteen questions. */
  week?: number
  /** Where it is resolved before it closes. */
  resolvedAtMs?: number
  /** False as long as its close is still to come. */
  isSettled?: boolean
}

/** An entity that estimates the log-odds of questions, and the standard deviation of its error. */
export interface Reader {
  entity: number
  noise: number
}

export function readers(count: number, from = 0, noise = NOISE): Reader[] {
  return Array.from({ length: count }, (_, i) => ({ entity: from + i, noise }))
}

export function drawTruth(random: Random, spread = TRUTH_SPREAD): number {
  return spread * normal(random)
}

export function drawOutcome(random: Random, truth: number): 0 | 1 {
  return random() < logistic(truth) ? 1 : 0
}

/** A forecast at this share of the question's life. */
export function saying(entity: number, share: number, probability: number): SimulatedForecast {
  return { entity, atMs: Math.floor(share * HORIZON_MS), ppm: Math.round(PPM * probability) }
}

export function withdrawing(entity: number, share: number): SimulatedForecast {
  return { entity, atMs: Math.floor(share * HORIZON_MS), ppm: -1 }
}

/** A reader's one forecast, at a random instant of the question's first half. `error` is standard normal. */
export function reading(
  random: Random,
  { entity, noise }: Reader,
  truth: number,
  error = normal(random),
): SimulatedForecast {
  return saying(entity, random() / 2, logistic(truth + noise * error))
}

/** All of them read the question. */
export function readBy(
  random: Random,
  all: readonly Reader[],
  cluster: number,
  truth = drawTruth(random),
): SimulatedQuestion {
  return {
    forecasts: all.map((reader) => reading(random, reader, truth)),
    outcome: drawOutcome(random, truth),
    cluster,
  }
}

/** The forecast of an entity that copies the mean of all others, once all have forecast. */
export function copyOf(entity: number, forecasts: readonly SimulatedForecast[]): SimulatedForecast {
  const total = forecasts.reduce((sum, { ppm }) => sum + ppm, 0)
  return { entity, atMs: HORIZON_MS / 2, ppm: Math.round(total / forecasts.length) }
}

export function columnsOf(forecasts: SimulatedForecast[]): ForecastColumns {
  forecasts.sort((a, b) => a.atMs - b.atMs)
  return {
    count: forecasts.length,
    entity: Int32Array.from(forecasts, ({ entity }) => entity),
    atMs: Float64Array.from(forecasts, ({ atMs }) => atMs),
    ppm: Int32Array.from(forecasts, ({ ppm }) => ppm),
    witnessed: new Int32Array(forecasts.length).fill(1),
  }
}
