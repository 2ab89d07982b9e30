// The columns of a table in SQL.
import { type ColumnType, type TableName, type TableSpec, tableSpec } from '../../schemas/tables.ts'

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

/** The SQL of an instant as JSON has it, such as 2026-01-31T12:00:00.000Z. */
export const instantText = (time: string) => `strftime(${time} AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ')`

/** A query with the columns of a table and no row. */
export function noRows(table: TableName): string {
  const { columns } = tableSpec(table)
  return `SELECT ${columns.map(({ name, type }) => `NULL::${SQL_TYPES[type]} AS ${name}`).join(', ')} WHERE false`
}
