// Scores one entity over its questions in order (METHODOLOGY §3 to §5).
import type { EntityMetrics } from '../../schemas/metrics.ts'
import {
  type ClosingForecasts,
  calibrationCurve,
  decompose,
  expectedCalibrationError,
} from './calibration.ts'
import { exactProductSum, exactSum } from './exact-sum.ts'
import { PPM } from './logarithm.ts'
import type { Methodology } from './methodology.ts'
import { type EntityPairs, type PairSums, type WeightedColumns, sumPairs, weightedColumns } from './pairs.ts'
import { PICO, ratio } from './round.ts'

/** Every metric of one entity except its standing among others, unrounded. */
export type EntityScores = Omit<EntityMetrics, 'rank' | 'percentile' | 'eligible_population' | 'population'>

/** Computes one entity's scores. `pairs` must be in the order (resolved_at, question_id). */
export function scoreEntity(methodology: Methodology, pairs: EntityPairs): EntityScores {
  const { parameters } = methodology
  const n = pairs.rowCount
  const weighted = weightedColumns(pairs)
  const sums = sumPairs(pairs, weighted)
  const gains = gainsOf(weighted)
  const closing = {
    ppm: pairs.columns.closing_probability.subarray(0, n),
    outcome: pairs.columns.outcome.subarray(0, n),
  }
  const curve = calibrationCurve(closing, parameters.calibration_bins, parameters.interval_z)
  const coverage = sums.coverage.total / PICO
  const updates = sums.forecasts.total - n
  return {
    eligible: n >= parameters.eligible_questions,
    ...skillOf(methodology, sums, gains),
    resolved_questions: n,
    forecasts: sums.forecasts.total,
    imported_share: ratio(sums.imported.total, sums.forecasts.total),
    coverage_sum: coverage,
    brier: ratio(sums.brier.total / PICO, coverage),
    log_score: ratio(sums.log_score.total / PICO, coverage),
    baseline_score: ratio(sums.baseline_score.total / PICO, n),
    peer_score: ratio(sums.peer_score.total / PICO, n),
    calibration: decompose(closing),
    calibration_curve: curve,
    expected_calibration_error: expectedCalibrationError(curve),
    ...stabilityOf(methodology, gains),
    conviction: ratio(sums.conviction.total / PICO, n),
    conviction_gap: convictionGap(closing),
    responsiveness: ratio(sums.toward.total, sums.moved.total),
    updates,
    updates_per_question: ratio(updates, n),
    flip_flop: ratio(sums.flip_flop.total / PICO, sums.flip_flop.questions),
  }
}

/** For each question x = coverage·(reference_brier − brier) and y = coverage·reference_brier, as integers of 1e-12. */
interface Gains {
  x: Float64Array
  y: Float64Array
}

function gainsOf({ brier, reference_brier: y }: WeightedColumns): Gains {
  return { x: y.map((reference, row) => reference - brier[row]!), y }
}

/**
 * skill = Σx / (Σy + 10·0.25), and its interval skill ± z·SE with SE² = n/(n−1) · Σ(x − skill·y)² / (Σy + 2.5)². SE² is
 * the linearised variance of a ratio. The prior enters only the denominators.
 */
function skillOf({ parameters }: Methodology, sums: PairSums, { x, y }: Gains) {
  const n = x.length
  if (n === 0) return { skill: null, skill_interval: null }
  const prior = parameters.shrinkage_questions * parameters.house_brier
  const denominator = sums.reference_brier.total / PICO + prior
  const skill = exactSum(x) / PICO / denominator
  if (n < 2) return { skill, skill_interval: null }
  const [xx, xy, yy] = [exactProductSum(x, x), exactProductSum(x, y), exactProductSum(y, y)]
  const square = PICO * PICO
  const residuals = xx / square - 2 * skill * (xy / square) + skill * skill * (yy / square)
  const error = Math.sqrt((n / (n - 1)) * Math.max(0, residuals)) / denominator
  const margin = parameters.interval_z * error
  const level = parameters.interval_level
  return { skill, skill_interval: { lower: skill - margin, upper: skill + margin, level } }
}

/**
 * The share of windows with Σx > 0, and the standard deviation of Σx/Σy over all windows. A window is 25 consecutive
 * questions. Null with fewer than 50 questions.
 */
function stabilityOf({ parameters }: Methodology, gains: Gains) {
  const n = gains.x.length
  if (n < parameters.stability_questions) return { skill_stability: null, skill_deviation: null, windows: 0 }
  const width = parameters.stability_window
  const ratios: number[] = []
  let ahead = 0
  let x = 0
  let y = 0
  for (let i = 0; i < n; i++) {
    x += gains.x[i]!
    y += gains.y[i]!
    if (i >= width) {
      x -= gains.x[i - width]!
      y -= gains.y[i - width]!
    }
    if (i >= width - 1) {
      if (x > 0) ahead += 1
      ratios.push(y === 0 ? 0 : x / y)
    }
  }
  const windows = ratios.length
  const mean = ratios.reduce((sum, value) => sum + value, 0) / windows
  const variance = ratios.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / windows
  return { skill_stability: ahead / windows, skill_deviation: Math.sqrt(variance), windows }
}

/**
 * The mean of max(p, 1 − p) over the closing forecasts − the share of them that leaned the right way, where p = 1/2
 * counts half. Positive means overconfident.
 */
function convictionGap({ ppm, outcome }: ClosingForecasts): number | null {
  const n = ppm.length
  if (n === 0) return null
  let certainty = 0
  let halvesRight = 0
  for (let i = 0; i < n; i++) {
    const toward = outcome[i] === 1 ? ppm[i]! : PPM - ppm[i]!
    certainty += Math.max(toward, PPM - toward)
    halvesRight += toward * 2 === PPM ? 1 : toward * 2 > PPM ? 2 : 0
  }
  return certainty / PPM / n - halvesRight / 2 / n
}
