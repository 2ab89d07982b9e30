// Compares two states of the tables of questions and outcomes: each row recorded in between, beside the row
// before it.
import type { UndoneImport } from '../../schemas/manifests.ts'
import { type CorrectedColumn, SCORING_COLUMNS } from '../../schemas/tables.ts'
import { type Database, literal } from '../duckdb.ts'
import type { LocalFiles } from '../store/local-files.ts'
import { instantText } from './columns.ts'
import { firstFileAfter } from './delta-log.ts'
import type { TableVersion, TablesRead } from './delta.ts'
import { isAmong } from './import-id.ts'
import { everSaid, undoneIn, without } from './left-out.ts'
import { attachTable, currentColumns, currentRows, latestLast } from './views.ts'

/** The columns whose changes are corrections, and a part of a question's history. */
const CORRECTED = {
  questions: SCORING_COLUMNS,
  resolutions: ['outcome', 'resolved_at'],
} as const satisfies Record<string, readonly CorrectedColumn[]>
export type ChangedTable = keyof typeof CORRECTED
export const CHANGED_TABLES = ['questions', 'resolutions'] as const satisfies readonly ChangedTable[]
export type ChangedVersions = Readonly<Record<ChangedTable, TableVersion>>

/**
 * Makes two views for each table. `row_of_<table>` has every row ever recorded, those of undone imports too.
 * `news_<table>` has the rows recorded after a state, or all of them.
 */
export async function attachCompared(
  database: Database,
  local: LocalFiles,
  versions: ChangedVersions,
  since?: TablesRead,
): Promise<void> {
  for (const table of CHANGED_TABLES) {
    const version = { ...versions[table], table }
    await attachRows(database, local, version, `row_of_${table}`)
    if (since) await attachRows(database, local, version, `news_${table}`, since)
    else await database.run(`CREATE OR REPLACE VIEW news_${table} AS FROM row_of_${table}`)
  }
}

/**
 * The rows have the columns of current rows, and `is_gone`. Each undoing adds rows with the state before the
 * import; a row is gone if there was no such state.
 */
async function attachRows(
  database: Database,
  local: LocalFiles,
  table: TableVersion & { table: ChangedTable },
  view: string,
  { tables, undone_imports = [] }: TablesRead = { tables: {} },
): Promise<void> {
  const files = everSaid(table)
  const from = firstFileAfter({ files }, tables[table.table])
  await attachTable(database, local, { ...table, files }, from, `${view}_rows`)
  const queries = [`SELECT ${currentColumns(table.table).join(', ')}, false AS is_gone FROM ${view}_rows`]
  for (const { by, files: gone } of undoneIn(table)) {
    if (isAmong(undone_imports, by)) continue
    const names = { gone: `${view}_gone_${by.version}`, before: `${view}_before_${by.version}` }
    await attachTable(database, local, { ...table, files: gone }, 0, names.gone)
    await attachTable(database, local, before(table, by), 0, names.before)
    queries.push(...restored(table.table, by, names))
  }
  await database.run(`CREATE OR REPLACE VIEW ${view} AS ${queries.join(' UNION ALL ')}`)
}

/** Returns a table as it was before an import, without the imports that were undone before this one. */
function before(table: TableVersion, by: UndoneImport): TableVersion {
  const wasUndone = ({ undone_at, version }: UndoneImport) =>
    undone_at < by.undone_at || (undone_at === by.undone_at && version > by.version)
  const files = everSaid(table).filter(({ version }) => version < by.version)
  const undone = undoneIn(table).map((one) => one.by)
  return without(
    { table: table.table, version: by.version - 1, files },
    { undone_imports: undone.filter(wasUndone) },
  )
}

/** Without an earlier row, an outcome is withdrawn, and a question is gone. */
function restored(table: ChangedTable, by: UndoneImport, names: { gone: string; before: string }): string[] {
  const at = `${literal(by.undone_at)}::TIMESTAMPTZ`
  const again: Record<string, string> = { recorded_at: at, reason: literal(by.reason), is_gone: 'false' }
  const select = (values: Record<string, string>) =>
    [...currentColumns(table), 'is_gone'].map((name) => `${values[name] ?? name} AS ${name}`).join(', ')
  const first = table === 'questions' ? { is_gone: 'true' } : { outcome: `'open'`, resolved_at: at }
  return [
    `SELECT ${select(again)} FROM (${currentRows(table, names.before)}) SEMI JOIN ${names.gone} USING (question_id)`,
    `SELECT ${select({ ...again, ...first })} FROM (${currentRows(table, names.gone)})
     ANTI JOIN ${names.before} USING (question_id)`,
  ]
}

/** The text of a column. A withdrawn resolution has no time at which an outcome became known. */
function columnText(column: string): string {
  if (column === 'resolved_at') return `if(outcome = 'open', NULL, ${instantText(column)})`
  return column.endsWith('_at') ? instantText(column) : column
}

/**
 * Selects rows of a table, each beside the one before it. `rows` must hold all rows of a question. `texts`
 * and `earlier` list the texts of the columns, and `earlier` is NULL in the first row of a question. `nth`
 * orders the rows of a question that were recorded at the same time.
 */
function inTurn(table: ChangedTable, columns: readonly string[], rows: string): string {
  return `SELECT question_id, recorded_at, reason, is_gone, texts, lag(texts) OVER each AS earlier,
      coalesce(lag(is_gone) OVER each, true) AS was_gone, [${CHANGED_TABLES.indexOf(table)}, row_number() OVER each] AS nth
    FROM (SELECT *, [${columns.map(columnText).join(', ')}] AS texts FROM ${rows})
    WINDOW each AS (PARTITION BY question_id ORDER BY ${latestLast(table)})`
}

/** Selects the rows of `news_<table>` in the form of `inTurn`; only those of `questions` if given. */
export function newsInTurn(
  table: ChangedTable,
  columns: readonly string[],
  questions = `FROM news_${table}`,
): string {
  const rows = `(FROM row_of_${table} SEMI JOIN (${questions}) USING (question_id))`
  return `FROM (${inTurn(table, columns, rows)}) SEMI JOIN news_${table} USING (question_id, recorded_at)`
}

/**
 * Selects the changes among the news, or all changes of one question. The first row of a question changes
 * nothing. Grain: one row per corrected column that a row changes.
 */
export function changes(questionId?: string): string {
  const queries = CHANGED_TABLES.map((table) => {
    const columns = CORRECTED[table]
    const rows =
      questionId === undefined
        ? newsInTurn(
            table,
            columns,
            questionsOfSeveralRows(`row_of_${table} SEMI JOIN news_${table} USING (question_id)`),
          )
        : inTurn(table, columns, `(FROM row_of_${table} WHERE question_id = ${literal(questionId)})`)
    return `SELECT question_id, recorded_at, reason, nth, unnest(range(${columns.length})) AS place,
        unnest([${columns.map(literal).join(', ')}]) AS "column", unnest(earlier) AS "from", unnest(texts) AS "to"
      FROM (${rows}) WHERE earlier IS NOT NULL`
  })
  return `SELECT question_id, "column", "from", "to", recorded_at, reason, list_append(nth, place) AS nth
    FROM (${queries.join(' UNION ALL ')}) WHERE "from" IS DISTINCT FROM "to"`
}

/** The order in which the changes were recorded, question by question. */
export const CHANGES_IN_ORDER = 'ORDER BY question_id, recorded_at, nth'

/** Selects the ids of the questions with more than one row in `rows`. */
export function questionsOfSeveralRows(rows: string): string {
  return `SELECT question_id FROM ${rows} GROUP BY question_id HAVING count(*) > 1`
}
