// Reads all questions, with their outcomes, from a version of the tables.
import { type Database, withDatabase } from '../../pipeline/duckdb.ts'
import type { LocalFiles } from '../../pipeline/store/local-files.ts'
import { attachCurrent } from '../../pipeline/tables/views.ts'
import type { TableLog } from '../../pipeline/tables/delta-log.ts'
import type { Outcome } from '../../schemas/tables.ts'
import type { KnownQuestion } from './question.ts'

/** Grain: one row per question, in the order of pages. */
const QUESTIONS = `
  SELECT question_id, title, category, url, opened_at, closes_at, outcome, resolved_at
  FROM current_questions LEFT JOIN current_resolutions USING (question_id)
  ORDER BY closes_at, question_id`

interface QuestionRow extends Record<string, unknown> {
  question_id: string
  title: string
  category: string | null
  url: string | null
  opened_at: Date
  closes_at: Date
  outcome: Outcome | null
  resolved_at: Date | null
}

export interface QuestionSource {
  local: LocalFiles
  openDatabase: () => Promise<Database>
}

/** In the order (closes_at, question_id). */
export async function readQuestions(
  { local, openDatabase }: QuestionSource,
  { questions, resolutions }: Record<'questions' | 'resolutions', TableLog['current']>,
): Promise<KnownQuestion[]> {
  const rows = await withDatabase(openDatabase, async (database) => {
    await attachCurrent(database, local, { ...questions, table: 'questions' })
    await attachCurrent(database, local, { ...resolutions, table: 'resolutions' })
    return database.rows<QuestionRow>(QUESTIONS)
  })
  return rows.map((row) => ({
    questionId: row.question_id,
    title: row.title,
    category: row.category,
    url: row.url,
    openedAt: row.opened_at,
    closesAt: row.closes_at,
    outcome: row.outcome,
    resolvedAt: row.resolved_at,
  }))
}
