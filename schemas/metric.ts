// Describes metrics: the meaning of each, its form in memory, and its payloads and columns.
import { z } from 'zod'
import type { ColumnKind } from './columns.ts'

/** The published payloads of an entity with metrics. */
export const PUBLICATIONS = ['verification', 'metrics', 'rankings', 'advanced_metrics'] as const
export type PublicationKind = (typeof PUBLICATIONS)[number]

export interface Measure {
  readonly unit: string
  /** The least and the greatest value; null: no limit. */
  readonly range: readonly [least: number | null, greatest: number | null]
  /** Which values are better. */
  readonly better: 'higher' | 'lower' | 'neither'
}

export function measure(
  unit: string,
  least: number | null,
  greatest: number | null,
  better: Measure['better'] = 'neither',
): Measure {
  return { unit, range: [least, greatest], better }
}

/**
 * The forms of a pair's numbers in memory. They make sums exact: a count, whole parts per million, a sum of
 * those, or whole parts of 1e-9 or 1e-12. Milliseconds are instants.
 */
const SCALES = {
  count: { column: 'int32', per: 1 },
  ppm: { column: 'int32', per: 1e6 },
  mass: { column: 'double', per: 1e6 },
  nano: { column: 'double', per: 1 },
  pico: { column: 'double', per: 1e12 },
  instant: { column: 'double', per: 1 },
} as const satisfies Record<string, { column: ColumnKind; per: number }>
type Scale = keyof typeof SCALES

/** Whether a metric of pairs is summed over the questions of an entity. */
type Sum = 'plain' | 'none'

/** Describes a number of one entity on one question. */
export function pairMetric<S extends Scale, const A extends Sum, const P extends boolean = true>(
  scale: S,
  sum: A,
  meaning: Measure,
  about: string,
  published = true as P,
) {
  const { column, per } = SCALES[scale]
  return { ...meaning, about, sum, column: column as (typeof SCALES)[S]['column'], per, published }
}

type ParquetType = 'BOOLEAN' | 'INT32' | 'DOUBLE' | 'STRING'
type Publications = readonly PublicationKind[]

export interface EntityColumn extends Measure {
  readonly about: string
  readonly type: ParquetType
  /** The field that the column holds, if the metric has several. */
  readonly field?: string
}

/**
 * Describes a number of an entity, or several that belong together. `columns` is the type of its column in
 * the Parquet files of entities, or a column for each of some fields, or null.
 */
export function entityMetric<S extends z.ZodType, const P extends Publications>(
  schema: S,
  publications: P,
  columns: ParquetType | Record<string, EntityColumn> | null,
  meaning: Measure,
  about: string,
  example: z.infer<S>,
) {
  return { ...meaning, about, schema: schema.describe(about), publications, columns, example }
}

/** Restricts a metric to agents. It is null for a forecaster, and missing in its payloads. */
export function agentsOnly<M extends object>(metric: M) {
  return { ...metric, only: 'agent' as const }
}

export const count = z.number().int().min(0)

export function within({ range: [least, greatest] }: Measure): z.ZodNumber {
  const above = least === null ? z.number() : z.number().min(least)
  return greatest === null ? above : above.max(greatest)
}

export function counted<const P extends Publications>(
  publications: P,
  meaning: Measure,
  about: string,
  example: number,
) {
  return entityMetric(count, publications, 'INT32', meaning, about, example)
}

export function measured<const P extends Publications>(
  publications: P,
  meaning: Measure,
  about: string,
  example: number | null,
) {
  return entityMetric(within(meaning).nullable(), publications, 'DOUBLE', meaning, about, example)
}
