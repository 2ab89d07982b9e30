// Finds the changes that a release corrects: of a question, or of its outcome, after its first forecast.
import type { Change, Correction, ReleaseManifest } from '../../schemas/manifests.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import { scoresAt } from '../engine/queries.ts'
import type { ScoringContext } from '../engine/duckdb-engine.ts'
import { CHANGED_TABLES, CHANGES_IN_ORDER, changesIn, saidAgain } from '../tables/changes.ts'
import { versionIn } from '../tables/delta-log.ts'
import type { TableVersion } from '../tables/delta.ts'
import { attachSaid } from '../tables/said.ts'
import { attachCurrent, attachTable } from '../tables/views.ts'

type Before = Pick<ReleaseManifest, 'as_of' | 'tables' | 'undone_imports'> | undefined
type Versions = Record<ScoredTable, TableVersion>
type Context = Pick<ScoringContext, 'database' | 'local'>

/**
 * Lists each change that was said since the previous release, one by one, also where a later one has undone
 * it. The list follows from the previous manifest and the tables alone, so that an audit can derive it again.
 */
export async function correctionsSince(
  context: Context,
  previous: Before,
  versions: Versions,
  asOf: Date,
): Promise<Correction[]> {
  const { database, local } = context
  await createChanged(context, previous, versions)
  const [any] = await database.rows(`SELECT 1 AS one FROM changed LIMIT 1`)
  if (!any) return []
  for (const table of ['agents', 'forecasters', 'forecasts'] as const) {
    await attachTable(database, local, versions[table])
  }
  // Grain: one row per forecast on a changed question that can count.
  await database.run(
    `CREATE OR REPLACE TEMP TABLE forecast_on_changed AS
     SELECT question_id, entity_type, entity_id, forecast_at, probability IS NOT NULL AS stands, recorded_at,
       lead(forecast_at) OVER (PARTITION BY question_id, entity_type, entity_id ORDER BY forecast_at, forecast_id) AS next_at
     FROM forecasts SEMI JOIN changed USING (question_id) SEMI JOIN (
       SELECT 'agent' AS entity_type, agent_id AS entity_id FROM agents
       UNION ALL SELECT 'forecaster', user_id FROM forecasters
     ) USING (entity_type, entity_id)
     WHERE entity_type <> 'agent' OR source <> 'import'`,
  )
  await createScored(context, previous, versions, asOf)
  const rows = await database.rows<Change & { pairs: bigint; entities: bigint }>(
    `WITH met AS (
       SELECT question_id, min(recorded_at) AS first_at, count(DISTINCT (entity_type, entity_id)) AS entities
       FROM forecast_on_changed GROUP BY question_id
     ), moved AS (
       SELECT question_id, count(DISTINCT (entity_type, entity_id)) AS pairs
       FROM forecast_on_changed JOIN scored_at_either USING (question_id)
       WHERE stands AND greatest(forecast_at, opened_at) < least(coalesce(next_at, ends_at), ends_at)
       GROUP BY question_id
     )
     SELECT question_id, "column", "from", "to", recorded_at, reason, coalesce(pairs, 0) AS pairs, entities
     FROM changed JOIN met USING (question_id) LEFT JOIN moved USING (question_id)
     WHERE recorded_at >= first_at ${CHANGES_IN_ORDER}`,
  )
  for (const table of ['changed', 'forecast_on_changed', 'scored_at_either']) {
    await database.run(`DROP TABLE ${table}`)
  }
  return rows.map(({ recorded_at, pairs, entities, ...change }) => ({
    ...change,
    recorded_at: recorded_at.toISOString(),
    pairs: Number(pairs),
    entities: Number(entities),
  }))
}

/** Makes the table `changed` of the changes that came after the previous release. */
async function createChanged(
  { database, local }: Context,
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

/**
 * Makes the table `scored_at_either` of the changed questions as the previous release scored them, and as
 * this one does. Grain: at most two rows per question.
 */
async function createScored(
  { database, local }: Context,
  previous: Before,
  versions: Versions,
  asOf: Date,
): Promise<void> {
  const scored = (at: Date) =>
    `SELECT question_id, opened_at, least(closes_at, resolved_at) AS ends_at
     FROM current_questions JOIN current_resolutions USING (question_id) SEMI JOIN changed USING (question_id)
     WHERE ${scoresAt(at)}`
  const attach = async (before: Before) => {
    for (const table of CHANGED_TABLES) {
      const version = before ? versionIn(before, versions[table]) : versions[table]
      await attachCurrent(database, local, { ...version, table })
    }
  }
  await attach(undefined)
  await database.run(`CREATE OR REPLACE TEMP TABLE scored_at_either AS ${scored(asOf)}`)
  if (!previous) return
  await attach(previous)
  await database.run(`INSERT INTO scored_at_either ${scored(new Date(previous.as_of))}`)
}
