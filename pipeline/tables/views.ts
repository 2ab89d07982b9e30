// DuckDB's views of the tables: one of every row, and one of the current row of each subject.
import { SCORED_TABLES, type ScoredTable, type TableName, tableSpec } from '../../schemas/tables.ts'
import { type Database, parquet } from '../duckdb.ts'
import type { LocalFiles } from '../store/local-files.ts'
import { SQL_TYPES } from './columns.ts'
import { localRows } from './local-rows.ts'
import type { TableVersion } from './delta.ts'

/** The entity or question that a row is about. A later row about the same subject replaces it. */
const SUBJECT = {
  questions: 'question_id',
  resolutions: 'question_id',
  agents: 'agent_id',
  forecasters: 'user_id',
} as const satisfies Partial<Record<ScoredTable, string>>

/** Whether a later row of the table replaces an earlier one. */
export function isReplaced(table: TableName): boolean {
  return table in SUBJECT
}

/** Makes the view `<table>` with every row of a version of the table. */
async function attachTable(database: Database, local: LocalFiles, version: TableVersion): Promise<void> {
  const paths = await localRows(database, local, version)
  const columns = tableSpec(version.table).columns
  const empty = columns.map(({ name, type }) => `NULL::${SQL_TYPES[type]} AS ${name}`).join(', ')
  const source =
    paths.length === 0
      ? `SELECT ${empty} WHERE false`
      : `SELECT ${columns.map(({ name }) => name).join(', ')} FROM ${parquet(paths)}`
  await database.run(`CREATE OR REPLACE VIEW ${version.table} AS ${source}`)
}

/** Makes the view `<table>` and the view `current_<table>` of its `currentRows`. */
export async function attachCurrent(
  database: Database,
  local: LocalFiles,
  version: TableVersion & { table: keyof typeof SUBJECT },
): Promise<void> {
  const { table } = version
  await attachTable(database, local, version)
  await database.run(`CREATE OR REPLACE VIEW current_${table} AS ${currentRows(table, table)}`)
}

/**
 * Grain: one row per subject of the rows of a table, the one recorded last. Of several recorded at the same instant it is
 * the one whose values sort last, so that every reader picks the same row.
 */
export function currentRows(table: keyof typeof SUBJECT, rows: string): string {
  const columns = tableSpec(table).columns.filter(({ name }) => name !== 'recorded_at')
  const order = ['recorded_at DESC', ...columns.map(({ name }) => `${name} DESC NULLS LAST`)].join(', ')
  return `SELECT * FROM ${rows}
    QUALIFY row_number() OVER (PARTITION BY ${SUBJECT[table]} ORDER BY ${order}) = 1`
}

/** Makes the views of every table that scoring reads. */
export async function attachAll(
  database: Database,
  local: LocalFiles,
  versions: Record<ScoredTable, TableVersion>,
): Promise<void> {
  for (const name of SCORED_TABLES) {
    if (name === 'forecasts') await attachTable(database, local, versions[name])
    else await attachCurrent(database, local, { ...versions[name], table: name })
  }
}
