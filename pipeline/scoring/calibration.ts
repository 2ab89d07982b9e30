// The calibration of closing forecasts: CORP decomposition, calibration curve and calibration error (METHODOLOGY §4).
import type { EntityMetrics } from '../../schemas/metrics.ts'
import { PPM } from './logarithm.ts'
import { ratio } from './round.ts'

export type Decomposition = NonNullable<EntityMetrics['calibration']>
export type CalibrationBin = EntityMetrics['calibration_curve'][number]

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
 * CORP decomposition of the mean Brier score: brier = miscalibration − discrimination + uncertainty.
 * Null without forecasts. Source: Dimitriadis, Gneiting & Jordan 2021, doi:10.1073/pnas.2016191118.
 */
export function decompose({ ppm, outcome }: ClosingForecasts): Decomposition | null {
  const n = ppm.length
  if (n === 0) return null
  // One number that holds both forecast and outcome is sorted many times faster than pairs are.
  const ordered = Int32Array.from({ length: n }, (_, i) => 2 * ppm[i]! + outcome[i]!).sort()
  const sums: number[] = []
  const weights: number[] = []
  let squaredErrors = 0
  let yes = 0
  let previous = -1
  for (const both of ordered) {
    const forecast = both >> 1
    const isYes = both & 1
    const error = forecast - PPM * isYes
    squaredErrors += error * error
    yes += isYes
    if (forecast === previous) {
      sums[sums.length - 1]! += isYes
      weights[weights.length - 1]! += 1
    } else {
      sums.push(isYes)
      weights.push(1)
      previous = forecast
    }
  }
  let recalibratedErrors = 0
  for (const block of poolAdjacentViolators(sums, weights)) {
    recalibratedErrors += (block.sum * (block.weight - block.sum)) / block.weight
  }
  const brier = squaredErrors / (PPM * PPM) / n
  const recalibrated = recalibratedErrors / n
  const uncertainty = (yes * (n - yes)) / n / n
  const [miscalibration, discrimination] = [brier - recalibrated, uncertainty - recalibrated]
  return { brier, miscalibration, discrimination, uncertainty }
}

/**
 * The calibration curve in bins of equal width over [0, 1], with Wilson intervals of ± z. Each bin includes its lower
 * bound, and the last one also its upper bound.
 */
export function calibrationCurve(
  { ppm, outcome }: ClosingForecasts,
  bins: number,
  z: number,
): CalibrationBin[] {
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
    const [wilson_lower, wilson_upper] =
      observed_frequency === null ? [null, null] : wilsonInterval(observed_frequency, count, z)
    const mean_probability = ratio(ppmSums[bin]! / PPM, count)
    const [lower, upper] = [bin / bins, (bin + 1) / bins]
    return { lower, upper, count, mean_probability, observed_frequency, wilson_lower, wilson_upper }
  })
}

/**
 * Wilson's score interval of a proportion, within [0, 1]. `z` is the normal quantile of its level.
 * Source: Wilson 1927, doi:10.1080/01621459.1927.10502953.
 */
export function wilsonInterval(proportion: number, n: number, z: number): [lower: number, upper: number] {
  const z2 = z * z
  const centre = proportion + z2 / (2 * n)
  const spread = z * Math.sqrt((proportion * (1 - proportion)) / n + z2 / (4 * n * n))
  const scale = 1 + z2 / n
  return [Math.max(0, (centre - spread) / scale), Math.min(1, (centre + spread) / scale)]
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
