// Pairs of an entity and a question, as columns of integers, and the exact sums over an entity's questions.
import {
  type Block,
  type ColumnKind,
  type ColumnKinds,
  type Columns,
  newColumns,
} from '../../schemas/columns.ts'
import { PAIR_METRICS, type PairMetricName } from '../../schemas/metrics.ts'
import { ExactSum } from './exact-sum.ts'
import { PICO, roundHalfEven } from './round.ts'

type MetricColumns = { readonly [Name in PairMetricName]: (typeof PAIR_METRICS)[Name]['column'] }

const METRIC_COLUMNS = Object.fromEntries(
  Object.entries(PAIR_METRICS).map(([name, { column }]): [string, ColumnKind] => [name, column]),
) as MetricColumns

/** The columns that the sweep writes. Grain: one row per entity and question, each given by its number. */
export const PAIR_COLUMNS = {
  question: 'int32',
  entity: 'int32',
  ...METRIC_COLUMNS,
} as const satisfies ColumnKinds

/** The columns that an entity is scored from. Grain: one row per entity and question. `outcome` is 1 for yes, 0 for no. */
export const SCORED_COLUMNS = {
  entity: 'int32',
  outcome: 'int32',
  ...METRIC_COLUMNS,
} as const satisfies ColumnKinds

/** The questions of one entity, in the order (resolved_at, question_id). */
export type EntityPairs = Block<typeof SCORED_COLUMNS>

export const NO_PAIRS: EntityPairs = { rowCount: 0, columns: newColumns(SCORED_COLUMNS, 0) }

type SummedName = {
  [Name in PairMetricName]: (typeof PAIR_METRICS)[Name]['sum'] extends 'none' ? never : Name
}[PairMetricName]

/** The sum of each metric that has one, in the units of its column, and the number of questions in the sum. */
export type PairSums = Readonly<Record<SummedName, { total: number; questions: number }>>

/** Sums every metric as the catalogue says. Sums of integers are exact, so their order changes no bit. */
export function sumPairs({ rowCount, columns }: EntityPairs): PairSums {
  const sums: Partial<Record<PairMetricName, PairSums[SummedName]>> = {}
  for (const [name, { sum }] of Object.entries(PAIR_METRICS) as [PairMetricName, { sum: string }][]) {
    if (sum === 'none') continue
    const values = sum === 'weighted' ? weighted(columns, name, rowCount) : columns[name]
    const total = new ExactSum()
    let questions = 0
    for (let row = 0; row < rowCount; row++) {
      const value = values[row]!
      if (sum === 'present' && value < 0) continue
      total.add(value)
      questions += 1
    }
    sums[name] = { total: total.value(), questions }
  }
  return sums as PairSums
}

/** Coverage times a metric, as integers of 1e-12. */
export function weighted(
  columns: Columns<typeof SCORED_COLUMNS>,
  name: PairMetricName,
  rowCount: number,
): Float64Array {
  const products = new Float64Array(rowCount)
  for (let row = 0; row < rowCount; row++) {
    products[row] = roundHalfEven((columns.coverage[row]! / PICO) * columns[name][row]!)
  }
  return products
}
