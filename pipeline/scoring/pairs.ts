// Pairs of an entity and a question, as columns of integers, and the exact sums over an entity's questions.
import { type Block, type ColumnKind, type ColumnKinds, newColumns } from '../../schemas/columns.ts'
import { PAIR_METRICS, type PairMetricName } from '../../schemas/metrics.ts'
import type { ClosingForecasts } from './calibration.ts'

/** The names of the numbers of a pair, in the order of the columns. */
export const PAIR_METRIC_NAMES = Object.keys(PAIR_METRICS) as PairMetricName[]

type MetricColumns = { readonly [Name in PairMetricName]: (typeof PAIR_METRICS)[Name]['column'] }

const METRIC_COLUMNS = Object.fromEntries(
  Object.entries(PAIR_METRICS).map(([name, { column }]): [string, ColumnKind] => [name, column]),
) as MetricColumns

/** The columns that the sweep writes. Grain: one row per entity and question, both as numbers. */
export const PAIR_COLUMNS = {
  question: 'int32',
  entity: 'int32',
  ...METRIC_COLUMNS,
} as const satisfies ColumnKinds

/**
 * How the questions of a unit depend on each other: a lone question, nested thresholds, or options of which
 * at most one is yes.
 */
export const JOINTS = { lone: 0, ordered: 1, exclusive: 2 } as const
export type Joint = keyof typeof JOINTS

/** The facts of a question by which its pairs are added up. */
export const QUESTION_COLUMNS = {
  outcome: 'int32',
  settled: 'int32',
  settled_ms: 'double',
  /**
   * The numbers of its unit, cluster, week and category; −1 without one. Units are numbered in the order of
   * their names.
   */
  unit: 'int32',
  cluster: 'int32',
  week: 'int32',
  category: 'int32',
  /** One of `JOINTS`, and the number of the unit's questions that are not annulled. */
  joint: 'int32',
  unit_questions: 'int32',
} as const satisfies ColumnKinds

/** The columns that an entity is scored from. Grain: one row per entity and question. */
export const SCORED_COLUMNS = {
  entity: 'int32',
  ...QUESTION_COLUMNS,
  ...METRIC_COLUMNS,
} as const satisfies ColumnKinds

/**
 * The questions of one entity, in the order (settled_at, question_id), so that the settled ones come first.
 */
export type EntityPairs = Block<typeof SCORED_COLUMNS>

export const NO_PAIRS: EntityPairs = { rowCount: 0, columns: newColumns(SCORED_COLUMNS, 0) }

/**
 * Returns the pairs on settled questions. They come first, because no other question is settled by `as_of`.
 */
export function settledPairs({ rowCount, columns }: EntityPairs): EntityPairs {
  let count = 0
  while (count < rowCount && columns.settled[count] === 1) count += 1
  return { rowCount: count, columns }
}

/** Returns the rows of the settled pairs with a judged instant, in order. */
export function contestedRows({ rowCount, columns: { judged } }: JudgedPairs): Int32Array {
  const rows = new Int32Array(rowCount)
  let count = 0
  for (let row = 0; row < rowCount; row++) if (judged[row] === 1) rows[count++] = row
  return rows.subarray(0, count)
}

/** The columns from which skills are computed. */
export type JudgedPairs = Block<
  Pick<
    typeof SCORED_COLUMNS,
    | 'unit'
    | 'cluster'
    | 'week'
    | 'joint'
    | 'judged'
    | 'priced'
    | 'judged_brier'
    | 'judged_brier_if_other'
    | `${Yardstick}_brier`
    | `${Yardstick}_brier_if_other`
  >
>

/** The yardsticks of an entity's errors: the others' average, the median of the voices, the market. */
export const YARDSTICKS = ['average', 'median', 'market'] as const
export type Yardstick = (typeof YARDSTICKS)[number]

/** The forecasts that stood at the close, with their outcomes. */
export function closingForecasts({ rowCount, columns }: EntityPairs): ClosingForecasts {
  const ppm = new Int32Array(rowCount)
  const outcome = new Int32Array(rowCount)
  let count = 0
  for (let row = 0; row < rowCount; row++) {
    if (columns.closing_probability[row]! < 0) continue
    ppm[count] = columns.closing_probability[row]!
    outcome[count] = columns.outcome[row]!
    count += 1
  }
  return { ppm: ppm.subarray(0, count), outcome: outcome.subarray(0, count) }
}

/** The values of a column at some rows. The loop takes a tenth of the time of `from` with a function. */
export function valuesAt(rows: Int32Array, column: Float64Array | Int32Array): Float64Array {
  const values = new Float64Array(rows.length)
  for (let at = 0; at < rows.length; at++) values[at] = column[rows[at]!]!
  return values
}
