// The changes of what scores a question: each row of a question or of its outcome against the row before it.
import { type CorrectedColumn, SCORING_COLUMNS, type ScoredTable } from '../../schemas/tables.ts'
import { literal } from '../duckdb.ts'
import { instantText } from './columns.ts'
import { latestLast } from './views.ts'

/** The texts of the columns. A withdrawn resolution has no time at which an outcome became known. */
const TEXTS: Record<CorrectedColumn, string> = {
  opened_at: instantText('opened_at'),
  closes_at: instantText('closes_at'),
  event_id: 'event_id',
  category: 'category',
  outcome: 'outcome',
  resolved_at: `if(outcome = 'open', NULL, ${instantText('resolved_at')})`,
}
const COLUMNS = {
  questions: SCORING_COLUMNS,
  resolutions: ['outcome', 'resolved_at'],
} as const satisfies Partial<Record<ScoredTable, readonly CorrectedColumn[]>>
export type ChangedTable = keyof typeof COLUMNS
export const CHANGED_TABLES = ['questions', 'resolutions'] as const satisfies readonly ChangedTable[]

/**
 * Selects the changes that rows of a table say one after another. `rows` must hold all rows of a question.
 * The first row of a question changes nothing. Grain: one row per column that a row changes, with its place
 * `nth` in the order of the question's changes.
 */
export function changesIn(table: ChangedTable, rows: string): string {
  const columns = COLUMNS[table]
  const texts = columns.map((name) => TEXTS[name]).join(', ')
  const numbered = columns.map((_, index) => index).join(', ')
  return `SELECT question_id, "column", "from", "to", recorded_at, reason,
      [${CHANGED_TABLES.indexOf(table)}, nth, place] AS nth
    FROM (SELECT question_id, recorded_at, reason, nth, unnest([${numbered}]) AS place,
        unnest([${columns.map(literal).join(', ')}]) AS "column", unnest(earlier) AS "from", unnest(said) AS "to"
      FROM (SELECT *, lag(said) OVER each AS earlier, row_number() OVER each AS nth
        FROM (SELECT *, [${texts}] AS said FROM ${rows})
        WINDOW each AS (PARTITION BY question_id ORDER BY ${latestLast(table)}))
      WHERE earlier IS NOT NULL)
    WHERE "from" IS DISTINCT FROM "to"`
}

/** The order in which the changes of `changesIn` were said, question by question. */
export const CHANGES_IN_ORDER = 'ORDER BY question_id, recorded_at, nth'

/** Selects the ids of the questions of which `rows` hold more than one row. */
export function saidAgain(rows: string): string {
  return `SELECT question_id FROM ${rows} GROUP BY question_id HAVING count(*) > 1`
}
