// The queries around the sweep: what goes into it in order, and the exact sums over what comes out.
import { type ColumnKind, type Database, literal } from '../duckdb.ts'
import type { Pair } from '../scoring/question.ts'

/**
 * Numbers the entities and the questions that score, so that the sweep deals in small integers.
 * `entity`: one row per entity, numbered in the order (entity_type, entity_id).
 * `question`: one row per question with an outcome yes or no that was known at `asOf`, numbered in the order of
 * question_id; `place` is its place in the order (resolved_at, question_id).
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
       (r.outcome = 'yes')::INTEGER AS yes, epoch_ms(q.opened_at)::DOUBLE AS opened_ms,
       epoch_ms(q.closes_at)::DOUBLE AS closes_ms, epoch_ms(r.resolved_at)::DOUBLE AS resolved_ms,
       (row_number() OVER (ORDER BY r.resolved_at, q.question_id))::INTEGER AS place
     FROM current_questions q JOIN current_resolutions r USING (question_id)
     WHERE r.outcome IN ('yes', 'no') AND r.resolved_at <= ${literal(asOf.toISOString())}::TIMESTAMPTZ
     ORDER BY question`,
  )
}

/**
 * Makes `counted`, the forecasts with one row per forecast_id: of several the one recorded first. Looking for a
 * second row first, by a hash that may be wrong only in finding too much, costs a tenth of sorting them all out.
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

/** Grain: one row per question that scores, in the order of its number. */
export const QUESTIONS = `SELECT opened_ms, closes_ms, resolved_ms, yes FROM question ORDER BY question`
export const QUESTION_KINDS = ['double', 'double', 'double', 'int32'] as const

const EVENT_COLUMNS = `question, entity, epoch_ms(forecast_at)::DOUBLE AS at_ms,
  round_even(probability * 1e6, 0)::INTEGER AS ppm, (source = 'import')::INTEGER AS imported`
export const FORECAST_COLUMNS = ['int32', 'int32', 'double', 'int32', 'int32'] as const

/**
 * Grain: one row per forecast on a question that scores, in the order (question, time, entity). Sorting by
 * forecast_id, a text, would double the memory and the time, and only `TIED_EVENTS` depend on it.
 */
export const FORECASTS_IN_ORDER = `
  SELECT ${EVENT_COLUMNS} FROM counted JOIN question USING (question_id) JOIN entity USING (entity_type, entity_id)
  ORDER BY question, at_ms, entity`

/** Grain: one row per forecast on a question in `tied`, in the order (question, time, forecast_id). */
export const TIED_FORECASTS = `
  SELECT ${EVENT_COLUMNS} FROM counted JOIN question USING (question_id) JOIN entity USING (entity_type, entity_id)
  SEMI JOIN tied USING (question)
  ORDER BY question, at_ms, forecast_id`

/** `tied` holds the questions on which the order of forecast_ids matters. Grain: one row per question. */
export const TIED_KINDS = { question: 'int32' } as const

/** `pair` holds what the sweep yields. Grain: one row per entity and question. */
export const PAIR_COLUMNS = {
  question: 'int32',
  entity: 'int32',
  forecasts: 'int32',
  imported: 'int32',
  closingPpm: 'int32',
  coverage: 'double',
  brier: 'double',
  referenceBrier: 'double',
  logScore: 'double',
  baselineScore: 'double',
  peerScore: 'double',
  conviction: 'double',
  weightedBrier: 'double',
  weightedReference: 'double',
  weightedLog: 'double',
  movedPpm: 'double',
  towardPpm: 'double',
  flipFlop: 'double',
} as const satisfies Partial<Record<'question' | keyof Pair, ColumnKind>>

export function createTable(name: string, kinds: Record<string, ColumnKind>): string {
  const columns = Object.entries(kinds).map(
    ([column, kind]) => `${column} ${kind === 'int32' ? 'INTEGER' : 'DOUBLE'}`,
  )
  return `CREATE TABLE ${name} (${columns.join(', ')})`
}

const whole = (column: string) => `sum(${column}::BIGINT)`

/** Grain: one row per entity that took part, in the order of its number. All sums are of integers. */
export const ENTITY_SUMS = `
  SELECT entity, count(*)::INTEGER AS questions,
    ${whole('forecasts')}::BIGINT AS forecasts, ${whole('imported')}::BIGINT AS imported,
    ${whole('coverage')} AS coverage, ${whole('weightedBrier')} AS "weightedBrier",
    ${whole('weightedReference')} AS "weightedReference", ${whole('weightedLog')} AS "weightedLog",
    ${whole('baselineScore')} AS "baselineScore", ${whole('peerScore')} AS "peerScore",
    sum(x * x) AS xx, sum(x * y) AS xy, sum(y * y) AS yy,
    ${whole('conviction')} AS conviction, (sum(forecasts) - count(*))::BIGINT AS updates,
    ${whole('movedPpm')} AS "movedPpm", ${whole('towardPpm')} AS "towardPpm",
    sum(greatest(flipFlop, 0)::BIGINT) AS "flipFlop", count(*) FILTER (flipFlop >= 0)::INTEGER AS "flipFlopQuestions"
  FROM (SELECT *, (weightedReference - weightedBrier)::HUGEINT AS x, weightedReference::HUGEINT AS y FROM pair)
  GROUP BY entity ORDER BY entity`

/** Grain: one row per entity and question, in the order (entity, resolved_at, question_id). */
export const ENTITY_QUESTIONS = `
  SELECT entity, closingPpm AS ppm, yes, weightedBrier, weightedReference
  FROM pair JOIN question USING (question) ORDER BY entity, place`
export const ENTITY_QUESTION_KINDS = ['int32', 'int32', 'int32', 'double', 'double'] as const

/** The rows of scores.parquet. Grain: one row per entity and question, in the order of their ids. */
export const SCORES = `
  SELECT entity_type, entity_id, question_id, outcome, coverage / 1e12 AS coverage, brier / 1e12 AS brier,
    referenceBrier / 1e12 AS reference_brier, logScore / 1e12 AS log_score, baselineScore / 1e12 AS baseline_score,
    peerScore / 1e12 AS peer_score, forecasts, closingPpm / 1e6 AS closing_probability
  FROM pair JOIN question USING (question) JOIN entity USING (entity) ORDER BY entity, question`
