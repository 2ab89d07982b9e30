// The columns of a table in SQL.
import { type ColumnType, type TableName, type TableSpec, tableSpec } from '../../schemas/tables.ts'
import { parquet } from '../duckdb.ts'

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

/**
 * The table expression of the rows in local files of a table, each with its `filename`. A file of an earlier
 * version of the service may lack a later column, which is null then, and have columns that were dropped.
 */
export function rowsIn(table: TableName, paths: readonly string[]): string {
  const { columns, dropped = [] } = tableSpec(table)
  const isGrown = columns.some(({ later }) => later === 'column')
  if (!isGrown) return parquet(paths, dropped.length > 0)
  return `(${noRows(table)} UNION ALL BY NAME SELECT *, filename FROM ${parquet(paths, true)})`
}
