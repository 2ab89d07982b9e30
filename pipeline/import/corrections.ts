// Finds what rows change of questions that a release has scored, and of their events: how they are scored,
// which is refused without a reason, and their outcomes.
import { type Outcome, SCORING_COLUMNS } from '../../schemas/tables.ts'
import { versionAt } from '../tables/delta-log.ts'
import type { TableVersion } from '../tables/delta.ts'
import { SUBJECT, attachTable, currentRows } from '../tables/views.ts'
import type { IncomingRows } from './read-file.ts'
import { type Rejected, SHOWN } from './rejected.ts'
import type { ImportContext } from './take-in.ts'

/** The summary of bad rows that a reason makes good. */
export const UNEXPLAINED = 'changes how a scored question is scored, without --correct'

/** An outcome that a release has published, and the one that rows would replace it by. */
export interface Correction {
  question_id: string
  from: Outcome
  to: Outcome
}

/**
 * For each kind of rows: their subject, the columns by which it is scored, and those that a release has
 * scored.
 */
const SCORED = {
  questions: {
    what: 'question',
    columns: SCORING_COLUMNS,
    standing: 'FROM standing',
    scored: `SELECT question_id FROM released_resolutions WHERE outcome IN ('yes', 'no')`,
  },
  events: {
    what: 'event',
    columns: ['kind'],
    // An event without a row is independent.
    standing: `SELECT event_id, coalesce(standing.kind, 'independent') AS kind FROM fresh LEFT JOIN standing USING (event_id)`,
    scored: `SELECT event_id FROM current_questions
      SEMI JOIN (FROM released_resolutions WHERE outcome IN ('yes', 'no')) USING (question_id)`,
  },
} as const

/** Takes the rows that need a reason out of the table `fresh`, and returns them as bad rows. */
export async function takeOutUnexplained(
  context: ImportContext,
  kind: keyof typeof SCORED,
  resolutions: TableVersion,
  incoming: IncomingRows,
): Promise<Rejected> {
  const { database } = context
  await attachReleased(context, resolutions)
  const { what, columns, standing, scored } = SCORED[kind]
  const subject = SUBJECT[kind]
  const changes = columns.map(
    (name) => `if(fresh.${name} IS DISTINCT FROM standing.${name}, '${name}', NULL)`,
  )
  // Grain: one row per row of the file that changes what a release may have scored by.
  await database.run(
    `CREATE OR REPLACE TEMP TABLE unsaid AS FROM (
       SELECT record, ${subject} AS subject, concat_ws(', ', ${changes.join(', ')}) AS changed
       FROM fresh JOIN (${standing}) standing USING (${subject}) SEMI JOIN (${scored}) USING (${subject})
     ) WHERE changed <> '' ORDER BY record`,
  )
  await database.run('CREATE OR REPLACE TEMP TABLE fresh AS FROM fresh ANTI JOIN unsaid USING (record)')
  const rows = await database.rows<{ record: bigint; subject: string; changed: string; count: bigint }>(
    `SELECT *, (SELECT count(*) FROM unsaid) AS count FROM unsaid LIMIT ${SHOWN}`,
  )
  const count = Number(rows[0]?.count ?? 0n)
  const places = await incoming.placesOf(rows.map(({ record }) => Number(record)))
  return {
    faults: rows.map(({ subject: id, changed }, index) => ({
      pointer: places[index]!,
      detail: `changes ${changed} of ${what} ${id}, which a release has scored; say why by --correct`,
    })),
    count,
    byReason: count === 0 ? [] : [{ reason: UNEXPLAINED, count }],
  }
}

/**
 * Returns the outcomes in `rows` that differ from those that the last release was made from. Grain: one per
 * question.
 */
export async function correctedOutcomes(
  context: ImportContext,
  resolutions: TableVersion,
  rows: string,
): Promise<Correction[]> {
  await attachReleased(context, resolutions)
  return context.database.rows<Correction>(
    `SELECT question_id, before.outcome AS "from", rows.outcome AS "to"
     FROM ${rows} rows JOIN (${currentRows('resolutions', 'released_resolutions')}) before USING (question_id)
     WHERE before.outcome <> 'open' AND rows.outcome <> before.outcome ORDER BY record`,
  )
}

/** Makes the view `released_resolutions` of the rows that the last release was made from. */
async function attachReleased(
  { database, local, released }: ImportContext,
  resolutions: TableVersion,
): Promise<void> {
  const before = versionAt(resolutions, released?.['resolutions'] ?? -1)
  await attachTable(database, local, before, 0, 'released_resolutions')
}
