// The numbers of an entity in lists, beside its metrics: those by category, and how its skill came about.
import { calibrationCurve, expectedCalibrationError } from './calibration.ts'
import type { Methodology } from './methodology.ts'
import { type BoardScores, boardScores } from './board-scores.ts'
import { type EntityPairs, closingForecasts, contestedPairs, settledPairs } from './pairs.ts'
import { nanoOf, shrinkageNano } from './strength.ts'

/** The numbers of an entity on the questions of one category alone. */
export interface CategoryScores extends BoardScores {
  /** The number of the category. */
  category: number
  expected_calibration_error: number | null
}

export interface Listing {
  /** The skill over time: see `trendOf`. */
  trend: number[]
  categories: CategoryScores[]
}

/** The listing of an entity without pairs. */
export const NO_LISTING: Listing = { trend: [], categories: [] }

/** `taken` must be in the order (settled_at, question_id). */
export function listingOf(methodology: Methodology, taken: EntityPairs): Listing {
  const settled = settledPairs(taken)
  return { trend: trendOf(methodology, settled), categories: scoreByCategory(methodology, settled) }
}

/**
 * Scores an entity in each category in which it has as many contested questions as a rank takes, in the order
 * of their numbers. The references are those of the whole release.
 */
function scoreByCategory(methodology: Methodology, settled: EntityPairs): CategoryScores[] {
  const { parameters } = methodology
  const { category, standard } = settled.columns
  if (settled.rowCount < parameters.eligible_questions) return []
  const contested = new Map<number, number>()
  for (let row = 0; row < settled.rowCount; row++) {
    if (standard[row]! < 0 || category[row]! < 0) continue
    contested.set(category[row]!, (contested.get(category[row]!) ?? 0) + 1)
  }
  return [...contested]
    .filter(([, questions]) => questions >= parameters.eligible_questions)
    .sort(([a], [b]) => a - b)
    .map(([number]) => scoreIn(methodology, number, pairsIn(settled, number)))
}

function scoreIn(methodology: Methodology, category: number, pairs: EntityPairs): CategoryScores {
  const curve = calibrationCurve(closingForecasts(pairs), methodology.parameters.calibration_bins)
  return {
    category,
    ...boardScores(methodology, pairs, contestedPairs(pairs)),
    expected_calibration_error: expectedCalibrationError(curve),
  }
}

/** The pairs on questions of a category, in their order. */
function pairsIn({ rowCount, columns }: EntityPairs, category: number): EntityPairs {
  const rows: number[] = []
  for (let row = 0; row < rowCount; row++) if (columns.category[row] === category) rows.push(row)
  const own = Object.entries(columns).map(([name, values]) => {
    const gathered = new (values.constructor as Float64ArrayConstructor)(rows.length)
    for (let at = 0; at < rows.length; at++) gathered[at] = values[rows[at]!]!
    return [name, gathered]
  })
  return { rowCount: rows.length, columns: Object.fromEntries(own) as EntityPairs['columns'] }
}

/** The most points of a trend, so that it fits a line of 80 pixels. */
const TREND_POINTS = 16

/**
 * Returns the skill after each of up to 16 equal parts of the contested questions, in the order in which they
 * settled. The last point is the skill of the release.
 */
function trendOf(methodology: Methodology, { rowCount, columns }: EntityPairs): number[] {
  const { standard, brier_part } = columns
  const prior = shrinkageNano(methodology)
  let contested = 0
  for (let row = 0; row < rowCount; row++) if (standard[row]! >= 0) contested += 1
  const points = Math.min(TREND_POINTS, contested)
  const trend: number[] = []
  let [gain, reference, questions] = [0, 0, 0]
  for (let row = 0; row < rowCount; row++) {
    if (standard[row]! < 0) continue
    gain += standard[row]! - nanoOf(brier_part[row]!)
    reference += standard[row]!
    questions += 1
    if (questions >= ((trend.length + 1) * contested) / points) trend.push(gain / (reference + prior))
  }
  return trend
}
