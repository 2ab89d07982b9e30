// Counts the questions of a release by their state and category, and finds the instant at which time alone
// changes its numbers.
import type { QuestionStates, ReleaseManifest } from '../../schemas/manifests.ts'
import { type Database, literal } from '../duckdb.ts'

/** The part of a manifest that follows from the current questions, resolutions and agents. */
export type QuestionsAt = Pick<ReleaseManifest, 'questions' | 'next_change_at'>

/** Reads the views of the current questions, resolutions and agents of the release's tables. */
export async function questionsAt(database: Database, asOf: Date): Promise<QuestionsAt> {
  const now = `${literal(asOf.toISOString())}::TIMESTAMPTZ`
  // Grain: one row per category, and one of all questions.
  const rows = await database.rows<Counted>(
    `WITH stated AS (
       SELECT q.question_id, q.opened_at, q.closes_at, nullif(q.event_id, '') AS event_id, nullif(q.category, '') AS category,
         r.outcome, r.resolved_at, coalesce(r.outcome IN ('yes', 'no'), false) AS ended,
         coalesce(r.resolved_at <= ${now}, false) AS known
       FROM current_questions q LEFT JOIN current_resolutions r USING (question_id)
     ), event AS (
       SELECT event_id, count(*) AS questions FROM stated WHERE event_id IS NOT NULL GROUP BY event_id
     )
     SELECT grouping(category) = 1 AS total, category,
       count(*) FILTER (NOT decided AND opened_at <= ${now} AND closes_at > ${now}) AS open,
       count(*) FILTER (NOT decided AND closes_at <= ${now}) AS overdue,
       min(closes_at) FILTER (NOT decided AND closes_at <= ${now}) AS oldest_overdue_at,
       count(*) FILTER (known AND outcome = 'annulled') AS annulled,
       count(*) FILTER (ended AND known AND closes_at > ${now}) AS early,
       count(*) FILTER (event.questions = 1) AS own_events,
       count(*) FILTER (event.questions > 1) AS shared_events,
       count(*) FILTER (event_id IS NULL) AS no_events,
       least(min(CASE WHEN ended THEN CASE WHEN NOT known THEN resolved_at WHEN closes_at > ${now} THEN closes_at END END),
         (SELECT min(retired_at) FROM current_agents WHERE retired_at > ${now})) AS next
     FROM (SELECT *, known AND outcome IN ('yes', 'no', 'annulled') AS decided FROM stated) LEFT JOIN event USING (event_id)
     GROUP BY GROUPING SETS ((), (category)) ORDER BY total DESC, category NULLS FIRST`,
  )
  const [all, ...categories] = rows as [Counted, ...Counted[]]
  return {
    questions: {
      ...statesOf(all),
      own_events: Number(all.own_events),
      shared_events: Number(all.shared_events),
      no_events: Number(all.no_events),
      categories: categories.map((row) => ({ category: row.category, ...statesOf(row) })),
    },
    next_change_at: all.next === null ? null : all.next.toISOString(),
  }
}

type Counted = Record<
  'open' | 'overdue' | 'annulled' | 'early' | 'own_events' | 'shared_events' | 'no_events',
  bigint
> & {
  category: string | null
  oldest_overdue_at: Date | null
  next: Date | null
}

function statesOf({ open, overdue, oldest_overdue_at, annulled, early }: Counted): QuestionStates {
  return {
    open: Number(open),
    overdue: Number(overdue),
    oldest_overdue_at: oldest_overdue_at === null ? null : oldest_overdue_at.toISOString(),
    annulled: Number(annulled),
    early: Number(early),
  }
}
