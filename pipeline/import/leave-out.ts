// Leaves rows of a platform's files out of an import: those that a rule or the source leaves out, and those
// that are about the same as an earlier row.
import { type Database, literal } from '../duckdb.ts'
import { IMPORT_COLUMNS, type ImportKind, KEY_COLUMNS } from './columns.ts'
import type { ImportOptions } from './options.ts'
import { valueOf } from './row.ts'
import { ASKED_QUESTIONS, leavingRules } from './rules.ts'

/**
 * The table of the rows of a kind that were read. Grain: one row per row of a file and definition, with its
 * origin, the reason of its definition to leave it out, and the columns of a row of a file.
 */
export const stagedTable = (kind: ImportKind) => `staged_${kind}`

/** The table that says what became of each row of `stagedTable`, by its number there as `record`. */
export const judgedTable = (kind: ImportKind) => `judged_${kind}`

/** Whether a row of `judgedTable` is taken. */
export const TAKEN = 'reason IS NULL AND NOT is_repeated'

/** A row that says otherwise than an earlier one about the same. */
const OTHER: Record<ImportKind, string> = {
  questions: 'an earlier row says otherwise of the same question',
  events: 'an earlier row says otherwise of the same event',
  prices: 'an earlier row has another price of the same question and millisecond',
  resolutions: 'an earlier row has another outcome of the same question',
  forecasters: 'an earlier row has another name of the same forecaster',
  forecasts: 'an earlier row has another probability of the same forecaster, question and millisecond',
}

/** Makes the view `incoming` of all rows of a kind that were read. */
export async function defineStaged(database: Database, kind: ImportKind): Promise<void> {
  const rows = `SELECT rowid AS record, * FROM ${stagedTable(kind)}`
  await database.run(`CREATE OR REPLACE TEMP VIEW incoming AS ${rows}`)
}

/**
 * Judges each row of `parsed` by the rules, which `defineRules` must have defined, and takes those that are
 * left out and those that repeat an earlier one out of the view `incoming`. Questions must be judged before
 * the rows about them.
 */
export async function leaveOut(database: Database, kind: ImportKind, options: ImportOptions): Promise<void> {
  await database.run(
    `CREATE TEMP TABLE IF NOT EXISTS ${ASKED_QUESTIONS} (question_id VARCHAR, is_taken BOOLEAN)`,
  )
  const columns = IMPORT_COLUMNS[kind]
  const cases = leavingRules(columns, options).map(
    ({ fails, leftOut }) => `WHEN ${fails} THEN ${literal(leftOut)}`,
  )
  const key = KEY_COLUMNS[kind].map(valueOf)
  const content = columns.map(({ name }) => name).filter((name) => !KEY_COLUMNS[kind].includes(name))
  await database.run(
    `CREATE OR REPLACE TEMP TABLE ${judgedTable(kind)} AS
     WITH reasoned AS (
       SELECT record, ${key.join(', ')}, row(${content.join(', ')}) AS content,
         CASE WHEN own_reason IS NOT NULL THEN own_reason ${cases.join('\n')} END AS reason FROM parsed),
     numbered AS (
       SELECT *, reason IS NULL AND row_number() OVER earlier > 1 AS is_later,
         content IS NOT DISTINCT FROM first_value(content) OVER earlier AS is_same FROM reasoned
       WINDOW earlier AS (PARTITION BY ${key.join(', ')}, reason IS NULL ORDER BY record))
     SELECT record, ${key.join(', ')}, is_later AND is_same AS is_repeated,
       if(is_later AND NOT is_same, ${literal(OTHER[kind])}, reason) AS reason FROM numbered`,
  )
  if (kind === 'questions') {
    await database.run(
      `CREATE OR REPLACE TEMP TABLE ${ASKED_QUESTIONS} AS
       SELECT ${valueOf('question_id')} AS question_id, bool_or(reason IS NULL) AS is_taken
       FROM ${judgedTable(kind)} WHERE ${valueOf('question_id')} IS NOT NULL GROUP BY ALL`,
    )
  }
  // The view is read several times, and a table of the rows is read faster than a join.
  await database.run(
    `CREATE OR REPLACE TEMP TABLE taken_rows AS SELECT rowid AS record, * FROM ${stagedTable(kind)}
     WHERE rowid IN (SELECT record FROM ${judgedTable(kind)} WHERE ${TAKEN})`,
  )
  await database.run('CREATE OR REPLACE TEMP VIEW incoming AS FROM taken_rows')
}
