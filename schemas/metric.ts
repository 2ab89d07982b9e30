// How a metric is described: what it means, how it is held, and which payloads and columns it has.
import { z } from 'zod'
import type { ColumnKind } from './columns.ts'

/** What a release publishes of each entity. */
export const PUBLICATIONS = ['verification', 'metrics', 'rankings', 'advanced_metrics'] as const
export type PublicationKind = (typeof PUBLICATIONS)[number]

export interface Meaning {
  /** What is counted or measured. */
  unit: string
  /** The least and the greatest value; null: no limit. */
  range: readonly [least: number | null, greatest: number | null]
  /** Which values are better. */
  better: 'higher' | 'lower' | 'neither'
  about: string
}

/** How a number of a pair is held, so that sums are exact: a count, whole parts per million, or whole parts of 1e-12. */
export type Scale = 'count' | 'ppm' | 'pico'
export const UNITS_OF_SCALE: Record<Scale, number> = { count: 1, ppm: 1e6, pico: 1e12 }

/** A number of one entity on one question. */
export interface PairMetric extends Meaning {
  readonly scale: Scale
  readonly column: ColumnKind
  /** Whether it is a column of the scores in a release. */
  readonly published: boolean
  /**
   * How it is added up over an entity's questions: as it is, times the coverage, or over the questions that have it
   * (−1 stands for none).
   */
  readonly sum: 'plain' | 'weighted' | 'present' | 'none'
}

export type ParquetType = 'BOOLEAN' | 'INT32' | 'DOUBLE'
export type Publications = readonly PublicationKind[]

/** A number of an entity, or a group of numbers that belong together. */
export interface EntityMetric<S extends z.ZodType, P extends Publications> extends Meaning {
  readonly schema: S
  /** The payloads that hold it. */
  readonly publications: P
  /** Its columns in the Parquet files of entities; those of a group name the field that they hold. */
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
