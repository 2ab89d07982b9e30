// The settled questions of a release with the scores of the references.
import type { Database } from '../duckdb.ts'
import { REFERENCE_COLUMNS, type ReferenceQuestions } from '../scoring/references.ts'
import { REFERENCE_SCORE_COLUMNS, REFERENCE_SCORE_NAMES } from '../scoring/swept-references.ts'
import { QUESTION_FACTS, sqlType } from './queries.ts'
import { Rows } from './rows.ts'

/** The numbers in the text of a question; all are 0 if it has no forecast. */
const REFERENCE_NUMBERS = REFERENCE_SCORE_NAMES.map(
  (name, at) =>
    `coalesce(string_split(reference_scores, ',')[${at + 1}], '0')::${sqlType(REFERENCE_SCORE_COLUMNS[name])} AS ${name}`,
).join(', ')

/** Grain: one row per settled question, in the order (settled_at, question_id). */
const REFERENCE_QUESTIONS = `SELECT ${QUESTION_FACTS}, opened_ms, agent_pool, forecaster_pool, ${REFERENCE_NUMBERS}
  FROM question JOIN question_pool USING (question) LEFT JOIN told USING (question)
  WHERE settled = 1 ORDER BY place`

/** Returns all settled questions. The database must hold the ordered pairs. */
export async function referenceQuestions(database: Database): Promise<ReferenceQuestions> {
  const rows = new Rows(REFERENCE_COLUMNS)
  for await (const block of database.columns(REFERENCE_QUESTIONS, REFERENCE_COLUMNS))
    rows.append(block, 0, block.rowCount)
  return rows
}
