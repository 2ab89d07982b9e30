// The pairs of a sweep as objects, for tests that look at single pairs.
import { Rows } from '../../pipeline/engine/rows.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { PAIR_COLUMNS } from '../../pipeline/scoring/pairs.ts'
import {
  type ForecastColumns,
  QuestionSweep,
  type ResolvedQuestion,
} from '../../pipeline/scoring/question.ts'
import type { PriceColumns } from '../../pipeline/scoring/prices.ts'
import type { PairMetricName } from '../../schemas/metrics.ts'
import { type RawForecast, distinctForecasts } from './plain/forecasts.ts'

/** The metrics of one entity on one question, as the integers of the sweep. */
export type Pair = Record<PairMetricName | 'question' | 'entity', number>

/** A sweep over entities that are all voices. */
function newSweep(entityCount: number): QuestionSweep {
  return new QuestionSweep(
    METHODOLOGY,
    Int32Array.from({ length: entityCount }, (_, entity) => entity),
  )
}

/** Rows as columns for the sweep, each id once. An entity is the index of its name. */
export function columnsOf(rows: readonly RawForecast[], entities: readonly string[]): ForecastColumns {
  const distinct = distinctForecasts(rows)
  const flags = (of: (row: RawForecast) => boolean) => Int32Array.from(distinct, (row) => (of(row) ? 1 : 0))
  return {
    count: distinct.length,
    entity: Int32Array.from(distinct, ({ entity }) => entities.indexOf(entity)),
    atMs: Float64Array.from(distinct, ({ atMs }) => atMs),
    ppm: Int32Array.from(distinct, ({ ppm }) => ppm ?? -1),
    witnessed: flags(({ witnessed }) => witnessed),
  }
}

export function sweepPairs(
  question: ResolvedQuestion,
  forecasts: ForecastColumns,
  by: number | QuestionSweep,
  prices?: PriceColumns,
): Pair[] {
  const rows = new Rows(PAIR_COLUMNS)
  const sweep = typeof by === 'number' ? newSweep(by) : by
  sweep.run(0, question, forecasts, rows, prices)
  return Array.from({ length: rows.rowCount }, (_, row) => {
    const values = Object.entries(rows.columns).map(([name, column]) => [name, column[row]!])
    return Object.fromEntries(values) as Pair
  })
}
