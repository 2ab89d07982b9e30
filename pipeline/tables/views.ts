// Views of the tables, one of each as it is and one of each as it stands now.
import { type ColumnType, SCORED_TABLES, type ScoredTable, tableSpec } from '../../schemas/tables.ts'
import { type Database, parquet } from '../duckdb.ts'
import type { LocalFiles } from '../store/local-files.ts'
import { type TableVersion, localPaths } from './delta-log.ts'

export const SQL_TYPES: Record<ColumnType, string> = {
  uuid: 'VARCHAR',
  text: 'VARCHAR',
  probability: 'DOUBLE',
  count: 'BIGINT',
  day: 'DATE',
  time: 'TIMESTAMPTZ',
}

/** What a later row replaces: the entity or question that it speaks of. */
const SUBJECT = {
  questions: 'question_id',
  resolutions: 'question_id',
  agents: 'agent_id',
  forecasters: 'user_id',
} as const satisfies Partial<Record<ScoredTable, string>>

/** Makes the view `<table>` of a table's version: every row ever written. */
async function attachTable(database: Database, local: LocalFiles, version: TableVersion): Promise<void> {
  const paths = await localPaths(local, version)
  const columns = tableSpec(version.table).columns
  const empty = columns.map(({ name, type }) => `NULL::${SQL_TYPES[type]} AS ${name}`).join(', ')
  const source =
    paths.length === 0
      ? `SELECT ${empty} WHERE false`
      : `SELECT ${columns.map(({ name }) => name).join(', ')} FROM ${parquet(paths)}`
  await database.run(`CREATE OR REPLACE VIEW ${version.table} AS ${source}`)
}

/**
 * Makes, beside the view of a table, the view `current_<table>`. Grain: one row per subject, the one recorded
 * last; of several in the same instant the one whose values sort last, so that every reader picks the same.
 */
export async function attachCurrent(
  database: Database,
  local: LocalFiles,
  version: TableVersion & { table: keyof typeof SUBJECT },
): Promise<void> {
  await attachTable(database, local, version)
  const columns = tableSpec(version.table).columns.filter(({ name }) => name !== 'recorded_at')
  const order = ['recorded_at DESC', ...columns.map(({ name }) => `${name} DESC NULLS LAST`)].join(', ')
  await database.run(
    `CREATE OR REPLACE VIEW current_${version.table} AS SELECT * FROM ${version.table}
     QUALIFY row_number() OVER (PARTITION BY ${SUBJECT[version.table]} ORDER BY ${order}) = 1`,
  )
}

/** All tables that scores are made of, and their current views. */
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
