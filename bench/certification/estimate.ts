// Shares and means over simulated worlds, with 95 % intervals.
import { wilsonInterval } from '../../pipeline/scoring/calibration.ts'

const Z_95 = 1.96

export interface Estimate {
  value: number
  lower: number
  upper: number
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * The mean of a share that was measured once in each world, with a Wilson interval. Where a world has several
 * judged, they are not independent, so n is the effective number that follows from the spread between worlds
 * (Kish 1965).
 */
export function shareOf(values: readonly number[]): Estimate {
  const value = meanOf(values)
  const variance = meanOf(values.map((share) => share * share)) - value * value
  const n = variance > 0 ? (value * (1 - value) * values.length) / variance : values.length
  return { value, ...wilsonInterval(value, n) }
}

/** A mean with its normal interval. */
export function meanWithInterval(values: readonly number[]): Estimate {
  const value = meanOf(values)
  const variance = values.reduce((sum, one) => sum + (one - value) ** 2, 0) / (values.length - 1)
  const margin = Z_95 * Math.sqrt(variance / values.length)
  return { value, lower: value - margin, upper: value + margin }
}

/**
 * The least number that this share of the values does not exceed, with an interval between order statistics.
 */
export function quantileOf(values: readonly number[], share: number): Estimate {
  const ascending = values.toSorted((a, b) => a - b)
  const n = ascending.length
  const spread = Z_95 * Math.sqrt(n * share * (1 - share))
  const at = (place: number) => ascending[Math.min(n - 1, Math.max(0, Math.ceil(place) - 1))]!
  return { value: at(n * share), lower: at(n * share - spread), upper: at(n * share + spread) }
}
