// Finds the outcomes that a release corrects: the release before it scored by them, and they have changed
// since.
import type { ReleaseManifest, SupersededOutcome } from '../../schemas/manifests.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import { scoresAt } from '../engine/queries.ts'
import type { ScoringContext } from '../engine/duckdb-engine.ts'
import { versionIn } from '../tables/delta-log.ts'
import type { TableVersion } from '../tables/delta.ts'
import { attachSaid } from '../tables/said.ts'
import { isAmong, undoneIn } from '../tables/undone.ts'
import { attachCurrent, currentRows } from '../tables/views.ts'

/**
 * Lists each question that scored before if its outcome, or the time at which it became known, has changed.
 * The list follows from the previous manifest and the tables alone, so that an audit can derive it again.
 */
export async function supersededOutcomes(
  { database, local }: Pick<ScoringContext, 'database' | 'local'>,
  previous: Pick<ReleaseManifest, 'as_of' | 'tables' | 'undone_imports'>,
  versions: Record<ScoredTable, TableVersion>,
): Promise<SupersededOutcome[]> {
  const { undone_imports: undone = [] } = previous
  const isUndone = undoneIn(versions.resolutions).some(({ by }) => !isAmong(undone, by))
  if (previous.tables['resolutions'] === versions.resolutions.version && !isUndone) return []
  for (const table of ['questions', 'resolutions'] as const) {
    const before = versionIn(previous, versions[table])
    await attachCurrent(database, local, { ...before, table })
  }
  await database.run(
    `CREATE OR REPLACE TEMP TABLE scored_before AS
     SELECT question_id, outcome, resolved_at FROM current_questions JOIN current_resolutions USING (question_id)
     WHERE ${scoresAt(new Date(previous.as_of))}`,
  )
  // The last word on the outcome of each question, which may be that an import of it was undone.
  await attachSaid(database, local, { ...versions.resolutions, table: 'resolutions' }, 'said_resolutions')
  await database.run(`CREATE OR REPLACE VIEW last_said AS ${currentRows('resolutions', 'said_resolutions')}`)
  const rows = await database.rows<{
    question_id: string
    before: SupersededOutcome['from']['outcome']
    beforeAt: Date
    now: SupersededOutcome['to']['outcome']
    nowAt: Date
  }>(
    `SELECT question_id, scored_before.outcome AS before, scored_before.resolved_at AS "beforeAt",
       last_said.outcome AS now, last_said.resolved_at AS "nowAt"
     FROM scored_before JOIN last_said USING (question_id)
     WHERE before <> now OR "beforeAt" <> "nowAt" ORDER BY question_id`,
  )
  await database.run('DROP TABLE scored_before')
  return rows.map((row) => ({
    question_id: row.question_id,
    from: { outcome: row.before, resolved_at: row.beforeAt.toISOString() },
    to: { outcome: row.now, resolved_at: row.nowAt.toISOString() },
  }))
}
