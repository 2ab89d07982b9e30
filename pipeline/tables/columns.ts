// The columns of a table in SQL.
import type { ColumnType, TableSpec } from '../../schemas/tables.ts'

export const SQL_TYPES: Record<ColumnType, string> = {
  uuid: 'VARCHAR',
  text: 'VARCHAR',
  prose: 'VARCHAR',
  probability: 'DOUBLE',
  count: 'BIGINT',
  day: 'DATE',
  time: 'TIMESTAMPTZ',
}

export function columnsOf({ columns }: TableSpec): string {
  return columns.map(({ name }) => name).join(', ')
}
