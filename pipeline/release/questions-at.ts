// Counts the questions of a release by their state, and finds the instant at which time alone changes its
// numbers.
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { type Database, literal } from '../duckdb.ts'

/** The part of a manifest that follows from the current questions and resolutions. */
export type QuestionsAt = Required<Pick<ReleaseManifest, 'questions' | 'next_change_at'>>

/** Reads the views `current_questions` and `current_resolutions` of the release's tables. */
export async function questionsAt(database: Database, asOf: Date): Promise<QuestionsAt> {
  const now = `${literal(asOf.toISOString())}::TIMESTAMPTZ`
  const [row] = await database.rows<
    Record<keyof NonNullable<ReleaseManifest['questions']>, bigint> & {
      next: Date | null
    }
  >(
    `WITH stated AS (
       SELECT q.question_id, q.opened_at, q.closes_at, nullif(q.event_id, '') AS event_id, r.outcome, r.resolved_at,
         coalesce(r.outcome IN ('yes', 'no'), false) AS ended, coalesce(r.resolved_at <= ${now}, false) AS known
       FROM current_questions q LEFT JOIN current_resolutions r USING (question_id)
     ), event AS (
       SELECT event_id, count(*) AS questions FROM stated WHERE event_id IS NOT NULL GROUP BY event_id
     )
     SELECT count(*) FILTER (NOT decided AND opened_at <= ${now} AND closes_at > ${now}) AS open,
       count(*) FILTER (NOT decided AND closes_at <= ${now}) AS overdue,
       count(*) FILTER (known AND outcome = 'annulled') AS annulled,
       count(*) FILTER (ended AND known AND closes_at > ${now}) AS early,
       count(*) FILTER (event.questions = 1) AS own_events,
       count(*) FILTER (event.questions > 1) AS shared_events,
       count(*) FILTER (event_id IS NULL) AS no_events,
       min(CASE WHEN ended THEN CASE WHEN NOT known THEN resolved_at WHEN closes_at > ${now} THEN closes_at END END) AS next
     FROM (SELECT *, known AND outcome IN ('yes', 'no', 'annulled') AS decided FROM stated) LEFT JOIN event USING (event_id)`,
  )
  const { next, ...counts } = row!
  const questions = Object.fromEntries(Object.entries(counts).map(([name, value]) => [name, Number(value)]))
  return {
    questions: questions as NonNullable<ReleaseManifest['questions']>,
    next_change_at: next === null ? null : next.toISOString(),
  }
}
