// The Parquet files of a release with one row per entity.
import { ENTITIES_COMMENTS } from '../../schemas/column-comments.ts'
import { ENTITY_COLUMNS } from '../../schemas/metrics.ts'
import type { OfRelease } from '../engine/scores-file.ts'
import type { RankedEntity } from './payloads.ts'
import { type ParquetColumn, ParquetRows } from './rows-parquet.ts'

const COLUMNS: readonly ParquetColumn[] = [
  { name: 'release', type: 'INT32' },
  { name: 'as_of', type: 'INSTANT' },
  { name: 'entity_type', type: 'STRING' },
  { name: 'entity_id', type: 'STRING' },
  { name: 'award', type: 'STRING' },
  { name: 'name', type: 'STRING' },
  ...ENTITY_COLUMNS.map(({ name, type }) => ({ name, type })),
]

/** Returns the entities of a release as one file. */
export function entitiesParquet(entities: Iterable<RankedEntity>, of: OfRelease): Uint8Array {
  const file = new EntitiesFile(of)
  for (const entity of entities) file.add(entity)
  return file.finish()
}

/** A file under way. */
export class EntitiesFile {
  readonly #rows = new ParquetRows(COLUMNS, ENTITIES_COMMENTS)
  readonly #of: readonly [release: number, asOf: Date]

  constructor({ release, as_of }: OfRelease) {
    this.#of = [release, new Date(as_of)]
  }

  add(entity: RankedEntity): void {
    this.#rows.add([...this.#of, ...rowOf(entity)])
  }

  finish(): Uint8Array {
    return this.#rows.finish()
  }
}

function rowOf(entity: RankedEntity): unknown[] {
  const values = ENTITY_COLUMNS.map(({ metric, field }) => {
    const value = entity.metrics[metric]
    return field === undefined ? value : ((value as Record<string, number> | null)?.[field] ?? null)
  })
  return [entity.entityType, entity.entityId, Object.values(entity.award)[0], entity.name, ...values]
}
