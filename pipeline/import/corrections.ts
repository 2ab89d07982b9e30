// Refuses to change without a reason how a question is scored that a release has scored.
import { SCORING_COLUMNS } from '../../schemas/tables.ts'
import { versionAt } from '../tables/delta-log.ts'
import type { TableVersion } from '../tables/delta.ts'
import { attachTable } from '../tables/views.ts'
import type { IncomingRows } from './read-file.ts'
import { type Rejected, SHOWN } from './rejected.ts'
import type { ImportContext } from './take-in.ts'

/** Takes the rows of questions that need a reason out of the table `fresh`, and returns them as bad rows. */
export async function takeOutUnexplained(
  { database, local, released }: ImportContext,
  resolutions: TableVersion,
  incoming: IncomingRows,
): Promise<Rejected> {
  const before = versionAt(resolutions, released?.['resolutions'] ?? -1)
  await attachTable(database, local, before, 0, 'released_resolutions')
  const changes = SCORING_COLUMNS.map(
    (name) => `if(fresh.${name} IS DISTINCT FROM standing.${name}, '${name}', NULL)`,
  )
  // Grain: one row per row of the file that changes what a release may have scored by.
  await database.run(
    `CREATE OR REPLACE TEMP TABLE unsaid AS FROM (
       SELECT record, question_id, concat_ws(', ', ${changes.join(', ')}) AS changed
       FROM fresh JOIN standing USING (question_id)
       SEMI JOIN (FROM released_resolutions WHERE outcome IN ('yes', 'no')) USING (question_id)
     ) WHERE changed <> '' ORDER BY record`,
  )
  await database.run('CREATE OR REPLACE TEMP TABLE fresh AS FROM fresh ANTI JOIN unsaid USING (record)')
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
