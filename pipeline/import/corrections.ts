// Refuses to change without a reason how a question is scored that a release has scored.
import { SCORING_COLUMNS } from '../../schemas/tables.ts'
import { versionAt } from '../tables/delta-log.ts'
import type { TableVersion } from '../tables/delta.ts'
import { attachTable } from '../tables/views.ts'
import { type IncomingRows, type Rejected, SHOWN } from './read-file.ts'
import type { ImportContext } from './take-in.ts'
import { valueOf } from './values.ts'

/** Finds the rows of the table `fresh` of questions that need a reason. */
export async function withoutReason(
  { database, local, released }: ImportContext,
  resolutions: TableVersion,
  incoming: IncomingRows,
): Promise<Rejected> {
  const before = versionAt(resolutions, released?.['resolutions'] ?? -1)
  await attachTable(database, local, before, 0, 'released_resolutions')
  const changes = SCORING_COLUMNS.map(
    (name) => `if(fresh.${name} IS DISTINCT FROM known.${name}, '${name}', NULL)`,
  )
  // Grain: one row per row of the file that changes what a release may have scored by.
  await database.run(
    `CREATE OR REPLACE TEMP TABLE unsaid AS SELECT record, question_id, changed FROM (
       SELECT question_id, concat_ws(', ', ${changes.join(', ')}) AS changed
       FROM fresh JOIN current_questions known USING (question_id)
       SEMI JOIN (FROM released_resolutions WHERE outcome IN ('yes', 'no')) USING (question_id)
     ) JOIN (SELECT record, ${valueOf('question_id')} AS question_id FROM parsed) USING (question_id)
     WHERE changed <> '' ORDER BY record`,
  )
  const rows = await database.rows<{ record: bigint; question_id: string; changed: string; count: bigint }>(
    `SELECT *, (SELECT count(*) FROM unsaid) AS count FROM unsaid LIMIT ${SHOWN}`,
  )
  const count = Number(rows[0]?.count ?? 0n)
  const places = await incoming.placesOf(rows.map(({ record }) => Number(record)))
  const reason = 'changes how a scored question is scored, without --correct'
  return {
    faults: rows.map(({ question_id, changed }, index) => ({
      pointer: places[index]!,
      detail: `changes ${changed} of question ${question_id}, which a release has scored; say why by --correct`,
    })),
    count,
    byReason: count === 0 ? [] : [{ reason, count }],
  }
}
