// DuckDB's views of the tables: one of every row, and one of the current row of each subject.
import { SCORED_TABLES, type ScoredTable, type TableName, tableSpec } from '../../schemas/tables.ts'
import { type Database, parquet } from '../duckdb.ts'
import type { LocalFiles } from '../store/local-files.ts'
import { noRows } from './columns.ts'
import { localRows } from './local-rows.ts'
import type { TableVersion } from './delta.ts'
import { counts } from './left-out.ts'

/** The entity, question or event that a row is about. A later row about the same subject replaces it. */
export const SUBJECT = {
  questions: 'question_id',
  events: 'event_id',
  resolutions: 'question_id',
  agents: 'agent_id',
  forecasters: 'user_id',
} as const satisfies Partial<Record<ScoredTable, string>>

/** Whether a later row of the table replaces an earlier one. */
export function isReplaced(table: TableName): table is keyof typeof SUBJECT {
  return table in SUBJECT
}

/**
 * Makes the view `<table>`, or one named `view`, with every counted row of a version of the table, or of its
 * data files from one number on.
 */
export async function attachTable(
  database: Database,
  local: LocalFiles,
  version: TableVersion,
  from = 0,
  view: string = version.table,
): Promise<void> {
  const paths = await localRows(database, local, version, from)
  const columns = tableSpec(version.table).columns
  const source =
    paths.length === 0
      ? noRows(version.table)
      : `SELECT ${columns.map(({ name }) => name).join(', ')} FROM ${parquet(paths)} WHERE ${counts(version)}`
  await database.run(`CREATE OR REPLACE VIEW ${view} AS ${source}`)
}

/** Returns the columns of the current rows: all but prose, which would have to be read and sorted too. */
export function currentColumns(table: TableName): string[] {
  return tableSpec(table).columns.flatMap(({ name, type }) => (type === 'prose' ? [] : [name]))
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
 * Grain: one row per subject, the one recorded last. If several were recorded at the same instant, the row
 * whose values sort last counts, so that every reader picks the same one. The rows lack the prose of the
 * table.
 */
export function currentRows(table: keyof typeof SUBJECT, rows: string): string {
  const columns = currentColumns(table)
  return `SELECT ${columns.join(', ')} FROM ${rows}
    QUALIFY row_number() OVER (PARTITION BY ${SUBJECT[table]} ORDER BY ${latestFirst(columns)}) = 1`
}

/**
 * Selects the current rows of subjects in a local data file, with their prose. `subjects` is the SQL of their
 * ids, with commas between them.
 */
export function currentRowsIn(table: keyof typeof SUBJECT, path: string, subjects: string): string {
  return currentRowsInFull(table, `(FROM ${parquet([path])} WHERE ${SUBJECT[table]} IN (${subjects}))`)
}

/** Selects the current rows, with their prose. */
export function currentRowsInFull(table: keyof typeof SUBJECT, rows: string): string {
  const prose = tableSpec(table).columns.flatMap(({ name, type }) => (type === 'prose' ? [name] : []))
  return `SELECT * FROM ${rows}
    QUALIFY row_number() OVER (PARTITION BY ${SUBJECT[table]} ORDER BY ${latestFirst([...currentColumns(table), ...prose])}) = 1`
}

/** The order of the rows of a subject, the current one first. */
function latestFirst(columns: readonly string[]): string {
  const rest = columns.filter((name) => name !== 'recorded_at')
  return ['recorded_at DESC', ...rest.map((name) => `${name} DESC NULLS LAST`)].join(', ')
}

/** The order of the rows of a subject, the current one last. */
export function latestLast(table: keyof typeof SUBJECT): string {
  const rest = currentColumns(table).filter((name) => name !== 'recorded_at')
  return ['recorded_at', ...rest.map((name) => `${name} NULLS FIRST`)].join(', ')
}

/** c, the effective close of a resolved question, from which on nothing counts. */
export const ENDS_AT = 'least(closes_at, resolved_at, known_at)'

/** The current resolutions of the questions that are resolved, without those that were withdrawn. */
export const RESOLVED = `(FROM current_resolutions WHERE outcome <> 'open')`

/** Makes the views of every table that scoring reads. */
export async function attachAll(
  database: Database,
  local: LocalFiles,
  versions: Record<ScoredTable, TableVersion>,
): Promise<void> {
  for (const name of SCORED_TABLES) {
    if (isReplaced(name)) await attachCurrent(database, local, { ...versions[name], table: name })
    else await attachTable(database, local, versions[name])
  }
}
