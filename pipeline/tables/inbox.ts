// The inbox: rows that have been acknowledged and that no table has taken in yet, one Parquet object per write.
import { parquetWriteBuffer } from 'hyparquet-writer'
import { type ColumnType, type Row, type TableName, tableSpec } from '../../schemas/tables.ts'

const PARQUET_TYPES = {
  uuid: 'STRING',
  text: 'STRING',
  probability: 'DOUBLE',
  time: 'TIMESTAMP',
} as const satisfies Record<ColumnType, string>

/** Rows of a table as one Parquet object. */
export function encodeRows(table: TableName, rows: readonly Row[]): Uint8Array {
  const buffer = parquetWriteBuffer({
    columnData: tableSpec(table).columns.map(({ name, type, nullable }) => ({
      name,
      type: PARQUET_TYPES[type],
      data: rows.map((row) => row[name] ?? null),
      nullable,
    })),
  })
  return new Uint8Array(buffer)
}
