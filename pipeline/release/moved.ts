// Counts the pairs that something said of questions may have moved, for corrections.
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import type { ScoringContext } from '../engine/duckdb-engine.ts'
import { scoresAt } from '../engine/queries.ts'
import { CHANGED_TABLES } from '../tables/changes.ts'
import { versionIn } from '../tables/delta-log.ts'
import type { LeftOut, TableVersion } from '../tables/delta.ts'
import { attachCurrent, attachTable } from '../tables/views.ts'

/** The release before; undefined for the first. */
export type Before = Pick<ReleaseManifest, 'as_of' | 'tables' | keyof LeftOut> | undefined
type Versions = Record<ScoredTable, TableVersion>
export type MovedContext = Pick<ScoringContext, 'database' | 'local'>

const TABLES = ['moved', 'scored_at_either', 'forecast_on_changed', 'changed']

/**
 * Makes of the questions in the table `changed` the tables `forecast_on_changed`, `scored_at_either` of those
 * that the previous release or this one scores, and `moved` with the number of pairs on each of these.
 */
export async function createMoved(
  context: MovedContext,
  previous: Before,
  versions: Versions,
  asOf: Date,
): Promise<void> {
  const { database, local } = context
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
  await database.run(
    `CREATE OR REPLACE TEMP TABLE moved AS
     SELECT question_id, count(DISTINCT (entity_type, entity_id)) AS pairs
     FROM forecast_on_changed JOIN scored_at_either USING (question_id)
     WHERE stands AND greatest(forecast_at, opened_at) < least(coalesce(next_at, ends_at), ends_at)
     GROUP BY question_id`,
  )
}

export async function dropMoved({ database }: Pick<MovedContext, 'database'>): Promise<void> {
  for (const table of TABLES) await database.run(`DROP TABLE ${table}`)
}

/** Grain of the table that it makes: at most two rows per question, one for each release. */
async function createScored(
  { database, local }: MovedContext,
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
