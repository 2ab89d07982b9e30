// Compares two states of the tables of questions, events and outcomes: each row recorded in between, beside
// the row before it.
import type { UndoneImport } from '../../schemas/manifests.ts'
import { type CorrectedColumn, SCORING_COLUMNS } from '../../schemas/tables.ts'
import { type Database, literal } from '../duckdb.ts'
import type { LocalFiles } from '../store/local-files.ts'
import { instantText } from './columns.ts'
import { firstFileAfter } from './delta-log.ts'
import type { TableVersion, TablesRead } from './delta.ts'
import { isAmong } from './import-id.ts'
import { everSaid, undoneIn, without } from './left-out.ts'
import { SUBJECT, attachTable, currentColumns, currentRows, latestLast } from './views.ts'

/** The columns whose changes are corrections, and a part of a question's history. */
const CORRECTED = {
  questions: SCORING_COLUMNS,
  events: ['kind'],
  resolutions: ['outcome', 'resolved_at', 'known_at'],
} as const satisfies Record<string, readonly CorrectedColumn[]>
export type ChangedTable = keyof typeof CORRECTED
const CHANGED_TABLES = ['questions', 'events', 'resolutions'] as const satisfies readonly ChangedTable[]
/** The texts of the columns of a subject without a row; a question without one is not there at all. */
const UNSAID: Partial<Record<ChangedTable, string>> = { events: `['independent']` }
/** The tables of which each row is about one question. */
export const QUESTION_TABLES = ['questions', 'resolutions'] as const satisfies readonly ChangedTable[]
export type QuestionVersions = Readonly<Record<(typeof QUESTION_TABLES)[number], TableVersion>>
export type ChangedVersions = Readonly<Record<ChangedTable, TableVersion>>

/**
 * Makes two views for each table. `row_of_<table>` has every row ever recorded, those of undone imports too.
 * `news_<table>` has the rows recorded after a state, or all of them.
 */
export async function attachCompared(
  database: Database,
  local: LocalFiles,
  versions: QuestionVersions & Partial<ChangedVersions>,
  since?: TablesRead,
): Promise<void> {
  for (const table of CHANGED_TABLES) {
    if (versions[table] === undefined) continue
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

/** Without an earlier row, an outcome is withdrawn, and a question or an event is gone. */
function restored(table: ChangedTable, by: UndoneImport, names: { gone: string; before: string }): string[] {
  const at = `${literal(by.undone_at)}::TIMESTAMPTZ`
  const again: Record<string, string> = { recorded_at: at, reason: literal(by.reason), is_gone: 'false' }
  const select = (values: Record<string, string>) =>
    [...currentColumns(table), 'is_gone'].map((name) => `${values[name] ?? name} AS ${name}`).join(', ')
  const first = {
    questions: { is_gone: 'true' },
    events: { is_gone: 'true', kind: `'independent'` },
    resolutions: { outcome: `'open'`, resolved_at: at },
  }[table]
  return [
    `SELECT ${select(again)} FROM (${currentRows(table, names.before)}) SEMI JOIN ${names.gone} USING (${SUBJECT[table]})`,
    `SELECT ${select({ ...again, ...first })} FROM (${currentRows(table, names.gone)})
     ANTI JOIN ${names.before} USING (${SUBJECT[table]})`,
  ]
}

/** The text of a column. A withdrawn resolution has no time at which an outcome became known. */
function columnText(column: string): string {
  if (column === 'resolved_at') return `if(outcome = 'open', NULL, ${instantText(column)})`
  return column.endsWith('_at') ? instantText(column) : `${column}::VARCHAR`
}

/**
 * Selects rows of a table, each beside the one before it. `rows` must hold all rows of a subject. `texts` and
 * `earlier` list the texts of the columns, and `earlier` is NULL in the first row of a
 * question. `nth` orders
 * the rows of a subject that were recorded at the same time.
 */
function inTurn(table: ChangedTable, columns: readonly string[], rows: string): string {
  return `SELECT ${SUBJECT[table]}, recorded_at, reason, is_gone, texts, coalesce(lag(texts) OVER each, ${UNSAID[table] ?? 'NULL'}) AS earlier,
      coalesce(lag(is_gone) OVER each, true) AS was_gone, [${CHANGED_TABLES.indexOf(table)}, row_number() OVER each] AS nth
    FROM (SELECT *, [${columns.map(columnText).join(', ')}] AS texts FROM ${rows})
    WINDOW each AS (PARTITION BY ${SUBJECT[table]} ORDER BY ${latestLast(table)})`
}

/** Selects the rows of `news_<table>` in the form of `inTurn`; only those of `subjects` if given. */
export function newsInTurn(
  table: ChangedTable,
  columns: readonly string[],
  subjects = `FROM news_${table}`,
): string {
  const rows = `(FROM row_of_${table} SEMI JOIN (${subjects}) USING (${SUBJECT[table]}))`
  return `FROM (${inTurn(table, columns, rows)}) SEMI JOIN news_${table} USING (${SUBJECT[table]}, recorded_at)`
}

/**
 * Selects the changes among the news of all tables. The first row of a question changes nothing. Grain: one
 * row per question and corrected column that a row changes; a change of an event is one of each of its
 * questions.
 */
export function changes(): string {
  return changesIn(CHANGED_TABLES, (table, columns) => {
    if (table in UNSAID) return newsInTurn(table, columns)
    const known = `row_of_${table} SEMI JOIN news_${table} USING (${SUBJECT[table]})`
    return newsInTurn(table, columns, subjectsOfSeveralRows(table, known))
  })
}

/** Selects all changes of one question, in the form of `changes`, without those of its event. */
export function changesOf(questionId: string): string {
  return changesIn(QUESTION_TABLES, (table, columns) =>
    inTurn(table, columns, `(FROM row_of_${table} WHERE question_id = ${literal(questionId)})`),
  )
}

function changesIn<Table extends ChangedTable>(
  tables: readonly Table[],
  rowsOf: (table: Table, columns: readonly string[]) => string,
): string {
  const queries = tables.map((table) => {
    const columns = CORRECTED[table]
    const rows = `SELECT ${SUBJECT[table]}, recorded_at, reason, nth, unnest(range(${columns.length})) AS place,
        unnest([${columns.map(literal).join(', ')}]) AS "column", unnest(earlier) AS "from", unnest(texts) AS "to"
      FROM (${rowsOf(table, columns)}) WHERE earlier IS NOT NULL`
    return table === 'events'
      ? `SELECT * EXCLUDE (event_id) FROM (${rows}) JOIN (${MEMBERS}) USING (event_id)`
      : rows
  })
  return `SELECT question_id, "column", "from", "to", recorded_at, reason, list_append(nth, place) AS nth
    FROM (${queries.join(' UNION ALL BY NAME ')}) WHERE "from" IS DISTINCT FROM "to"`
}

/** The questions of events. */
const MEMBERS = `SELECT question_id, event_id FROM (${currentRows('questions', 'row_of_questions')})`

/** The order in which the changes were recorded, question by question. */
export const CHANGES_IN_ORDER = 'ORDER BY question_id, recorded_at, nth'

/** Selects the ids of the subjects with more than one row in `rows`. */
export function subjectsOfSeveralRows(table: ChangedTable, rows: string): string {
  return `SELECT ${SUBJECT[table]} FROM ${rows} GROUP BY ${SUBJECT[table]} HAVING count(*) > 1`
}
