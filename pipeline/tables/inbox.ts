// The inbox: acknowledged rows that no table has taken in yet, one Parquet object per write.
import { type SchemaElement, parquetWriteBuffer } from 'hyparquet-writer'
import { type ColumnType, type Row, type TableName, tableSpec } from '../../schemas/tables.ts'
import { inboxHash } from '../store/paths.ts'
import type { LocalFiles, LocalOptions } from '../store/local-files.ts'
import { orUnreadable, unreadable } from './quarantine.ts'

const PARQUET_TYPES = {
  uuid: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  prose: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  probability: { type: 'DOUBLE' },
  count: { type: 'INT64' },
  day: { type: 'INT32', converted_type: 'DATE' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
} as const satisfies Record<ColumnType, Partial<SchemaElement>>

/** Encodes rows of a table as one Parquet object. */
export function encodeRows(table: TableName, rows: readonly Row[]): Uint8Array {
  const { columns } = tableSpec(table)
  const elements = columns.map(({ name, type, nullable }): SchemaElement => {
    return { name, repetition_type: nullable ? 'OPTIONAL' : 'REQUIRED', ...PARQUET_TYPES[type] }
  })
  const buffer = parquetWriteBuffer({
    schema: [{ name: 'root', num_children: columns.length }, ...elements],
    columnData: columns.map(({ name, type }) => ({
      name,
      data: rows.map((row) => encoded(type, row[name] ?? null)),
    })),
  })
  return new Uint8Array(buffer)
}

/**
 * The local file of an inbox object, checked against the hash in its path.
 *
 * @throws ServiceError `notFound` if there is no such object, `corrupt` if its path has no hash or another content's.
 */
export async function localInbox(
  local: LocalFiles,
  path: string,
  options: LocalOptions = {},
): Promise<string> {
  const sha256 = inboxHash(path)
  if (sha256 === undefined) {
    throw unreadable(path, `${path} is not an inbox object of this service: its name has no hash`)
  }
  return orUnreadable(path, local.path(path, { sha256 }, options))
}

/** Converts a value to the type that the Parquet writer expects for its column. */
function encoded(type: ColumnType, value: Row[string]): Row[string] | bigint {
  if (value === null) return null
  if (type === 'count') return BigInt(value as number)
  return type === 'day' ? new Date(`${value as string}T00:00:00.000Z`) : value
}
