// What one entity's pairs say without its rank: means, calibration and advanced metrics (METHODOLOGY §3 to
// §5), unrounded.
import { curvePlainly, decomposePlainly, expectedCalibrationErrorPlainly } from './calibration.ts'
import type { PlainPair } from './question.ts'
import { bigSum, mean, orNull, sum } from './rounding.ts'

/** A scored pair, and what the standard reference got on it in whole 1e-9: null where it is not contested. */
export interface EntityPair {
  question: string
  resolvedAtMs: number
  outcome: 0 | 1
  pair: PlainPair
  B: bigint
  Z: bigint | null
}

const WINDOW = 25
const STABILITY_QUESTIONS = 50

export type PlainMetrics = ReturnType<typeof metricsPlainly>

/** The pairs may be in any order. */
export function metricsPlainly(given: readonly EntityPair[]) {
  const ordered = given.toSorted(
    (a, b) => a.resolvedAtMs - b.resolvedAtMs || (a.question < b.question ? -1 : 1),
  )
  const pairs = ordered.map(({ pair }) => pair)
  const n = pairs.length
  const total = (of: (pair: PlainPair) => number): number => sum(pairs.map(of))
  const coverage_sum = total(({ coverage }) => coverage)
  const forecasts = total((pair) => pair.forecasts)
  const closes = ordered.map(({ pair, outcome }) => ({ ppm: pair.closing_probability, outcome }))
  const decomposition = decomposePlainly(closes)
  return {
    resolved_questions: n,
    forecasts,
    imported_share: orNull(total(({ imported }) => imported) / forecasts),
    coverage_sum,
    brier: orNull(total(({ coverage, brier }) => coverage * brier) / coverage_sum),
    log_score: orNull(total(({ coverage, log_score }) => coverage * log_score) / coverage_sum),
    baseline_score: orNull(mean(pairs.map(({ baseline_score }) => baseline_score))),
    peer_score: orNull(mean(pairs.map(({ peer_score }) => peer_score))),
    calibration: decomposition?.calibration ?? null,
    corp: decomposition?.corp ?? null,
    calibration_curve: curvePlainly(closes),
    expected_calibration_error: expectedCalibrationErrorPlainly(closes),
    ...stabilityPlainly(ordered),
    conviction: orNull(mean(pairs.map(({ conviction }) => conviction))),
    conviction_gap: orNull(
      mean(closes.map(({ ppm }) => Math.max(ppm, 1e6 - ppm) / 1e6)) - mean(closes.map(leaned)),
    ),
    responsiveness: orNull(total(({ toward }) => toward) / total(({ moved }) => moved)),
    updates: total(({ updates }) => updates),
    updates_per_question: orNull(mean(pairs.map(({ updates }) => updates))),
    flip_flop: orNull(mean(pairs.flatMap(({ flip_flop }) => flip_flop ?? []))),
  }
}

/** 1 if the closing forecast leaned toward the outcome, 0 if it leaned away, one half at exactly 0.5. */
function leaned({ ppm, outcome }: { ppm: number; outcome: 0 | 1 }): number {
  if (ppm === 500_000) return 0.5
  return ppm > 500_000 === (outcome === 1) ? 1 : 0
}

/**
 * Over windows of 25 contested questions in a row; null, and no windows, with fewer than 50 such questions.
 */
function stabilityPlainly(ordered: readonly EntityPair[]) {
  const contested = ordered.flatMap(({ B, Z }) => (Z === null ? [] : [{ x: Z - B, z: Z }]))
  const windows = contested.length < STABILITY_QUESTIONS ? 0 : contested.length - WINDOW + 1
  const sums = Array.from({ length: windows }, (_, from) => {
    const members = contested.slice(from, from + WINDOW)
    return { x: bigSum(members.map(({ x }) => x)), z: bigSum(members.map(({ z }) => z)) }
  })
  const ratios = sums.map(({ x, z }) => (z === 0n ? 0 : Number(x) / Number(z)))
  return {
    skill_stability: orNull(sums.filter(({ x }) => x > 0n).length / windows),
    skill_deviation: orNull(Math.sqrt(mean(ratios.map((ratio) => (ratio - mean(ratios)) ** 2)))),
    windows,
  }
}
