// DuckDB's part of scoring, as queries: numbering, sorting, and the published columns.
import type { ColumnKinds } from '../../schemas/columns.ts'
import { PAIR_METRICS } from '../../schemas/metrics.ts'
import { type Database, literal } from '../duckdb.ts'
import { SCORED_COLUMNS } from '../scoring/pairs.ts'

/** Which resolutions score: an outcome of yes or no that was known at `asOf`. */
export function scoresAt(asOf: Date): string {
  return `outcome IN ('yes', 'no') AND resolved_at <= ${literal(asOf.toISOString())}::TIMESTAMPTZ`
}

/**
 * Numbers the entities and the questions that score, so that the sweep handles small integers instead of UUIDs.
 * `entity`: one row per entity, numbered in the order (entity_type, entity_id).
 * `question`: one row per question whose outcome was known at `asOf` to be yes or no, numbered in the order of
 * question_id; `place` is its position in the order (resolved_at, question_id).
 */
export async function createDimensions(database: Database, asOf: Date): Promise<void> {
  await database.run(
    `CREATE TABLE entity AS
     SELECT (row_number() OVER (ORDER BY entity_type, entity_id) - 1)::INTEGER AS entity, entity_type, entity_id
     FROM (SELECT DISTINCT 'agent' AS entity_type, agent_id AS entity_id FROM agents
           UNION ALL SELECT DISTINCT 'forecaster', user_id FROM forecasters)
     ORDER BY entity`,
  )
  await database.run(
    `CREATE TABLE question AS
     SELECT (row_number() OVER (ORDER BY q.question_id) - 1)::INTEGER AS question, q.question_id, r.outcome,
       (r.outcome = 'yes')::INTEGER AS yes, r.resolved_at, epoch_ms(q.opened_at)::DOUBLE AS opened_ms,
       epoch_ms(q.closes_at)::DOUBLE AS closes_ms, epoch_ms(r.resolved_at)::DOUBLE AS resolved_ms,
       (row_number() OVER (ORDER BY r.resolved_at, q.question_id))::INTEGER AS place
     FROM current_questions q JOIN current_resolutions r USING (question_id)
     WHERE ${scoresAt(asOf)}
     ORDER BY question`,
  )
}

/**
 * Makes `counted`, the forecasts with one row per forecast_id, the one recorded first. A look at the hashes finds the
 * ids that may be repeated, and only those are sorted, because sorting all forecasts would cost ten times as much. Two
 * ids with the same hash do no harm: each is sorted for nothing.
 */
export async function createCounted(database: Database): Promise<void> {
  await database.run(
    `CREATE TEMP TABLE repeated AS
     SELECT id_hash FROM (SELECT hash(forecast_id) AS id_hash FROM forecasts) GROUP BY id_hash HAVING count(*) > 1`,
  )
  const [any] = await database.rows(`SELECT 1 AS one FROM repeated LIMIT 1`)
  await database.run(
    any
      ? `CREATE TEMP VIEW counted AS
         SELECT * FROM forecasts ANTI JOIN repeated ON hash(forecast_id) = id_hash
         UNION ALL SELECT * FROM forecasts SEMI JOIN repeated ON hash(forecast_id) = id_hash
         QUALIFY row_number() OVER (PARTITION BY forecast_id ORDER BY recorded_at, forecast_at, entity_type, entity_id,
           question_id, probability, source) = 1`
      : `CREATE TEMP VIEW counted AS FROM forecasts`,
  )
}

/** Grain: one row. */
export const FORECAST_COUNT = `SELECT count(*) AS forecasts FROM counted`

/** Grain: one row per entity, in the order of their numbers. */
export const ENTITIES = `SELECT entity_type AS "entityType", entity_id AS "entityId" FROM entity ORDER BY entity`

/** Grain: one row per question that scores, in the order of their numbers. */
export const QUESTIONS = `SELECT opened_ms AS "openedAtMs", closes_ms AS "closesAtMs", resolved_ms AS "resolvedAtMs",
    yes AS outcome
  FROM question ORDER BY question`

const SELECTED_FORECASTS = `SELECT question, entity, epoch_ms(forecast_at)::DOUBLE AS at_ms,
    round_even(probability * 1e6, 0)::INTEGER AS ppm, (source = 'import')::INTEGER AS imported
  FROM counted JOIN question USING (question_id) JOIN entity USING (entity_type, entity_id)`
export const FORECAST_COLUMNS = {
  question: 'int32',
  entity: 'int32',
  atMs: 'double',
  ppm: 'int32',
  imported: 'int32',
} as const satisfies ColumnKinds

/**
 * Grain: one row per forecast on a question that scores, in the order (question, time, entity). Sorting by
 * forecast_id, a text, would double the memory and the time, and only `TIED_FORECASTS` need it.
 */
export const FORECASTS_IN_ORDER = `${SELECTED_FORECASTS} ORDER BY question, at_ms, entity`

/** Grain: one row per forecast on a question in `tied`, in the order (question, time, forecast_id). */
export const TIED_FORECASTS = `${SELECTED_FORECASTS} SEMI JOIN tied USING (question) ORDER BY question, at_ms, forecast_id`

/** `tied` holds the questions on which the order of forecast_ids matters. Grain: one row per question. */
export const TIED_COLUMNS = { question: 'int32' } as const satisfies ColumnKinds

export function createTable(name: string, kinds: ColumnKinds): string {
  const columns = Object.entries(kinds).map(
    ([column, kind]) => `${column} ${kind === 'int32' ? 'INTEGER' : 'DOUBLE'}`,
  )
  return `CREATE TABLE ${name} (${columns.join(', ')})`
}

/**
 * Moves the rows of `pair` into `scored`, in the order (entity, resolved_at, question_id), so that the rows of
 * consecutive entities are a range of row ids. Grain: one row per entity and question.
 */
export async function orderPairs(database: Database): Promise<void> {
  const names = Object.keys(PAIR_METRICS).join(', ')
  await database.run(
    `CREATE TABLE scored AS SELECT question, entity, yes AS outcome, ${names}
     FROM pair JOIN question USING (question) ORDER BY entity, place`,
  )
  await database.run('DROP TABLE pair')
}

/** Grain: one row per entity and question, in the order of `scored`. */
export const SCORED_PAIRS = `SELECT ${Object.keys(SCORED_COLUMNS).join(', ')} FROM scored`

const PUBLISHED_SCORES = Object.entries(PAIR_METRICS)
  .filter(([, { published }]) => published)
  .map(([name, { per }]) => (per === 1 ? name : `${name} / ${per} AS ${name}`))

/**
 * The published scores for the rows of `scored` from `start` up to `end`. Grain: one row per entity and question, in the
 * order of `scored`.
 */
export function publishedScores(start: number, end: number): string {
  return `
    SELECT entity_type, entity_id, question_id, question.outcome, resolved_at, ${PUBLISHED_SCORES.join(', ')}
    FROM (SELECT * EXCLUDE (outcome) FROM scored WHERE rowid >= ${start} AND rowid < ${end})
    JOIN question USING (question) JOIN entity USING (entity) ORDER BY entity, place`
}
