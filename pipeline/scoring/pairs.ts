// Pairs of an entity and a question, as columns of integers, and the exact sums over an entity's questions.
import { type Block, type ColumnKind, type ColumnKinds, newColumns } from '../../schemas/columns.ts'
import { PAIR_METRICS, type PairMetricName } from '../../schemas/metrics.ts'
import { exactSum } from './exact-sum.ts'
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

type NameSummed<How extends string> = {
  [Name in PairMetricName]: (typeof PAIR_METRICS)[Name]['sum'] extends How ? Name : never
}[PairMetricName]
type WeightedName = NameSummed<'weighted'>
const PLAIN = namesSummed('plain')
const WEIGHTED = namesSummed('weighted')
const PRESENT = namesSummed('present')

/** The sum of each metric that has one, in the units of its column, and the number of questions in the sum. */
export type PairSums = Readonly<
  Record<NameSummed<'plain' | 'weighted' | 'present'>, { total: number; questions: number }>
>

/** Coverage times each metric that is summed so, in whole numbers of 1e-12. */
export type WeightedColumns = Record<WeightedName, Float64Array>

export function weightedColumns({ rowCount, columns }: EntityPairs): WeightedColumns {
  const weights = columns.coverage.subarray(0, rowCount).map((coverage) => coverage / PICO)
  const products = WEIGHTED.map((name) => {
    const values = columns[name]
    return [name, weights.map((weight, row) => roundHalfEven(weight * values[row]!))]
  })
  return Object.fromEntries(products) as WeightedColumns
}

/** Sums every metric as the catalogue says. Sums of whole numbers are exact, so their order changes no bit. */
export function sumPairs({ rowCount, columns }: EntityPairs, weighted: WeightedColumns): PairSums {
  const sumOf = (values: Float64Array | Int32Array) => ({ total: exactSum(values), questions: values.length })
  const own = (name: PairMetricName) => columns[name].subarray(0, rowCount)
  const sums = [
    ...PLAIN.map((name) => [name, sumOf(own(name))]),
    ...WEIGHTED.map((name) => [name, sumOf(weighted[name])]),
    ...PRESENT.map((name) => [name, sumOf(own(name).filter((value) => value >= 0))]),
  ]
  return Object.fromEntries(sums) as PairSums
}

function namesSummed<How extends string>(how: How): NameSummed<How>[] {
  const names = Object.keys(PAIR_METRICS) as PairMetricName[]
  return names.filter((name): name is NameSummed<How> => PAIR_METRICS[name].sum === how)
}
