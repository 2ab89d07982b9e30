// Published worked values of calibration and of the flip-flop index.
import { describe, expect, test } from 'vitest'
import {
  calibrationCurve,
  decompose,
  expectedCalibrationError,
  poolAdjacentViolators,
  wilsonInterval,
} from '../../pipeline/scoring/calibration.ts'
import { fromPico } from '../../pipeline/scoring/round.ts'
import { sweepPairs } from '../support/pairs.ts'
import { columnsOf } from '../support/plain/forecasts.ts'

const ppmOf = (probabilities: readonly number[]) => probabilities.map((p) => Math.round(p * 1e6))

describe('decompose', () => {
  test.each([
    {
      source: 'model-diagnostics test_decompose_with_numbers, checked there against R reliabilitydiag',
      outcome: [0, 0, 0, 1, 1, 1],
      probabilities: [0.4, 0.3, 0.2, 0.1, 0.5, 0.9],
      expected: { miscalibration: 0.1016667, discrimination: 0.125, uncertainty: 0.25, brier: 0.2266667 },
      tolerance: 1e-6,
    },
    {
      source: 'scikit-learn issue 10883, forecaster A: calibrated but worse',
      outcome: [0, 0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1],
      probabilities: [0, 0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 0.75, 0.75, 1],
      expected: { miscalibration: 0, discrimination: 0.0833333, uncertainty: 0.25, brier: 0.1666667 },
      tolerance: 1e-6,
    },
    {
      source: 'scikit-learn issue 10883, forecaster B: uncalibrated but better',
      outcome: [0, 0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1],
      probabilities: [0, 0.25, 0.25, 0.25, 0.75, 0.5, 0.5, 0.25, 0.75, 0.75, 0.75, 1],
      expected: { miscalibration: 0.0416667, discrimination: 0.2083333, uncertainty: 0.25, brier: 0.0833333 },
      tolerance: 1e-6,
    },
    {
      source: 'scikit-learn brier_score_loss example',
      outcome: [0, 1, 1, 0],
      probabilities: [0.1, 0.9, 0.8, 0.3],
      expected: { brier: 0.0375 },
      tolerance: 1e-9,
    },
  ])('$source', ({ outcome, probabilities, expected, tolerance }) => {
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
  test.each([
    {
      source: 'scores (Bureau of Meteorology) isoreg_test_data.py',
      weights: [1, 1, 1, 1, 1, 1, 1, 1],
      expected: [1, 5 / 3, 5 / 3, 5 / 3, 10 / 3, 10 / 3, 10 / 3, 7],
    },
    {
      source: 'scores (Bureau of Meteorology) isoreg_test_data.py, weighted',
      weights: [1, 1, 1, 1, 2, 1, 1, 1],
      expected: [1, 5 / 3, 5 / 3, 5 / 3, 3.75, 3.75, 3.75, 7],
    },
  ])('$source', ({ weights, expected }) => {
    const sums = [1, 2, 3, 0, 5, 4, 1, 7].map((y, i) => y * weights[i]!)
    const fitted = poolAdjacentViolators(sums, weights).flatMap(({ sum, weight, length }) =>
      Array.from({ length }, () => sum / weight),
    )
    expect(fitted).toEqual(expected)
  })
})

test('expectedCalibrationError: torchmetrics BinaryCalibrationError, 2 bins, l1', () => {
  const closing = { ppm: ppmOf([0.25, 0.25, 0.55, 0.75, 0.75]), outcome: [0, 0, 1, 1, 1] }
  expect(Math.abs(expectedCalibrationError(calibrationCurve(closing, 2))! - 0.29)).toBeLessThanOrEqual(1e-4)
})

test('calibrationCurve: scikit-learn test_calibration_curve, uniform, 2 bins', () => {
  const closing = { ppm: ppmOf([0, 0.1, 0.2, 0.8, 0.9, 1]), outcome: [0, 0, 0, 1, 1, 1] }
  const curve = calibrationCurve(closing, 2)
  expect(curve.map(({ observed_frequency }) => observed_frequency)).toEqual([0, 1])
  for (const [bin, expected] of [0.1, 0.9].entries()) {
    expect(Math.abs(curve[bin]!.mean_probability! - expected)).toBeLessThanOrEqual(1e-15)
  }
})

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
    expect(wilsonInterval(yes / n, n).map((bound) => Number(bound.toFixed(4)))).toEqual(expected)
  })
})

test('wilsonInterval stays within [0, 1]', () => {
  for (let n = 1; n <= 2000; n++) {
    expect(wilsonInterval(0, n)[0]).toBeGreaterThanOrEqual(0)
    expect(wilsonInterval(1, n)[1]).toBeLessThanOrEqual(1)
  }
})

describe('flip-flop index: scores (Bureau of Meteorology)', () => {
  test.each([
    { percent: [20, 50, 60, 30, 10, 20], expected: 12.5 },
    { percent: [50, 20, 40, 80], expected: 15 },
    { percent: [50, 60, 30], expected: 10 },
    { percent: [20, 60, 10, 20], expected: 25 },
  ])('$percent gives $expected', ({ percent, expected }) => {
    const rows = percent.map((value, atMs) => ({
      forecastId: `${atMs}`,
      entity: 'a',
      atMs,
      ppm: value * 10_000,
      recordedAtMs: atMs,
      imported: false,
    }))
    const question = { openedAtMs: 0, closesAtMs: 100, resolvedAtMs: 100, outcome: 1 } as const
    const pairs = sweepPairs(question, columnsOf(rows, ['a']), 1)
    expect(pairs.map(({ flip_flop }) => fromPico(flip_flop) * 100)).toEqual([expected])
  })
})
