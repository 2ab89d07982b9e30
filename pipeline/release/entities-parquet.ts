// The Parquet files of a release with one row per entity.
import { ByteWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer'
import { ENTITY_COLUMNS } from '../../schemas/metrics.ts'
import type { RankedEntity } from './payloads.ts'

/** Rows in a row group. The first is small for readers that only look at the beginning. */
const FIRST_GROUP_ROWS = 1_000
const GROUP_ROWS = 100_000

const COLUMNS: readonly { name: string; type: 'STRING' | 'BOOLEAN' | 'INT32' | 'DOUBLE' }[] = [
  { name: 'entity_type', type: 'STRING' },
  { name: 'entity_id', type: 'STRING' },
  { name: 'award', type: 'STRING' },
  { name: 'name', type: 'STRING' },
  ...ENTITY_COLUMNS.map(({ name, type }) => ({ name, type })),
]

/** Returns the entities as one file. */
export function entitiesParquet(entities: Iterable<RankedEntity>): Uint8Array {
  const file = new EntitiesFile()
  for (const entity of entities) file.add(entity)
  return file.finish()
}

/** A file under way. It holds only one row group of entities as rows at a time. */
export class EntitiesFile {
  readonly #bytes = new ByteWriter()
  readonly #file: ParquetWriter
  #rows: unknown[][] = []
  #groupRows = FIRST_GROUP_ROWS

  constructor() {
    const schema = schemaFromColumnData({ columnData: COLUMNS.map((column) => ({ ...column, data: [] })) })
    this.#file = new ParquetWriter({
      writer: this.#bytes,
      schema,
      createdBy: 'forecast-verification-service',
    })
  }

  add(entity: RankedEntity): void {
    this.#rows.push(rowOf(entity))
    if (this.#rows.length === this.#groupRows) this.#flush()
  }

  finish(): Uint8Array {
    if (this.#rows.length > 0) this.#flush()
    void this.#file.finish()
    return new Uint8Array(this.#bytes.getBuffer())
  }

  #flush(): void {
    const rows = this.#rows
    const columnData = COLUMNS.map(({ name }, index) => ({ name, data: rows.map((row) => row[index]) }))
    // A write to memory is complete when it returns, so nothing awaits it.
    void this.#file.write({ columnData, rowGroupSize: this.#groupRows })
    this.#rows = []
    this.#groupRows = GROUP_ROWS
  }
}

function rowOf(entity: RankedEntity): unknown[] {
  const values = ENTITY_COLUMNS.map(({ metric, field }) => {
    const value = entity.metrics[metric]
    return field === undefined ? value : ((value as Record<string, number> | null)?.[field] ?? null)
  })
  return [entity.entityType, entity.entityId, Object.values(entity.award)[0], entity.name, ...values]
}
