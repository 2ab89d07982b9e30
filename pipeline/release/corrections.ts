// Finds the corrections of a release to the one before: changes of a question or its outcome after its first
// forecast, and people whose forecasts were erased. Counts the pairs that each may have moved.
import type { Change, Correction, Erasure, ReleaseManifest } from '../../schemas/manifests.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import type { ScoringContext } from '../engine/duckdb-engine.ts'
import { scoresAt } from '../engine/queries.ts'
import { noRows } from '../tables/columns.ts'
import { versionIn } from '../tables/delta-log.ts'
import type { TableVersion, TablesRead } from '../tables/delta.ts'
import { rowsOfPeople } from '../tables/left-out.ts'
import { ENDS_AT, attachCurrent, attachTable } from '../tables/views.ts'
import { CHANGES_IN_ORDER, QUESTION_TABLES, attachCompared, changes } from '../tables/compare.ts'

type CorrectionContext = Pick<ScoringContext, 'database' | 'local'>
type Versions = Record<ScoredTable, TableVersion>

export interface Corrected {
  /** Every change recorded since the previous release, even if a later one has undone it. */
  corrections: Correction[]
  /** The people newly left out, in order of id; undefined if there are none. */
  erasures: Erasure[] | undefined
}

/**
 * Both lists follow from the previous manifest and the tables alone, so that an audit can derive them again.
 *
 * @param previous undefined for the first release.
 */
export async function correctedSince(
  context: CorrectionContext,
  previous: (Pick<ReleaseManifest, 'as_of'> & TablesRead) | undefined,
  versions: Versions,
  asOf: Date,
): Promise<Corrected> {
  const { database, local } = context
  const { erased = [], ...whole } = versions.forecasts
  const before = new Set(previous?.erased_people?.map(({ user_id }) => user_id))
  const people = erased.filter(({ user_id }) => !before.has(user_id))
  await attachCompared(database, local, versions, previous)
  await database.run(`CREATE OR REPLACE TEMP TABLE changed AS ${changes()}`)
  if (people.length > 0) await attachTable(database, local, whole, 0, 'whole_forecasts')
  await database.run(
    `CREATE OR REPLACE TEMP TABLE erased_forecast AS SELECT entity_id AS user_id, forecast_id, question_id
     FROM ${people.length > 0 ? 'whole_forecasts' : `(${noRows('forecasts')})`}
     WHERE ${rowsOfPeople('forecasts', people) ?? 'false'}`,
  )
  await database.run(
    `CREATE OR REPLACE TEMP TABLE touched AS SELECT question_id FROM changed UNION SELECT question_id FROM erased_forecast`,
  )
  const [any] = await database.rows('SELECT 1 AS one FROM touched LIMIT 1')
  if (any) await createMoved(context, previous, versions, asOf)
  const corrections = any ? await correctionRows(context) : []
  const moved = any ? await erasureRows(context) : []
  const tables = ['changed', 'erased_forecast', 'touched', ...(any ? MOVED_TABLES : [])]
  for (const table of tables) await database.run(`DROP TABLE ${table}`)
  const byPerson = new Map(moved.map(({ user_id, ...counts }) => [user_id, counts]))
  const erasures = people.map((person) => {
    const { forecasts, questions, pairs } = byPerson.get(person.user_id) ?? NO_FORECASTS
    return {
      ...person,
      forecasts: Number(forecasts),
      questions: Number(questions),
      pairs: Number(pairs ?? 0n),
    }
  })
  return { corrections, erasures: erasures.length > 0 ? erasures : undefined }
}

/** The counts of a person without forecasts in the tables. */
const NO_FORECASTS = { forecasts: 0n, questions: 0n, pairs: 0n }

async function correctionRows({ database }: CorrectionContext): Promise<Correction[]> {
  const rows = await database.rows<Change & { recorded_at: Date; pairs: bigint; entities: bigint }>(
    `WITH met AS (
       SELECT question_id, min(recorded_at) AS first_at, count(DISTINCT (entity_type, entity_id)) AS entities
       FROM forecast_on_touched GROUP BY question_id
     )
     SELECT question_id, "column", "from", "to", recorded_at, reason, coalesce(pairs, 0) AS pairs, entities
     FROM changed JOIN met USING (question_id) LEFT JOIN moved USING (question_id)
     WHERE recorded_at >= first_at ${CHANGES_IN_ORDER}`,
  )
  return rows.map(({ recorded_at, pairs, entities, ...change }) => ({
    ...change,
    recorded_at: recorded_at.toISOString(),
    pairs: Number(pairs),
    entities: Number(entities),
  }))
}

interface ErasureRow {
  user_id: string
  forecasts: bigint
  questions: bigint
  pairs: bigint | null
}

function erasureRows({ database }: CorrectionContext): Promise<ErasureRow[]> {
  return database.rows<ErasureRow>(
    `WITH touched AS (SELECT DISTINCT user_id, question_id FROM erased_forecast)
     SELECT user_id, forecasts, questions, pairs
     FROM (SELECT user_id, count(DISTINCT forecast_id) AS forecasts FROM erased_forecast GROUP BY user_id)
     JOIN (SELECT user_id, count(*) FILTER (question_id IN (SELECT question_id FROM scored_at_either)) AS questions,
         sum(pairs)::BIGINT AS pairs
       FROM touched LEFT JOIN moved USING (question_id) GROUP BY user_id) USING (user_id)`,
  )
}

const MOVED_TABLES = ['moved', 'scored_at_either', 'forecast_on_touched']

/**
 * Makes three tables from the questions in the table `touched`: `forecast_on_touched`; `scored_at_either`,
 * the questions that the previous release or this one scores; and `moved`, with the number of pairs on each
 * of these.
 */
async function createMoved(
  { database, local }: CorrectionContext,
  previous: (Pick<ReleaseManifest, 'as_of'> & TablesRead) | undefined,
  versions: Versions,
  asOf: Date,
): Promise<void> {
  for (const table of ['agents', 'forecasters', 'forecasts'] as const) {
    await attachTable(database, local, versions[table])
  }
  // Grain: one row per forecast on a touched question that can count.
  await database.run(
    `CREATE OR REPLACE TEMP TABLE forecast_on_touched AS
     SELECT question_id, entity_type, entity_id, forecast_at, probability IS NOT NULL AS stands, recorded_at,
       lead(forecast_at) OVER (PARTITION BY question_id, entity_type, entity_id ORDER BY forecast_at, forecast_id) AS next_at
     FROM forecasts SEMI JOIN touched USING (question_id) SEMI JOIN (
       SELECT 'agent' AS entity_type, agent_id AS entity_id FROM agents
       UNION ALL SELECT 'forecaster', user_id FROM forecasters
     ) USING (entity_type, entity_id)
     WHERE entity_type <> 'agent' OR source <> 'import'`,
  )
  // Add the life of each touched question in this release and in the one before. Grain: at most two rows per
  // question, one for each release.
  await database.run(
    `CREATE OR REPLACE TEMP TABLE scored_at_either (question_id VARCHAR, opened_at TIMESTAMPTZ, ends_at TIMESTAMPTZ)`,
  )
  for (const state of [{ versions, asOf }, ...(previous ? [worldState(previous, versions)] : [])]) {
    for (const table of QUESTION_TABLES) {
      await attachCurrent(database, local, { ...state.versions[table], table })
    }
    await database.run(
      `INSERT INTO scored_at_either SELECT question_id, opened_at, ${ENDS_AT}
       FROM current_questions JOIN current_resolutions USING (question_id) SEMI JOIN touched USING (question_id)
       WHERE ${scoresAt(state.asOf)}`,
    )
  }
  // Count the entities with a forecast that stood in either life.
  await database.run(
    `CREATE OR REPLACE TEMP TABLE moved AS
     SELECT question_id, count(DISTINCT (entity_type, entity_id)) AS pairs
     FROM forecast_on_touched JOIN scored_at_either USING (question_id)
     WHERE stands AND greatest(forecast_at, opened_at) < least(coalesce(next_at, ends_at), ends_at)
     GROUP BY question_id`,
  )
}

function worldState(previous: Pick<ReleaseManifest, 'as_of'> & TablesRead, versions: Versions) {
  const { questions, resolutions } = versions
  return {
    versions: { questions: versionIn(previous, questions), resolutions: versionIn(previous, resolutions) },
    asOf: new Date(previous.as_of),
  }
}
