// Scores one entity over its questions in order (METHODOLOGY §3 to §5).
import type { EntityMetrics } from '../../schemas/metrics.ts'
import { calibrationCurve, convictionGap, decompose, expectedCalibrationError } from './calibration.ts'
import { fragilityOf } from './fragility.ts'
import type { Methodology } from './methodology.ts'
import {
  type ContestedPairs,
  type EntityPairs,
  closingForecasts,
  contestedPairs,
  logScoreSum,
  settledPairs,
  sumPairs,
} from './pairs.ts'
import { PICO, ratio } from './round.ts'
import { alphaOf, intervalOf, skillAgainst } from './skill.ts'
import { UNIT } from './strength.ts'
import type { Attempt } from './voices.ts'

/** The metrics that an entity has only among others. */
export type RankMetricName =
  'rank' | 'rank_interval' | 'percentile' | 'percentile_interval' | 'field_size' | 'population'

/** Every metric of one entity except its rank among others, unrounded. */
export type EntityScores = Omit<EntityMetrics, RankMetricName>

/** The facts of an entity that its pairs do not have: how it stands among all that take part. */
export interface Circumstances extends Attempt {
  /** In whole 1e-6. */
  strength: number
  voice: boolean
  /** The pool in which it is ranked; null without a contested pair. */
  pool: string | null
  pool_size: number | null
}

/** Computes one entity's scores. `taken` must be in the order (settled_at, question_id). */
export function scoreEntity(
  methodology: Methodology,
  taken: EntityPairs,
  { strength, ...circumstances }: Circumstances,
): EntityScores {
  const { parameters } = methodology
  const pairs = settledPairs(taken)
  const n = pairs.rowCount
  const sums = sumPairs(pairs)
  const contested = contestedPairs(pairs)
  const alpha = alphaOf(methodology, circumstances.attempt)
  const skill = skillAgainst(methodology, contested, contested.standard)
  const crowd = skillAgainst(methodology, contested, contested.crowd)
  const strict = skillAgainst(methodology, contested, contested.strict)
  const eligible = contested.own.length >= parameters.eligible_questions
  const board = eligible ? intervalOf(methodology, skill, alphaOf(methodology, null)) : null
  const closing = closingForecasts(pairs)
  const curve = calibrationCurve(closing, parameters.calibration_bins)
  const coverage = sums.coverage.total / PICO
  const updates = sums.forecasts.total - n
  return {
    eligible,
    skill: skill.skill,
    skill_interval: intervalOf(methodology, skill, alpha),
    board_interval: board && { lower: board.lower, upper: board.upper },
    strict_skill_interval: intervalOf(methodology, strict, alpha),
    evidence: skill.evidence,
    fragility: fragilityOf(methodology, contested, alpha, { skill, strict }),
    crowd_skill: crowd.skill,
    crowd_skill_interval: intervalOf(methodology, crowd, alpha),
    crowd_evidence: crowd.evidence,
    resolved_questions: n,
    contested_questions: contested.own.length,
    pending_questions: taken.rowCount - n,
    clusters: contested.clusters,
    ...circumstances,
    strength: strength / UNIT,
    forecasts: sums.forecasts.total,
    imported_share: ratio(sums.imported.total, sums.forecasts.total),
    witnessed_share: ratio(sums.witnessed.total, n),
    coverage: contested.coverage,
    coverage_sum: coverage,
    brier: ratio(sums.brier_part.total / PICO, coverage),
    log_score: ratio(logScoreSum(pairs) / PICO, coverage),
    baseline_score: ratio(sums.baseline_score.total / PICO, n),
    peer_score: ratio(sums.peer_score.total / PICO, n),
    ...decompose(closing),
    calibration_curve: curve,
    expected_calibration_error: expectedCalibrationError(curve),
    ...stabilityOf(methodology, contested),
    conviction: ratio(sums.conviction.total / PICO, n),
    conviction_gap: convictionGap(closing),
    responsiveness: ratio(sums.toward.total, sums.moved.total),
    updates,
    updates_per_question: ratio(updates, n),
    flip_flop: ratio(sums.flip_flop.total / PICO, sums.flip_flop.questions),
  }
}

/**
 * The share of windows with a gain, ΣX > 0, and the standard deviation of ΣX/ΣZ over all windows. A window is
 * 25 consecutive contested questions. Null with fewer than 50 of them.
 */
function stabilityOf(
  { parameters }: Methodology,
  { own, standard: { reference: standard } }: ContestedPairs,
) {
  const n = own.length
  if (n < parameters.stability_questions) return { skill_stability: null, skill_deviation: null, windows: 0 }
  const width = parameters.stability_window
  const ratios: number[] = []
  let ahead = 0
  let x = 0
  let z = 0
  for (let i = 0; i < n; i++) {
    x += standard[i]! - own[i]!
    z += standard[i]!
    if (i >= width) {
      x -= standard[i - width]! - own[i - width]!
      z -= standard[i - width]!
    }
    if (i >= width - 1) {
      if (x > 0) ahead += 1
      ratios.push(z === 0 ? 0 : x / z)
    }
  }
  const windows = ratios.length
  const mean = ratios.reduce((sum, value) => sum + value, 0) / windows
  const variance = ratios.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / windows
  return { skill_stability: ahead / windows, skill_deviation: Math.sqrt(variance), windows }
}
