// The settled questions of a release with their crowds, from which the reference forecasts are scored.
import type { Database } from '../duckdb.ts'
import { CROWD_COLUMNS } from '../scoring/crowd.ts'
import { REFERENCE_COLUMNS, type ReferenceQuestions } from '../scoring/references.ts'
import { sqlType } from './queries.ts'
import { Rows } from './rows.ts'

/** The numbers in the text of a crowd; all are 0 where nobody took part. */
const CROWD_NUMBERS = Object.entries(CROWD_COLUMNS)
  .map(([name, kind], at) => `coalesce(string_split(crowd, ',')[${at + 1}]::${sqlType(kind)}, 0) AS ${name}`)
  .join(', ')

/** Grain: one row per settled question, in the order (settled_at, question_id). */
const QUESTIONS = `SELECT yes AS outcome, opened_ms, epoch_ms(settled_at)::DOUBLE AS settled_ms,
    cluster_number AS cluster, category_number AS category, pool, weight, weighted, scale, ${CROWD_NUMBERS}
  FROM question JOIN fitted_question USING (question) LEFT JOIN crowds USING (question)
  WHERE settled = 1 ORDER BY place`

/** Returns all settled questions. The database must hold the ordered pairs. */
export async function referenceQuestions(database: Database): Promise<ReferenceQuestions> {
  const rows = new Rows(REFERENCE_COLUMNS)
  for await (const block of database.columns(QUESTIONS, REFERENCE_COLUMNS))
    rows.append(block, 0, block.rowCount)
  return rows
}
