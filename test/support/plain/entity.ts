// The means, calibration and advanced metrics of one entity over its settled pairs (METHODOLOGY §3 to §5),
// unrounded.
import { type Close, curvePlainly, decomposePlainly, expectedCalibrationErrorPlainly } from './calibration.ts'
import { bigSum, mean, orNull, roundHalfEven, sum } from './rounding.ts'
import type { Gain } from './gains.ts'
import { inByteOrder } from './order.ts'
import type { PlainPair } from './question.ts'

/** A settled pair, and its gain over the standard reference: null where it is not contested. */
export interface EntityPair {
  question: string
  outcome: 0 | 1
  pair: PlainPair
  standard: Gain | null
}

const WINDOW = 25
const STABILITY_QUESTIONS = 50

/** The order in which an entity's questions were settled. */
export function bySettlement(a: Settled, b: Settled): number {
  return a.pair.settled_at_ms - b.pair.settled_at_ms || inByteOrder(a.question, b.question)
}
type Settled = Pick<EntityPair, 'question' | 'pair'>

/** The pairs may be in any order. */
export function metricsPlainly(given: readonly EntityPair[]) {
  const ordered = given.toSorted(bySettlement)
  const pairs = ordered.map(({ pair }) => pair)
  const values = (of: (pair: PlainPair) => number): number[] => pairs.map(of)
  const coverage_sum = exactSum(values(({ coverage }) => coverage))
  const forecasts = sum(values((pair) => pair.forecasts))
  const updates = values((pair) => pair.updates)
  const logs = values(({ coverage, log_score }) => coverage * log_score)
  const contested = pairs.filter((pair) => pair.contested)
  const closes = ordered.flatMap(({ pair, outcome }): Close[] =>
    pair.closing === null ? [] : [{ ppm: pair.closing, outcome }],
  )
  const decomposition = decomposePlainly(closes)
  return {
    resolved_questions: pairs.length,
    forecasts,
    imported_share: orNull(sum(values(({ imported }) => imported)) / forecasts),
    coverage_sum,
    brier: orNull(exactSum(values(({ pico }) => Number(pico.brier) / 1e12)) / coverage_sum),
    log_score: orNull(exactSum(logs) / coverage_sum),
    baseline_score: exactMean(values(({ baseline_score }) => baseline_score)),
    peer_score: exactMean(values(({ peer_score }) => peer_score)),
    witnessed_share: orNull(mean(values(({ witnessed }) => (witnessed ? 1 : 0)))),
    coverage: exactMean(contested.map(({ coverage }) => coverage)),
    closing_questions: closes.length,
    calibration: decomposition?.calibration ?? null,
    corp: decomposition?.corp ?? null,
    calibration_curve: curvePlainly(closes),
    expected_calibration_error: expectedCalibrationErrorPlainly(closes),
    ...stabilityPlainly(ordered.flatMap(({ standard }) => standard ?? [])),
    conviction: exactMean(values(({ conviction }) => conviction)),
    conviction_gap: orNull(
      mean(closes.map(({ ppm }) => Math.max(ppm, 1e6 - ppm))) / 1e6 - mean(closes.map(leaned)),
    ),
    responsiveness: orNull(sum(values(({ toward }) => toward)) / sum(values(({ moved }) => moved))),
    updates: sum(updates),
    updates_per_question: orNull(mean(updates)),
    flip_flop: exactMean(pairs.flatMap(({ flip_flop }) => flip_flop ?? [])),
  }
}

/** The sum of the results of pairs, each rounded to a whole number of 1e-12 (§7.2). */
function exactSum(values: readonly number[]): number {
  return Number(bigSum(values.map((value) => BigInt(roundHalfEven(value * 1e12))))) / 1e12
}

/** Null without values. */
const exactMean = (values: readonly number[]): number | null => orNull(exactSum(values) / values.length)

/** 1 if the closing forecast leaned toward the outcome, 0 if it leaned away, one half at exactly 0.5. */
function leaned({ ppm, outcome }: Close): number {
  if (ppm === 500_000) return 0.5
  return ppm > 500_000 === (outcome === 1) ? 1 : 0
}

/**
 * Over windows of 25 contested questions in a row; null, and no windows, with fewer than 50 such questions.
 */
function stabilityPlainly(contested: readonly Gain[]) {
  const windows = contested.length < STABILITY_QUESTIONS ? 0 : contested.length - WINDOW + 1
  const sums = Array.from({ length: windows }, (_, from) => {
    const members = contested.slice(from, from + WINDOW)
    return {
      x: bigSum(members.map(({ gain }) => gain)),
      z: bigSum(members.map(({ reference }) => reference)),
    }
  })
  const ratios = sums.map(({ x, z }) => (z === 0n ? 0 : Number(x) / Number(z)))
  return {
    skill_stability: orNull(sums.filter(({ x }) => x > 0n).length / windows),
    skill_deviation: orNull(Math.sqrt(mean(ratios.map((ratio) => (ratio - mean(ratios)) ** 2)))),
    windows,
  }
}
