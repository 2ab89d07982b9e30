// Calibration of closing forecasts (METHODOLOGY §4): CORP by the max-min formula, and the curve of ten bins.
import { mean, orNull, sum } from './rounding.ts'

export interface Close {
  ppm: number
  outcome: 0 | 1
}

export interface PlainDecomposition {
  brier: number
  miscalibration: number
  discrimination: number
  uncertainty: number
}

export interface PlainBlock {
  lower: number
  upper: number
  frequency: number
  count: number
}

/** The maximum over starts of the minimum over ends of the mean outcome, for each forecast that was made. */
function recalibrated(closes: readonly Close[]): Map<number, number> {
  const values = [...new Set(closes.map(({ ppm }) => ppm))].sort((a, b) => a - b)
  /** How many forecasts, and how many of them with the outcome yes, are below the value of this index. */
  const below = [...values, Infinity].map((value) => {
    const members = closes.filter(({ ppm }) => ppm < value)
    return { count: members.length, yes: sum(members.map(({ outcome }) => outcome)) }
  })
  const meanOutcome = (low: number, high: number): number =>
    (below[high + 1]!.yes - below[low]!.yes) / (below[high + 1]!.count - below[low]!.count)
  const indices = [...values.keys()]
  return new Map(
    values.map((value, i) => {
      const least = (low: number) => Math.min(...indices.slice(i).map((high) => meanOutcome(low, high)))
      return [value, Math.max(...indices.slice(0, i + 1).map(least))]
    }),
  )
}

/** Null without a forecast. */
export function decomposePlainly(
  closes: readonly Close[],
): { calibration: PlainDecomposition; corp: PlainBlock[] } | null {
  if (closes.length === 0) return null
  const frequencyAt = recalibrated(closes)
  const meanBrier = (forecast: (close: Close) => number): number =>
    mean(closes.map((close) => (forecast(close) - close.outcome) ** 2))
  const share = mean(closes.map(({ outcome }) => outcome))
  const brier = meanBrier(({ ppm }) => ppm / 1e6)
  const recalibratedBrier = meanBrier(({ ppm }) => frequencyAt.get(ppm)!)
  const uncertainty = meanBrier(() => share)
  // Equal shares of yes are equal doubles, because each comes from one division of whole numbers.
  const blocks = Map.groupBy(closes, ({ ppm }) => frequencyAt.get(ppm)!)
  return {
    calibration: {
      brier,
      miscalibration: brier - recalibratedBrier,
      discrimination: uncertainty - recalibratedBrier,
      uncertainty,
    },
    corp: [...blocks]
      .map(([frequency, members]) => ({
        lower: Math.min(...members.map(({ ppm }) => ppm)) / 1e6,
        upper: Math.max(...members.map(({ ppm }) => ppm)) / 1e6,
        frequency,
        count: members.length,
      }))
      .sort((a, b) => a.frequency - b.frequency),
  }
}

export interface PlainBin {
  lower: number
  upper: number
  count: number
  mean_probability: number | null
  observed_frequency: number | null
  wilson_lower: number | null
  wilson_upper: number | null
}

const Z_95 = 1.959963984540054

export function curvePlainly(closes: readonly Close[]): PlainBin[] {
  return Array.from({ length: 10 }, (_, bin): PlainBin => {
    const members = closes.filter(({ ppm }) => Math.min(9, Math.floor(ppm / 100_000)) === bin)
    const range = { lower: bin / 10, upper: (bin + 1) / 10, count: members.length }
    if (members.length === 0) {
      const nothing = { mean_probability: null, observed_frequency: null }
      return { ...range, ...nothing, wilson_lower: null, wilson_upper: null }
    }
    const observed = mean(members.map(({ outcome }) => outcome))
    // Wilson's bounds are the two roots π of (observed − π)² = z²·π·(1 − π)/count.
    const z2n = Z_95 ** 2 / members.length
    const [a, b, c] = [1 + z2n, -(2 * observed + z2n), observed ** 2]
    const root = Math.sqrt(Math.max(0, b * b - 4 * a * c))
    return {
      ...range,
      mean_probability: mean(members.map(({ ppm }) => ppm)) / 1e6,
      observed_frequency: observed,
      wilson_lower: (-b - root) / (2 * a),
      wilson_upper: (-b + root) / (2 * a),
    }
  })
}

/** Null without a forecast. */
export function expectedCalibrationErrorPlainly(closes: readonly Close[]): number | null {
  const distances = curvePlainly(closes).map(
    ({ count, observed_frequency, mean_probability }) =>
      (count / closes.length) * Math.abs((observed_frequency ?? 0) - (mean_probability ?? 0)),
  )
  return orNull(sum(distances))
}
