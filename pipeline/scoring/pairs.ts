// Pairs of an entity and a question, as columns of integers, and the exact sums over an entity's questions.
import { type Block, type ColumnKind, type ColumnKinds, newColumns } from '../../schemas/columns.ts'
import { PAIR_METRICS, type PairMetricName } from '../../schemas/metrics.ts'
import { exactSum } from './exact-sum.ts'
import type { ClosingForecasts } from './calibration.ts'
import { PICO, ratio, roundHalfEven } from './round.ts'
import type { ClusteredErrors, References } from './skill.ts'
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
 * 0 for no; `settled` is 1 if the question is; `cluster` is the number of the question's cluster, `category`
 * that of its category, −1 without one; `standard` is the standard reference in whole 1e-9, and
 * `standard_other` that of the other outcome, −1 where the pair is not contested.
 */
export const SCORED_COLUMNS = {
  entity: 'int32',
  outcome: 'int32',
  settled: 'int32',
  cluster: 'int32',
  category: 'int32',
  standard: 'double',
  standard_other: 'double',
  ...METRIC_COLUMNS,
} as const satisfies ColumnKinds

/**
 * The questions of one entity, in the order (settled_at, question_id), so that the settled ones come first.
 */
export type EntityPairs = Block<typeof SCORED_COLUMNS>

export const NO_PAIRS: EntityPairs = { rowCount: 0, columns: newColumns(SCORED_COLUMNS, 0) }

/**
 * The pairs whose questions are settled. They come first, because no other question is settled by `as_of`.
 */
export function settledPairs({ rowCount, columns }: EntityPairs): EntityPairs {
  let count = 0
  while (count < rowCount && columns.settled[count] === 1) count += 1
  return { rowCount: count, columns }
}

/** The columns that skills and means are made of. */
export type SkillPairs = Block<
  Pick<
    typeof SCORED_COLUMNS,
    | 'cluster'
    | 'standard'
    | 'standard_other'
    | 'coverage'
    | 'brier_part'
    | 'brier_other'
    | 'reference_part'
    | 'reference_other'
    | 'crowd_part'
    | 'crowd_other'
  >
>

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

/** The contested pairs of an entity, in their order. */
export interface ContestedPairs extends ClusteredErrors {
  /**
   * A middle field in the others' place, the same but never above the others, and a copy of their average.
   */
  standard: References
  strict: References
  crowd: References
  /** The mean share of the questions' time that was covered; null without one. */
  coverage: number | null
}

export function contestedPairs({ rowCount, columns }: SkillPairs): ContestedPairs {
  const rows: number[] = []
  for (let row = 0; row < rowCount; row++) if (columns.standard[row]! >= 0) rows.push(row)
  const values = (column: ArrayLike<number>) => valuesAt(rows, column, (value) => value)
  const nano = (column: ArrayLike<number>) => valuesAt(rows, column, nanoOf)
  const numbers = new Map<number, number>()
  const cluster = Int32Array.from(rows, (row) => {
    const name = columns.cluster[row]!
    if (!numbers.has(name)) numbers.set(name, numbers.size)
    return numbers.get(name)!
  })
  const standard = {
    reference: values(columns.standard),
    other: values(columns.standard_other),
  }
  const others = { reference: nano(columns.reference_part), other: nano(columns.reference_other) }
  const least = (a: Float64Array, b: Float64Array) => a.map((value, row) => Math.min(value, b[row]!))
  return {
    own: nano(columns.brier_part),
    ownOther: nano(columns.brier_other),
    standard,
    strict: {
      reference: least(standard.reference, others.reference),
      other: least(standard.other, others.other),
    },
    crowd: { reference: nano(columns.crowd_part), other: nano(columns.crowd_other) },
    cluster,
    clusters: numbers.size,
    coverage: ratio(exactSum(values(columns.coverage)) / PICO, rows.length),
  }
}

/** The loop takes a tenth of the time of `Float64Array.from` with a function. */
function valuesAt(
  rows: readonly number[],
  column: ArrayLike<number>,
  of: (value: number) => number,
): Float64Array {
  const values = new Float64Array(rows.length)
  for (let at = 0; at < rows.length; at++) values[at] = of(column[rows[at]!]!)
  return values
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
