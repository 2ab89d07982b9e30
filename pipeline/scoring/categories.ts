// The numbers of an entity in lists, beside its metrics: its scores by category, and its skill over time.
import { calibrationCurve, expectedCalibrationError } from './calibration.ts'
import type { Methodology } from './methodology.ts'
import { type BoardScores, boardScores } from './board-scores.ts'
import { type EntityPairs, closingForecasts, contestedRows, settledPairs } from './pairs.ts'
import { gainsOver, shrinkageNano } from './skill.ts'

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
 * Scores an entity by category, in the order of the categories' numbers. Leaves out categories with fewer
 * contested questions than a rank takes.
 */
function scoreByCategory(methodology: Methodology, settled: EntityPairs): CategoryScores[] {
  const { parameters } = methodology
  const { category, judged, unit } = settled.columns
  if (settled.rowCount < parameters.eligible_questions) return []
  const contested = new Map<number, Set<number>>()
  for (let row = 0; row < settled.rowCount; row++) {
    if (judged[row] !== 1 || category[row]! < 0) continue
    const units = contested.get(category[row]!) ?? new Set()
    contested.set(category[row]!, units.add(unit[row]!))
  }
  return [...contested]
    .filter(([, units]) => units.size >= parameters.eligible_questions)
    .sort(([a], [b]) => a - b)
    .map(([number]) => scoreIn(methodology, number, pairsIn(settled, number)))
}

function scoreIn(methodology: Methodology, category: number, pairs: EntityPairs): CategoryScores {
  const curve = calibrationCurve(closingForecasts(pairs), methodology.parameters.calibration_bins)
  return {
    category,
    ...boardScores(methodology, pairs),
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
 * Divides the contested questions into up to 16 equal parts, in the order in which they settled, and returns
 * the skill after each part. The last point is the skill of the release.
 */
function trendOf(methodology: Methodology, pairs: EntityPairs): number[] {
  const { gain, reference } = gainsOver(pairs, contestedRows(pairs), 'average')
  const prior = shrinkageNano(methodology)
  const points = Math.min(TREND_POINTS, gain.length)
  const trend: number[] = []
  let [gained, total] = [0, 0]
  for (let at = 0; at < gain.length; at++) {
    gained += gain[at]!
    total += reference[at]!
    if (at + 1 >= ((trend.length + 1) * gain.length) / points) trend.push(gained / (total + prior))
  }
  return trend
}
