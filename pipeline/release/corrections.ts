// Finds the changes that a release corrects: of a question, or of its outcome, after its first forecast.
import type { Change, Correction } from '../../schemas/manifests.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import { CHANGED_TABLES, CHANGES_IN_ORDER, changesIn, saidAgain } from '../tables/changes.ts'
import type { TableVersion } from '../tables/delta.ts'
import { attachSaid } from '../tables/said.ts'
import { type Before, type MovedContext, createMoved, dropMoved } from './moved.ts'

type Versions = Record<ScoredTable, TableVersion>

/**
 * Lists each change that was said since the previous release, one by one, also where a later one has undone
 * it. The list follows from the previous manifest and the tables alone, so that an audit can derive it again.
 */
export async function correctionsSince(
  context: MovedContext,
  previous: Before,
  versions: Versions,
  asOf: Date,
): Promise<Correction[]> {
  const { database } = context
  await createChanged(context, previous, versions)
  const [any] = await database.rows(`SELECT 1 AS one FROM changed LIMIT 1`)
  if (!any) return []
  await createMoved(context, previous, versions, asOf)
  const rows = await database.rows<Change & { pairs: bigint; entities: bigint }>(
    `WITH met AS (
       SELECT question_id, min(recorded_at) AS first_at, count(DISTINCT (entity_type, entity_id)) AS entities
       FROM forecast_on_changed GROUP BY question_id
     )
     SELECT question_id, "column", "from", "to", recorded_at, reason, coalesce(pairs, 0) AS pairs, entities
     FROM changed JOIN met USING (question_id) LEFT JOIN moved USING (question_id)
     WHERE recorded_at >= first_at ${CHANGES_IN_ORDER}`,
  )
  await dropMoved(context)
  return rows.map(({ recorded_at, pairs, entities, ...change }) => ({
    ...change,
    recorded_at: recorded_at.toISOString(),
    pairs: Number(pairs),
    entities: Number(entities),
  }))
}

/** Makes the table `changed` of the changes that came after the previous release. */
async function createChanged(
  { database, local }: MovedContext,
  previous: Before,
  versions: Versions,
): Promise<void> {
  const queries: string[] = []
  for (const table of CHANGED_TABLES) {
    const version = { ...versions[table], table }
    await attachSaid(database, local, version, `said_${table}`)
    await attachSaid(database, local, version, `news_${table}`, {
      version: previous?.tables[table] ?? -1,
      undone: previous?.undone_imports ?? [],
    })
    const again = saidAgain(`said_${table} SEMI JOIN news_${table} USING (question_id)`)
    const rows = `(FROM said_${table} SEMI JOIN (${again}) USING (question_id))`
    queries.push(`FROM (${changesIn(table, rows)}) SEMI JOIN news_${table} USING (question_id, recorded_at)`)
  }
  await database.run(`CREATE OR REPLACE TEMP TABLE changed AS ${queries.join(' UNION ALL ')}`)
}
