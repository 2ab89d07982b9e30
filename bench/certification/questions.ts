// Simulated questions of known probability, and what their readers say.
import { type Random, logistic, normal } from '../../jobs/simulation/random.ts'
import { PPM } from '../../pipeline/scoring/logarithm.ts'
import type { ForecastColumns } from '../../pipeline/scoring/question.ts'

export const HORIZON_MS = 30 * 86_400_000
/** Standard deviations in log-odds: of the truth over questions, and of the error of a reading. */
const TRUTH_SPREAD = 1.5
export const NOISE = 0.8

export interface SimulatedForecast {
  entity: number
  atMs: number
  ppm: number
}

export interface SimulatedQuestion {
  forecasts: SimulatedForecast[]
  outcome: 0 | 1
  cluster: number
}

/** An entity that estimates the log-odds of questions, and the standard deviation of its error. */
export interface Reader {
  entity: number
  noise: number
}

export function drawTruth(random: Random): number {
  return TRUTH_SPREAD * normal(random)
}

export function drawOutcome(random: Random, truth: number): 0 | 1 {
  return random() < logistic(truth) ? 1 : 0
}

/** What a reader says, once, at a random instant of the question's first half. `error` is standard normal. */
export function reading(
  random: Random,
  { entity, noise }: Reader,
  truth: number,
  error = normal(random),
): SimulatedForecast {
  const ppm = Math.round(PPM * logistic(truth + noise * error))
  return { entity, atMs: Math.floor((random() * HORIZON_MS) / 2), ppm }
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
    imported: new Int32Array(forecasts.length),
  }
}
