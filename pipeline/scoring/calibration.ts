// The calibration of closing forecasts: CORP decomposition, calibration curve and calibration error
// (METHODOLOGY §4).
import type { EntityMetrics } from '../../schemas/metrics.ts'
import { PPM } from './logarithm.ts'
import { ratio } from './round.ts'

export type Decomposition = NonNullable<EntityMetrics['calibration']>
export type RecalibrationBlock = NonNullable<EntityMetrics['corp']>[number]
export type CalibrationBin = EntityMetrics['calibration_curve'][number]

/** The normal quantile of 95 % intervals, two-sided. */
const Z_95 = 1.959963984540054

/** Closing forecasts in parts per million and, at the same index, their outcomes (1 = yes, 0 = no). */
export interface ClosingForecasts {
  ppm: ArrayLike<number>
  outcome: ArrayLike<number>
}

interface Block {
  sum: number
  weight: number
  /** The number of values that were pooled into the block. */
  length: number
}

/**
 * Isotonic least-squares regression by pooling adjacent violators: the non-decreasing sequence nearest to
 * sums[i]/weights[i] under the weights. Comparisons are cross-multiplied, so whole numbers are exact.
 * Source: Barlow et al. 1972; worked values in scores (Bureau of Meteorology).
 */
export function poolAdjacentViolators(sums: ArrayLike<number>, weights: ArrayLike<number>): Block[] {
  const blocks: Block[] = []
  for (let i = 0; i < sums.length; i++) {
    let block: Block = { sum: sums[i]!, weight: weights[i]!, length: 1 }
    for (
      let last = blocks.at(-1);
      last && last.sum * block.weight >= block.sum * last.weight;
      last = blocks.at(-1)
    ) {
      blocks.pop()
      block = {
        sum: last.sum + block.sum,
        weight: last.weight + block.weight,
        length: last.length + block.length,
      }
    }
    blocks.push(block)
  }
  return blocks
}

/**
 * CORP decomposition of the mean Brier score: brier = miscalibration − discrimination + uncertainty. `corp`
 * is the recalibration curve behind it: its blocks in order, with the frequency of yes in each, which rises
 * strictly. Both are null without forecasts. Source: Dimitriadis, Gneiting & Jordan 2021,
 * doi:10.1073/pnas.2016191118.
 */
export function decompose({ ppm, outcome }: ClosingForecasts): {
  calibration: Decomposition | null
  corp: RecalibrationBlock[] | null
} {
  const n = ppm.length
  if (n === 0) return { calibration: null, corp: null }
  // Put forecast and outcome into one number: numbers sort many times faster than pairs.
  const ordered = new Int32Array(n)
  for (let i = 0; i < n; i++) ordered[i] = 2 * ppm[i]! + outcome[i]!
  ordered.sort()
  // Group equal forecasts, and sum their outcomes and errors.
  const forecasts: number[] = []
  const sums: number[] = []
  const weights: number[] = []
  let last = -1
  let squaredErrors = 0
  let yes = 0
  for (const both of ordered) {
    const forecast = both >> 1
    const isYes = both & 1
    const error = forecast - PPM * isYes
    squaredErrors += error * error
    yes += isYes
    if (last >= 0 && forecast === forecasts[last]) {
      sums[last]! += isYes
      weights[last]! += 1
    } else {
      last = forecasts.push(forecast) - 1
      sums.push(isYes)
      weights.push(1)
    }
  }
  // Pool the groups until the frequency of yes rises, and sum the errors that remain.
  let recalibratedErrors = 0
  let first = 0
  const corp = poolAdjacentViolators(sums, weights).map(({ sum, weight: count, length }) => {
    recalibratedErrors += (sum * (count - sum)) / count
    const [lower, upper] = [forecasts[first]! / PPM, forecasts[first + length - 1]! / PPM]
    first += length
    return { lower, upper, frequency: sum / count, count }
  })
  // Split the mean score.
  const brier = squaredErrors / (PPM * PPM) / n
  const recalibrated = recalibratedErrors / n
  const uncertainty = (yes * (n - yes)) / n / n
  const [miscalibration, discrimination] = [brier - recalibrated, uncertainty - recalibrated]
  return { calibration: { brier, miscalibration, discrimination, uncertainty }, corp }
}

/**
 * The calibration curve in bins of equal width over [0, 1], with Wilson intervals of 95 %. Each bin includes
 * its lower bound, and the last one also its upper bound.
 */
export function calibrationCurve({ ppm, outcome }: ClosingForecasts, bins: number): CalibrationBin[] {
  const counts = new Array<number>(bins).fill(0)
  const ppmSums = new Array<number>(bins).fill(0)
  const yes = new Array<number>(bins).fill(0)
  for (let i = 0; i < ppm.length; i++) {
    const bin = Math.min(Math.floor((ppm[i]! * bins) / PPM), bins - 1)
    counts[bin]! += 1
    ppmSums[bin]! += ppm[i]!
    yes[bin]! += outcome[i]!
  }
  return counts.map((count, bin) => {
    const observed_frequency = ratio(yes[bin]!, count)
    const wilson = observed_frequency === null ? null : wilsonInterval(observed_frequency, count)
    const mean_probability = ratio(ppmSums[bin]! / PPM, count)
    const [lower, upper] = [bin / bins, (bin + 1) / bins]
    return {
      lower,
      upper,
      count,
      mean_probability,
      observed_frequency,
      wilson_lower: wilson?.lower ?? null,
      wilson_upper: wilson?.upper ?? null,
    }
  })
}

/**
 * Wilson's 95 % score interval of a proportion, within [0, 1]. Source: Wilson 1927,
 * doi:10.1080/01621459.1927.10502953.
 */
export function wilsonInterval(proportion: number, n: number): { lower: number; upper: number } {
  const z2 = Z_95 * Z_95
  const centre = proportion + z2 / (2 * n)
  const spread = Z_95 * Math.sqrt((proportion * (1 - proportion)) / n + z2 / (4 * n * n))
  const scale = 1 + z2 / n
  return { lower: Math.max(0, (centre - spread) / scale), upper: Math.min(1, (centre + spread) / scale) }
}

/** Σ (count/n)·|observed − mean probability| over the bins, 0..1, lower is better; null without forecasts. */
export function expectedCalibrationError(curve: readonly CalibrationBin[]): number | null {
  let total = 0
  let weighted = 0
  for (const { count, mean_probability, observed_frequency } of curve) {
    total += count
    if (mean_probability !== null && observed_frequency !== null) {
      weighted += count * Math.abs(observed_frequency - mean_probability)
    }
  }
  return ratio(weighted, total)
}
