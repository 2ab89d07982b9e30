// The pairs of a sweep as objects, for tests that look at single pairs.
import { Rows } from '../../pipeline/engine/rows.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { PAIR_COLUMNS } from '../../pipeline/scoring/pairs.ts'
import {
  type ForecastColumns,
  QuestionSweep,
  type ResolvedQuestion,
} from '../../pipeline/scoring/question.ts'
import type { PairMetricName } from '../../schemas/metrics.ts'

/** The metrics of one entity on one question, as the integers of the sweep. */
export type Pair = Record<PairMetricName | 'question' | 'entity', number>

/** A sweep over entities that are all voices. */
function newSweep(entityCount: number): QuestionSweep {
  return new QuestionSweep(METHODOLOGY, new Uint8Array(entityCount).fill(1))
}

export function sweepPairs(
  question: ResolvedQuestion,
  forecasts: ForecastColumns,
  by: number | QuestionSweep,
): Pair[] {
  const rows = new Rows(PAIR_COLUMNS)
  const sweep = typeof by === 'number' ? newSweep(by) : by
  sweep.run(0, question, forecasts, rows)
  return Array.from({ length: rows.rowCount }, (_, row) => {
    const values = Object.entries(rows.columns).map(([name, column]) => [name, column[row]!])
    return Object.fromEntries(values) as Pair
  })
}
