// Pairs of an entity and a question, as columns of integers, and the exact sums over an entity's questions.
import { type Block, type ColumnKind, type ColumnKinds, newColumns } from '../../schemas/columns.ts'
import { PAIR_METRICS, type PairMetricName } from '../../schemas/metrics.ts'
import { exactSum } from './exact-sum.ts'
import { PICO, roundHalfEven } from './round.ts'
import { nanoOf } from './strength.ts'

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

/**
 * The columns that an entity is scored from. Grain: one row per entity and question. `outcome` is 1 for yes,
 * 0 for no; `cluster` is the number of the question's cluster; `standard` is the standard reference in whole
 * 1e-9, −1 where the pair is not contested.
 */
export const SCORED_COLUMNS = {
  entity: 'int32',
  outcome: 'int32',
  cluster: 'int32',
  standard: 'double',
  ...METRIC_COLUMNS,
} as const satisfies ColumnKinds

/** The questions of one entity, in the order (resolved_at, question_id). */
export type EntityPairs = Block<typeof SCORED_COLUMNS>

export const NO_PAIRS: EntityPairs = { rowCount: 0, columns: newColumns(SCORED_COLUMNS, 0) }

/** The contested pairs of an entity, in their order: errors in whole 1e-9, and the clusters as 0, 1, 2, … */
export interface ContestedPairs {
  own: Float64Array
  standard: Float64Array
  crowd: Float64Array
  cluster: Int32Array
  /** The number of different clusters. */
  clusters: number
}

export function contestedPairs({ rowCount, columns }: EntityPairs): ContestedPairs {
  let count = 0
  for (let row = 0; row < rowCount; row++) if (columns.standard[row]! >= 0) count += 1
  const own = new Float64Array(count)
  const standard = new Float64Array(count)
  const crowd = new Float64Array(count)
  const cluster = new Int32Array(count)
  const numbers = new Map<number, number>()
  let at = 0
  for (let row = 0; row < rowCount; row++) {
    if (columns.standard[row]! < 0) continue
    own[at] = nanoOf(columns.brier_part[row]!)
    standard[at] = columns.standard[row]!
    crowd[at] = nanoOf(columns.crowd_part[row]!)
    const known = numbers.get(columns.cluster[row]!)
    if (known === undefined) numbers.set(columns.cluster[row]!, numbers.size)
    cluster[at] = known ?? numbers.size - 1
    at += 1
  }
  return { own, standard, crowd, cluster, clusters: numbers.size }
}

/**
 * The sum of a metric over an entity's questions, in the units of its column, and the number of questions in
 * it.
 */
export interface PairSum {
  total: number
  questions: number
}
type NameSummed<How extends string> = {
  [Name in PairMetricName]: (typeof PAIR_METRICS)[Name]['sum'] extends How ? Name : never
}[PairMetricName]
export type PairSums = Readonly<Record<NameSummed<'plain' | 'present'>, PairSum>>

/** Returns the values that are not −1. `filter` would take five times as long. */
function presentIn(values: Float64Array | Int32Array): Float64Array | Int32Array {
  const present = values.slice()
  let count = 0
  for (const value of values) if (value >= 0) present[count++] = value
  return present.subarray(0, count)
}

/**
 * Sums every metric as the catalogue says. Sums of whole numbers are exact, so their order changes no bit.
 */
export function sumPairs({ rowCount, columns }: EntityPairs): PairSums {
  const sumOf = (values: Float64Array | Int32Array): PairSum => ({
    total: exactSum(values),
    questions: values.length,
  })
  const sums = Object.entries(PAIR_METRICS).flatMap(([name, { sum }]) => {
    const values = columns[name as PairMetricName].subarray(0, rowCount)
    if (sum === 'none') return []
    return [[name, sumOf(sum === 'plain' ? values : presentIn(values))]]
  })
  return Object.fromEntries(sums) as PairSums
}

/** Σ coverage · log_score in 1e-12, each product rounded to a whole number. */
export function logScoreSum({ rowCount, columns: { coverage, log_score } }: EntityPairs): number {
  const products = log_score
    .subarray(0, rowCount)
    .map((score, row) => roundHalfEven((coverage[row]! / PICO) * score))
  return exactSum(products)
}
