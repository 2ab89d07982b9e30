// The description of a metric: its meaning, its form in memory, and the payloads and columns that hold it.
import { z } from 'zod'
import type { ColumnKind } from './columns.ts'

/** The payloads that a release publishes for each entity. */
export const PUBLICATIONS = ['verification', 'metrics', 'rankings', 'advanced_metrics'] as const
export type PublicationKind = (typeof PUBLICATIONS)[number]

export interface Meaning {
  unit: string
  /** The least and the greatest value; null if there is no limit. */
  range: readonly [least: number | null, greatest: number | null]
  /** Which values are better. */
  better: 'higher' | 'lower' | 'neither'
  about: string
}

/** The unit of the integers that hold a metric of a pair: 1, one millionth, or 1e-12. Integers make its sums exact. */
export type Scale = 'count' | 'ppm' | 'pico'
export const UNITS_OF_SCALE: Record<Scale, number> = { count: 1, ppm: 1e6, pico: 1e12 }

/** A metric of one entity on one question. */
export interface PairMetric extends Meaning {
  readonly scale: Scale
  readonly column: ColumnKind
  /** Whether it is a column of a release's scores. */
  readonly published: boolean
  /**
   * How it is summed over an entity's questions: as it is (`plain`), times the coverage (`weighted`), only over the
   * questions that have it, since −1 means none (`present`), or not at all.
   */
  readonly sum: 'plain' | 'weighted' | 'present' | 'none'
}

export type ParquetType = 'BOOLEAN' | 'INT32' | 'DOUBLE'
export type Publications = readonly PublicationKind[]

/** A metric of one entity: a number, or a group of numbers that belong together. */
export interface EntityMetric<S extends z.ZodType, P extends Publications> extends Meaning {
  readonly schema: S
  /** The payloads that hold it. */
  readonly publications: P
  /** Its columns in the Parquet files of entities. Each column of a group names the field that it holds. */
  readonly columns:
    Readonly<Record<string, Meaning & { type: ParquetType; field?: string }>> | ParquetType | null
}

export function entityMetric<S extends z.ZodType, const P extends Publications>(
  schema: S,
  publications: P,
  columns: EntityMetric<S, P>['columns'],
  meaning: Meaning,
): EntityMetric<S, P> {
  return { schema: schema.describe(meaning.about), publications, columns, ...meaning }
}

export const count = z.number().int().min(0)

export function within([least, greatest]: Meaning['range']): z.ZodNumber {
  const above = least === null ? z.number() : z.number().min(least)
  return greatest === null ? above : above.max(greatest)
}

export function flag<const P extends Publications>(publications: P, about: string) {
  const meaning = { unit: 'yes or no', range: [null, null], better: 'neither', about } as const
  return entityMetric(z.boolean(), publications, 'BOOLEAN', meaning)
}

export function counted<const P extends Publications>(
  publications: P,
  unit: string,
  about: string,
  column = true,
) {
  const meaning = { unit, range: [0, null], better: 'neither', about } as const
  return entityMetric(count, publications, column ? 'INT32' : null, meaning)
}

export function measured<const P extends Publications>(publications: P, meaning: Meaning) {
  return entityMetric(within(meaning.range), publications, 'DOUBLE', meaning)
}

export function measuredOrNull<const P extends Publications>(publications: P, meaning: Meaning) {
  return entityMetric(within(meaning.range).nullable(), publications, 'DOUBLE', meaning)
}
