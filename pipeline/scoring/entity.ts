// Scores one entity over its questions in order (METHODOLOGY §§3 and 4).
import type { EntityMetrics } from '../../schemas/metrics.ts'
import { calibrationCurve, decompose, expectedCalibrationError } from './calibration.ts'
import { exactSum } from './exact-sum.ts'
import type { Methodology } from './methodology.ts'
import { NO_LEAN } from './participant.ts'
import { meansOf } from './means.ts'
import { type EntityPairs, closingForecasts, contestedRows, settledPairs, valuesAt } from './pairs.ts'
import { PICO, ratio } from './round.ts'
import { type Skill, alphaOf, gainsOver, intervalOf, skillsOn } from './skill.ts'
import type { Attempt } from './voices.ts'

/** The metrics that compare an entity with others. */
export type RankMetricName = 'rank' | 'rank_interval' | 'percentile' | 'population'

/** Every metric of one entity except its rank among others, unrounded. */
export type EntityScores = Omit<EntityMetrics, RankMetricName>

/** The facts of an entity that need the pairs of all entities. */
export interface Circumstances extends Attempt {
  voice: boolean
  /** Null without a contested pair. */
  pool: string | null
  pool_size: number | null
  offered_questions: number
  answered_share: number | null
  isRetired: boolean
}

/** Computes one entity's scores. `taken` must be in the order (settled_at, question_id). */
export function scoreEntity(
  methodology: Methodology,
  taken: EntityPairs,
  { isRetired, ...circumstances }: Circumstances,
): EntityScores {
  const { parameters } = methodology
  // Choose the pairs that count.
  const pairs = settledPairs(taken)
  const { columns, rowCount } = pairs
  const contested = contestedRows(pairs)
  const priced = contested.filter((row) => columns.priced[row] === 1)
  // Measure the skill over each yardstick, with intervals at the level of this attempt.
  const alpha = alphaOf(methodology, circumstances.attempt)
  const over = skillsOn(methodology, pairs, contested)
  const interval = (skill: Skill) => intervalOf(methodology, skill, alpha)
  const [average, median] = [over('average'), over('median')]
  const market = priced.length === 0 ? null : over('market')
  // Measure the skill on the recent questions alone.
  const last = lastUnits(pairs, contested, parameters.recent_questions)
  const recent = last === contested ? average : skillsOn(methodology, pairs, last)('average')
  // Boards compare all entities at one level.
  const eligible = average.questions >= parameters.eligible_questions
  const board = eligible && !isRetired ? intervalOf(methodology, average, alphaOf(methodology, null)) : null
  // Measure the calibration of the last forecasts.
  const closing = closingForecasts(pairs)
  const curve = calibrationCurve(closing, parameters.calibration_bins)
  const sum = (name: 'forecasts' | 'witnessed' | 'conviction' | 'moved' | 'toward') =>
    exactSum(columns[name].subarray(0, rowCount))
  return {
    eligible,
    skill: average.skill,
    skill_interval: interval(average),
    median_skill: median.skill,
    median_skill_interval: interval(median),
    market_skill: market && market.skill,
    market_skill_interval: market && interval(market),
    board_interval: board && { lower: board.lower, upper: board.upper },
    evidence: average.evidence,
    ...circumstances,
    resolved_questions: new Set(columns.unit.subarray(0, rowCount)).size,
    contested_questions: average.questions,
    priced_questions: new Set(valuesAt(priced, columns.unit)).size,
    pending_questions: taken.rowCount - rowCount,
    clusters: average.clusters,
    priced_clusters: new Set(valuesAt(priced, columns.cluster)).size,
    forecasts: sum('forecasts'),
    witnessed_share: ratio(sum('witnessed'), rowCount),
    coverage: ratio(exactSum(valuesAt(contested, columns.judged_coverage)) / PICO, contested.length),
    recent: { questions: recent.questions, skill: recent.skill, skill_interval: interval(recent) },
    ...meansOf(pairs),
    ...decompose(closing),
    calibration_curve: curve,
    expected_calibration_error: expectedCalibrationError(curve),
    skill_stability: stabilityOf(methodology, gainsOver(pairs, contested, 'average').gain),
    conviction: ratio(sum('conviction') / PICO, rowCount),
    lean: leanOf(valuesAt(contested, columns.lean)),
    responsiveness: ratio(sum('toward'), sum('moved')),
    updates: sum('forecasts') - rowCount,
  }
}

/**
 * Returns the rows of the `most` units that were settled last. Of units settled together, the last by name
 * count as later.
 */
function lastUnits({ columns }: EntityPairs, rows: Int32Array, most: number): Int32Array {
  const settledMs = new Map<number, number>()
  for (const row of rows) settledMs.set(columns.unit[row]!, columns.settled_ms[row]!)
  if (settledMs.size <= most) return rows
  const inOrder = [...settledMs].sort(([a, at], [b, bt]) => at - bt || a - b)
  const last = new Set(inOrder.slice(-most).map(([unit]) => unit))
  return rows.filter((row) => last.has(columns.unit[row]!))
}

/** The share of windows with a gain, ΣX > 0; null with fewer than two windows' questions. */
function stabilityOf({ parameters }: Methodology, gain: Float64Array): number | null {
  const width = parameters.stability_window
  if (gain.length < 2 * width) return null
  let ahead = 0
  let sum = 0
  for (let at = 0; at < gain.length; at++) {
    sum += gain[at]!
    if (at >= width) sum -= gain[at - width]!
    if (at >= width - 1 && sum > 0) ahead += 1
  }
  return ahead / (gain.length - width + 1)
}

function leanOf(leans: Float64Array): number | null {
  const known = leans.filter((lean) => lean !== NO_LEAN)
  return ratio(exactSum(known) / PICO, known.length)
}
