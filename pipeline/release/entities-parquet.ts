// The Parquet files of a release with one row per entity.
import { ByteWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer'
import { ENTITY_COLUMNS } from '../../schemas/metrics.ts'
import type { RankedEntity } from './payloads.ts'

/** Rows to a row group: the first is small, for readers that only look at the beginning. */
const FIRST_GROUP_ROWS = 1_000
const GROUP_ROWS = 100_000

const COLUMNS: readonly { name: string; type: 'STRING' | 'BOOLEAN' | 'INT32' | 'DOUBLE' }[] = [
  { name: 'entity_type', type: 'STRING' },
  { name: 'entity_id', type: 'STRING' },
  { name: 'title', type: 'STRING' },
  { name: 'name', type: 'STRING' },
  ...ENTITY_COLUMNS.map(({ name, type }) => ({ name, type })),
]

/** The entities as one file. Only a row group of them is held as rows at a time. */
export function entitiesParquet(entities: Iterable<RankedEntity>): Uint8Array {
  const bytes = new ByteWriter()
  const schema = schemaFromColumnData({ columnData: COLUMNS.map((column) => ({ ...column, data: [] })) })
  const file = new ParquetWriter({ writer: bytes, schema, createdBy: 'forecast-verification-service' })
  let rows: unknown[][] = []
  let groupRows = FIRST_GROUP_ROWS
  const flush = () => {
    const columnData = COLUMNS.map(({ name }, index) => ({ name, data: rows.map((row) => row[index]) }))
    // Into memory it writes at once.
    void file.write({ columnData, rowGroupSize: groupRows })
    rows = []
    groupRows = GROUP_ROWS
  }
  for (const entity of entities) {
    rows.push(rowOf(entity))
    if (rows.length === groupRows) flush()
  }
  if (rows.length > 0) flush()
  void file.finish()
  return new Uint8Array(bytes.getBuffer())
}

function rowOf(entity: RankedEntity): unknown[] {
  const values = ENTITY_COLUMNS.map(({ metric, field }) => {
    const value = entity.metrics[metric]
    return field === undefined ? value : ((value as Record<string, number> | null)?.[field] ?? null)
  })
  return [entity.entityType, entity.entityId, Object.values(entity.award)[0], entity.name, ...values]
}
