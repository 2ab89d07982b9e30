// Finds out from the new data files what has changed since the last release: the questions that are touched,
// and the forecasts that are added.
import type { PipelineComponents } from '../components.ts'
import type { VoiceRule } from '../../schemas/payloads.ts'
import { SCORED_TABLES, type ScoredTable } from '../../schemas/tables.ts'
import { type Database, literal } from '../duckdb.ts'
import { firstFileAfter } from '../tables/delta-log.ts'
import type { TableVersion } from '../tables/delta.ts'
import { attachTable } from '../tables/views.ts'
import type { CarriedPaths } from './carried.ts'

/** The last release, as far as the next one builds on it. */
export interface Since {
  asOf: Date
  /** The version of each table that it read. */
  tables: Partial<Record<string, number>>
  voiceRule: VoiceRule
  /** All forecasts that it counted, each id once. */
  forecasts: number
  /** With a row set of every question that it scored by. */
  carried: readonly CarriedPaths[]
}

type SinceContext = Pick<PipelineComponents, 'database' | 'local'>

/** Makes a view `fresh_<table>` of the rows of every table that came after the last release. */
export async function attachFresh(
  { database, local }: SinceContext,
  versions: Record<ScoredTable, TableVersion>,
  { tables }: Since,
): Promise<void> {
  for (const name of SCORED_TABLES) {
    const { files } = versions[name]
    const first = firstFileAfter(versions[name], tables[name])
    await attachTable(database, local, versions[name], first, `fresh_${name}`)
    const before = { ...versions[name], files: files.slice(0, first) }
    if (name === 'agents' || name === 'forecasters') {
      await attachTable(database, local, before, 0, `earlier_${name}`)
    }
  }
}

/**
 * Whether all rows of each of these forecasts, given as a query of forecast_ids, say the same of the same
 * question at the same instant. As long as that holds for every forecast, repeated rows change nothing
 * outside of their question.
 */
export async function areAlike(database: Database, ids: string): Promise<boolean> {
  const differ = ['entity_type', 'entity_id', 'question_id', 'forecast_at'].map(
    (name) => `min(${name}) <> max(${name})`,
  )
  const [found] = await database.rows(
    `SELECT forecast_id FROM forecasts SEMI JOIN (${ids}) USING (forecast_id)
     GROUP BY forecast_id HAVING ${differ.join(' OR ')} LIMIT 1`,
  )
  return found === undefined
}

/** Makes the table `touched` of the questions whose pairs may be others than those of the last release. */
export async function createTouched(database: Database, { asOf }: Since): Promise<void> {
  await database.run(
    `CREATE OR REPLACE TEMP TABLE fresh_entity AS
     SELECT 'agent' AS entity_type, agent_id AS entity_id FROM fresh_agents ANTI JOIN earlier_agents USING (agent_id)
     UNION SELECT 'forecaster', user_id FROM fresh_forecasters ANTI JOIN earlier_forecasters USING (user_id)`,
  )
  const [anyone] = await database.rows(`SELECT 1 AS one FROM fresh_entity LIMIT 1`)
  const queries = [
    ...(['questions', 'resolutions', 'forecasts'] as const).map(
      (table) => `SELECT question_id FROM fresh_${table}`,
    ),
    // An outcome that was recorded before it was known.
    `SELECT question_id FROM question WHERE resolved_at > ${literal(asOf.toISOString())}::TIMESTAMPTZ`,
    // Forecasts of an entity that nobody knew count as soon as it is known.
    ...(anyone
      ? [`SELECT question_id FROM forecasts SEMI JOIN fresh_entity USING (entity_type, entity_id)`]
      : []),
  ]
  await database.run(`CREATE OR REPLACE TEMP TABLE touched AS ${queries.join(' UNION ')}`)
}

/**
 * The number of all forecasts, each id once. Undefined where a forecast has come again as another, so that
 * what it changes cannot be seen from the new rows alone. Before the last release there was none of these.
 * Makes the table `near` of the forecasts whose ids have come, and of those on the questions of `touched`
 * that score: both in one scan, since half of it is reading ids.
 */
export async function countSince(database: Database, { forecasts }: Since): Promise<number | undefined> {
  await database.run(
    `CREATE OR REPLACE TEMP TABLE fresh_id AS
     SELECT forecast_id, count(*) AS copies FROM fresh_forecasts GROUP BY forecast_id`,
  )
  await database.run(
    `CREATE OR REPLACE TEMP TABLE near AS FROM forecasts WHERE forecast_id IN (SELECT forecast_id FROM fresh_id)
       OR question_id IN (SELECT question_id FROM touched SEMI JOIN question USING (question_id))`,
  )
  await database.run(
    `CREATE OR REPLACE TEMP TABLE met_id AS
     SELECT forecast_id, count(*) AS copies FROM near SEMI JOIN fresh_id USING (forecast_id) GROUP BY forecast_id`,
  )
  const [row] = await database.rows<{ added: bigint; repeated: boolean | null }>(
    `SELECT count(*) FILTER (met_id.copies = fresh_id.copies) AS added, bool_or(met_id.copies > 1) AS repeated
     FROM fresh_id JOIN met_id USING (forecast_id)`,
  )
  if (row!.repeated && !(await areAlike(database, 'SELECT forecast_id FROM met_id WHERE copies > 1'))) {
    return undefined
  }
  return forecasts + Number(row!.added)
}

/**
 * Makes the table `touched_forecasts` of all rows on the questions of `swept`, which may be more than
 * `touched` has.
 */
export async function createTouchedForecasts(database: Database): Promise<void> {
  const [more] = await database.rows(
    `SELECT 1 AS one FROM swept ANTI JOIN touched USING (question_id) LIMIT 1`,
  )
  await database.run(
    `CREATE OR REPLACE TEMP TABLE touched_forecasts AS
     FROM ${more ? 'forecasts' : 'near'} SEMI JOIN swept USING (question_id)`,
  )
}
