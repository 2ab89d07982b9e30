// Published worked values of calibration.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  calibrationCurve,
  decompose,
  expectedCalibrationError,
  poolAdjacentViolators,
  wilsonInterval,
} from '../../pipeline/scoring/calibration.ts'

interface Vectors {
  decomposition: {
    source: string
    outcomes: (0 | 1)[]
    probabilities: number[]
    expected: Record<string, number>
    tolerance: number
  }[]
  isotonic: { id: string; y: number[]; weights: number[]; expected: number[] }[]
  expected_calibration_error: {
    source: string
    bins: number
    probabilities: number[]
    outcomes: (0 | 1)[]
    expected: number
    tolerance: number
  }[]
  calibration_curve: {
    source: string
    bins: number
    probabilities: number[]
    outcomes: (0 | 1)[]
    observed_frequency: number[]
    mean_probability: number[]
  }[]
}

const ppmOf = (probabilities: readonly number[]) => probabilities.map((p) => Math.round(p * 1e6))

const { decomposition, isotonic, expected_calibration_error, calibration_curve } = JSON.parse(
  readFileSync(new URL('../vectors/statistics.json', import.meta.url), 'utf8'),
) as Vectors

describe('decompose', () => {
  test.each(decomposition)('$source', ({ outcomes: outcome, probabilities, expected, tolerance }) => {
    const measured = decompose({ ppm: ppmOf(probabilities), outcome }).calibration!
    for (const [name, value] of Object.entries(expected)) {
      const difference = Math.abs(measured[name as keyof typeof measured] - value)
      expect(difference, name).toBeLessThanOrEqual(tolerance)
    }
    const { brier, miscalibration, discrimination, uncertainty } = measured
    expect(Math.abs(miscalibration - discrimination + uncertainty - brier)).toBeLessThanOrEqual(1e-15)
  })

  test('is null without forecasts', () => {
    expect(decompose({ ppm: [], outcome: [] })).toEqual({ calibration: null, corp: null })
  })
})

describe('poolAdjacentViolators', () => {
  test.each(isotonic)('$id', ({ y, weights, expected }) => {
    const sums = y.map((value, i) => value * weights[i]!)
    const fitted = poolAdjacentViolators(sums, weights).flatMap(({ sum, weight, length }) =>
      Array.from({ length }, () => sum / weight),
    )
    expect(fitted).toEqual(expected)
  })
})

test.each(expected_calibration_error)(
  'expectedCalibrationError: $source',
  ({ bins, probabilities, outcomes: outcome, expected, tolerance }) => {
    const curve = calibrationCurve({ ppm: ppmOf(probabilities), outcome }, bins)
    expect(Math.abs(expectedCalibrationError(curve)! - expected)).toBeLessThanOrEqual(tolerance)
  },
)

test.each(calibration_curve)(
  'calibrationCurve: $source',
  ({ bins, probabilities, outcomes: outcome, observed_frequency, mean_probability }) => {
    const curve = calibrationCurve({ ppm: ppmOf(probabilities), outcome }, bins)
    expect(curve.map((bin) => bin.observed_frequency)).toEqual(observed_frequency)
    for (const [bin, expected] of mean_probability.entries()) {
      expect(Math.abs(curve[bin]!.mean_probability! - expected)).toBeLessThanOrEqual(1e-15)
    }
  },
)

test('calibrationCurve: a bin includes its lower bound, and the last one also its upper bound', () => {
  const ppm = [0, 99_999, 100_000, 299_999, 300_000, 699_999, 700_000, 899_999, 900_000, 1_000_000]
  const curve = calibrationCurve({ ppm, outcome: ppm.map(() => 1) }, 10)
  expect(curve.map(({ count }) => count)).toEqual([2, 1, 1, 1, 0, 0, 1, 1, 1, 2])
  expect(curve[4]).toEqual({
    lower: 0.4,
    upper: 0.5,
    count: 0,
    mean_probability: null,
    observed_frequency: null,
    wilson_lower: null,
    wilson_upper: null,
  })
})

describe('wilsonInterval: Newcombe 1998, table I, method 3', () => {
  test.each([
    { yes: 81, n: 263, expected: [0.2553, 0.3662] },
    { yes: 15, n: 148, expected: [0.0624, 0.1605] },
    { yes: 0, n: 20, expected: [0, 0.1611] },
    { yes: 1, n: 29, expected: [0.0061, 0.1718] },
  ])('$yes of $n gives $expected', ({ yes, n, expected }) => {
    expect(Object.values(wilsonInterval(yes / n, n)).map((bound) => Number(bound.toFixed(4)))).toEqual(
      expected,
    )
  })
})

test('wilsonInterval stays within [0, 1]', () => {
  for (let n = 1; n <= 2000; n++) {
    expect(wilsonInterval(0, n).lower).toBeGreaterThanOrEqual(0)
    expect(wilsonInterval(1, n).upper).toBeLessThanOrEqual(1)
  }
})
