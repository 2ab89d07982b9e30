// DuckDB's part of scoring, as queries: numbering and sorting.
import { DOMAIN_OWNER } from '../../schemas/names.ts'
import type { ColumnKind, ColumnKinds } from '../../schemas/columns.ts'
import { PAIR_METRICS } from '../../schemas/metrics.ts'
import type { EventKind } from '../../schemas/tables.ts'
import { type Database, literal } from '../duckdb.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { JOINTS, QUESTION_COLUMNS, SCORED_COLUMNS } from '../scoring/pairs.ts'
import { ENDS_AT, RESOLVED } from '../tables/views.ts'

const knownAt = (asOf: Date) => `resolved_at <= ${literal(asOf.toISOString())}::TIMESTAMPTZ`

/** Selects the resolutions that score: an outcome of yes or no that was known at `asOf`. */
export function scoresAt(asOf: Date): string {
  return `outcome IN ('yes', 'no') AND ${knownAt(asOf)}`
}

const JOINT_OF: Record<Exclude<EventKind, 'independent'>, number> = {
  exclusive: JOINTS.exclusive,
  at_most_one: JOINTS.exclusive,
  ordered: JOINTS.ordered,
}
/** D, by which all errors of a question are divided. */
export const DIVISOR = `CASE joint WHEN ${JOINTS.lone} THEN 1 WHEN ${JOINTS.ordered} THEN unit_questions ELSE 2 END`
/** The name of a question's joint. */
export const JOINT = `CASE joint ${Object.entries(JOINTS)
  .map(([name, joint]) => `WHEN ${joint} THEN ${literal(name)}`)
  .join(' ')} END`
/** The name of a question's unit: that of its cluster, if the unit is an event. */
export const UNIT = `CASE joint WHEN ${JOINTS.lone} THEN 'question:' || question_id ELSE cluster END`

/** The cluster of a question `q`, and the ISO week (UTC) of its close. */
const CLUSTER = `coalesce('event:' || nullif(q.event_id, ''), 'question:' || q.question_id)`
const WEEK = `strftime(make_timestamp(epoch_us(q.closes_at)), '%G-W%V')`

/**
 * Numbers the categories of the current questions, in the order of their names. Grain: one row per category.
 */
async function createCategories(database: Database): Promise<void> {
  await database.run(
    `CREATE TABLE category AS
     SELECT (row_number() OVER (ORDER BY category) - 1)::INTEGER AS category_number, *
     FROM (SELECT category, count(*)::INTEGER AS questions, min(opened_at) AS opened_at, max(closes_at) AS closes_at
       FROM current_questions WHERE category <> '' GROUP BY category)`,
  )
}

/**
 * The joint of an event, and the number of its questions that are not annulled at `asOf`. Grain: one row per
 * event whose questions are one unit.
 */
function unitsAt(asOf: Date): string {
  const joints = Object.entries(JOINT_OF).map(([kind, joint]) => `WHEN ${literal(kind)} THEN ${joint}`)
  return `SELECT event_id, any_value(CASE kind ${joints.join(' ')} END) AS joint, count(*)::INTEGER AS unit_questions
    FROM current_questions JOIN current_events USING (event_id)
    ANTI JOIN (FROM current_resolutions WHERE outcome = 'annulled' AND ${knownAt(asOf)}) USING (question_id)
    WHERE kind <> 'independent' GROUP BY event_id HAVING count(*) > 1`
}

/**
 * Numbers the questions that score, their units, clusters and weeks, because the sweep handles small integers
 * and not UUIDs. Makes `question`: one row per question with an outcome of yes or no that was known at
 * `asOf`, numbered in the order of question_id. `settled` is 1 if it had closed at `asOf`. `place` is its
 * position in the order (settled_at, question_id). `category_number` is −1 without a category; the table
 * `category` has all categories.
 */
export async function createQuestions(database: Database, asOf: Date): Promise<void> {
  await createCategories(database)
  await database.run(
    `CREATE TABLE question AS
     SELECT (row_number() OVER (ORDER BY question_id) - 1)::INTEGER AS question,
       (dense_rank() OVER (ORDER BY ${UNIT}) - 1)::INTEGER AS unit_number,
       (dense_rank() OVER (ORDER BY cluster) - 1)::INTEGER AS cluster_number,
       (dense_rank() OVER (ORDER BY week) - 1)::INTEGER AS week_number,
       (row_number() OVER (ORDER BY settled_at, question_id))::INTEGER AS place, *
     FROM (SELECT q.question_id, r.outcome, ${CLUSTER} AS cluster, ${WEEK} AS week, coalesce(joint, ${JOINTS.lone}) AS joint,
         coalesce(unit_questions, 1) AS unit_questions, coalesce(category_number, -1) AS category_number,
         (r.outcome = 'yes')::INTEGER AS yes, r.resolved_at, epoch_ms(q.opened_at)::DOUBLE AS opened_ms,
         epoch_ms(q.closes_at)::DOUBLE AS closes_ms, epoch_ms(${ENDS_AT})::DOUBLE AS ends_ms,
         (q.closes_at <= ${literal(asOf.toISOString())}::TIMESTAMPTZ)::INTEGER AS settled,
         greatest(q.closes_at, r.resolved_at) AS settled_at
       FROM current_questions q JOIN current_resolutions r USING (question_id)
         LEFT JOIN (SELECT category, category_number FROM category) USING (category)
         LEFT JOIN (${unitsAt(asOf)}) USING (event_id)
       WHERE ${scoresAt(asOf)})
     ORDER BY question`,
  )
}

/**
 * Makes a view with one row per forecast_id, the one recorded first: `counted` from `forecasts`, unless
 * others are named. It first finds the ids that may be repeated by their hashes, and sorts only those,
 * because sorting all forecasts would cost ten times as much. Two ids with the same hash do no harm: they are
 * sorted in vain.
 *
 * @param key the columns that are equal in two rows of the same forecast.
 */
export async function createCounted(
  database: Database,
  forecasts = 'forecasts',
  counted = 'counted',
  key = 'forecast_id',
): Promise<void> {
  const repeated = `${counted}_repeated`
  await database.run(
    `CREATE OR REPLACE TEMP TABLE ${repeated} AS
     SELECT id_hash FROM (SELECT hash(${key}) AS id_hash FROM ${forecasts}) GROUP BY id_hash HAVING count(*) > 1`,
  )
  const [any] = await database.rows(`SELECT 1 AS one FROM ${repeated} LIMIT 1`)
  await database.run(
    any
      ? `CREATE OR REPLACE TEMP VIEW ${counted} AS
         SELECT * FROM ${forecasts} ANTI JOIN ${repeated} ON hash(${key}) = id_hash
         UNION ALL SELECT * FROM ${forecasts} SEMI JOIN ${repeated} ON hash(${key}) = id_hash
         QUALIFY row_number() OVER (PARTITION BY ${key} ORDER BY recorded_at, forecast_at, entity_type, entity_id,
           question_id, probability NULLS FIRST, source) = 1`
      : `CREATE OR REPLACE TEMP VIEW ${counted} AS FROM ${forecasts}`,
  )
}

/**
 * Numbers the entities of a release: all forecasters, and all agents with a forecast by `asOf`.
 *
 * Makes `entity`: one row per entity, in the order (entity_type, entity_id). `first_of_owner` is the agent
 * that its owner registered first, with or without forecasts; null unless the operator has recorded the
 * owner. A hidden agent has no name, nor has a forecaster. An agent that retires after `asOf` has not retired
 * yet.
 *
 * Makes `latest`: the last forecast of each entity.
 */
export async function createEntities(database: Database, asOf: Date): Promise<void> {
  const now = `${literal(asOf.toISOString())}::TIMESTAMPTZ`
  await database.run(
    `CREATE TEMP TABLE latest AS SELECT entity_type, entity_id, max(forecast_at) AS last_at FROM counted
     WHERE forecast_at <= ${now} GROUP BY ALL`,
  )
  await database.run(
    `CREATE TABLE entity AS
     SELECT (row_number() OVER (ORDER BY entity_type, entity_id) - 1)::INTEGER AS entity, *
     FROM (FROM (SELECT 'agent' AS entity_type, agent_id AS entity_id, nullif(name, '') AS name,
               nullif(model_type, '') AS model_type, organization_name, owner_id,
               CASE WHEN NOT starts_with(owner_id, ${literal(DOMAIN_OWNER)})
                 THEN first_value(agent_id) OVER (PARTITION BY owner_id ORDER BY registered_at, agent_id) END AS first_of_owner,
               registered_at, CASE WHEN retired_at <= ${now} THEN retired_at END AS retired_at
             FROM current_agents) SEMI JOIN latest USING (entity_type, entity_id)
           UNION ALL SELECT 'forecaster', user_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM current_forecasters)
     ORDER BY entity`,
  )
}

/** Grain: one row. */
export const FORECAST_COUNT = `SELECT count(*) AS forecasts FROM counted`

/**
 * Selects the entities, each with its activity by `asOf`. A question without a known outcome is open from its
 * opening to its close, and overdue from then on. A forecast counts if it was made before the close. Grain:
 * one row per entity, in the order of their numbers.
 */
export function entitiesAt(asOf: Date): string {
  const now = `${literal(asOf.toISOString())}::TIMESTAMPTZ`
  return `
    WITH undecided AS (
      SELECT question_id, closes_at FROM current_questions
      ANTI JOIN (FROM ${RESOLVED} WHERE resolved_at <= ${now}) USING (question_id)
      WHERE opened_at <= ${now}
    ), current AS (
      SELECT entity_type, entity_id, count(*) FILTER (closes_at > ${now})::INTEGER AS open,
        count(*) FILTER (closes_at <= ${now})::INTEGER AS overdue, min(closes_at) FILTER (closes_at > ${now}) AS next_close
      FROM (SELECT entity_type, entity_id, question_id, any_value(closes_at) AS closes_at,
          max(struct_pack(forecast_at, forecast_id, probability)).probability AS probability
        FROM counted JOIN undecided USING (question_id)
        WHERE forecast_at <= ${now} AND forecast_at < closes_at GROUP BY ALL)
      WHERE probability IS NOT NULL GROUP BY ALL
    )
    SELECT entity_type AS "entityType", entity_id AS "entityId", first_of_owner AS "firstOfOwner", name, model_type,
      owner_id, epoch_ms(retired_at)::DOUBLE AS retired_at, organization_name, epoch_ms(registered_at)::DOUBLE AS registered_at,
      epoch_ms(last_at)::DOUBLE AS last_forecast_at, coalesce(open, 0) AS open_forecasts,
      epoch_ms(next_close)::DOUBLE AS next_close_at, coalesce(overdue, 0) AS overdue_forecasts
    FROM entity LEFT JOIN latest USING (entity_type, entity_id) LEFT JOIN current USING (entity_type, entity_id)
    ORDER BY entity`
}

/** Grain: one row per question that scores, in the order of their numbers. */
export const QUESTION_ROWS = `SELECT opened_ms AS "openedAtMs", closes_ms AS "closesAtMs", ends_ms AS "endsAtMs",
    epoch_ms(settled_at)::DOUBLE AS "settledAtMs", yes AS outcome, settled = 1 AS "isSettled", ${DIVISOR} AS divisor
  FROM question ORDER BY question`

/** Stands for the entity in the row of a price. It comes before all entities. */
export const PRICE = -1
/** −1 without a probability. */
export const IN_PPM = 'coalesce(round_even(probability * 1e6, 0), -1)::INTEGER'

/**
 * A withdrawal has the probability −1. An agent's forecasts count only if they came by the API. Adds the
 * prices that may stand in a question's life as those of the entity `PRICE`, of several at one time the one
 * recorded last.
 */
const selectedForecasts = (
  { parameters }: Methodology,
  join = '',
): string => `SELECT question, entity, epoch_ms(forecast_at)::DOUBLE AS at_ms,
    ${IN_PPM} AS ppm,
    (source <> 'import' AND (entity_type = 'agent'
      OR (recorded_at <= forecast_at + INTERVAL ${parameters.witness_minutes} MINUTE
        AND epoch_ms(recorded_at) < ends_ms)))::INTEGER AS witnessed, forecast_id
  FROM counted JOIN question USING (question_id) JOIN entity USING (entity_type, entity_id) ${join}
  WHERE entity_type <> 'agent' OR source <> 'import'
  UNION ALL SELECT question, ${PRICE}, epoch_ms(priced_at)::DOUBLE, max(struct_pack(recorded_at, ppm := ${IN_PPM})).ppm, 0, ''
  FROM prices JOIN question USING (question_id) ${join}
  WHERE epoch_ms(priced_at) < ends_ms AND epoch_ms(priced_at) > opened_ms - ${parameters.price_hours * 3_600_000}
  GROUP BY question, priced_at`
export const FORECAST_COLUMNS = {
  question: 'int32',
  entity: 'int32',
  atMs: 'double',
  ppm: 'int32',
  witnessed: 'int32',
} as const satisfies ColumnKinds

/**
 * Grain: one row per forecast of the view `counted` and per price on a question that scores, in the order
 * (question, time, entity). Sorting by forecast_id, a text, would double memory and time, and only
 * `tiedForecasts` needs it.
 */
export function forecastsInOrder(methodology: Methodology): string {
  return forecastsIn(selectedForecasts(methodology), 'entity')
}

/**
 * Grain: one row per forecast and per price on a question in `tied`, in the order (question, time,
 * forecast_id).
 */
export function tiedForecasts(methodology: Methodology): string {
  return forecastsIn(selectedForecasts(methodology, 'SEMI JOIN tied USING (question)'), 'forecast_id')
}

function forecastsIn(selected: string, last: string): string {
  return `SELECT question, entity, at_ms, ppm, witnessed FROM (${selected}) ORDER BY question, at_ms, ${last}`
}

/** `tied` holds the questions on which the order of forecast_ids matters. Grain: one row per question. */
export const TIED_COLUMNS = { question: 'int32' } as const satisfies ColumnKinds

export function sqlType(kind: ColumnKind): string {
  return kind === 'int32' ? 'INTEGER' : 'DOUBLE'
}

export function createTable(name: string, kinds: ColumnKinds): string {
  const columns = Object.entries(kinds).map(([column, kind]) => `${column} ${sqlType(kind)}`)
  return `CREATE OR REPLACE TABLE ${name} (${columns.join(', ')})`
}

/** Grain: one row per entity. `own` is its own voice, −1 without one. */
export const VOICE = { entity: 'int32', own: 'int32' } as const satisfies ColumnKinds

/** Makes a table of the given columns. */
export async function keep<Kinds extends ColumnKinds>(
  database: Database,
  name: string,
  kinds: Kinds,
  values: { [Name in keyof Kinds]: ArrayLike<number> },
): Promise<void> {
  await database.run(createTable(name, kinds))
  const rows = await database.appender(name, kinds)
  const columns = Object.keys(kinds)
  for (let at = 0; at < values[columns[0]!]!.length; at++) {
    for (const column of columns) rows.columns[column]![rows.row] = values[column]![at]!
    rows.next()
  }
  rows.close()
}

/** For each question the entities that name its pools; −1 if no pair of the kind is contested. */
export const QUESTION_POOLS = {
  question: 'int32',
  agent_pool: 'int32',
  forecaster_pool: 'int32',
} as const satisfies ColumnKinds

/** The facts of `question` by which pairs are added up. */
export const QUESTION_FACTS = `yes AS outcome, settled, epoch_ms(settled_at)::DOUBLE AS settled_ms, unit_number AS unit,
    cluster_number AS cluster, week_number AS week, category_number AS category, joint, unit_questions`

/**
 * Moves the rows of the view `pair` into `scored`, in the order (entity, settled_at, question_id), so that
 * consecutive entities have a range of row ids. Adds the columns that name a published row. Grain: one row
 * per entity and question.
 */
export async function orderPairs(database: Database): Promise<void> {
  await nameRows(database)
  await database.run(
    `CREATE TABLE scored AS
     SELECT question, entity, ${Object.keys(QUESTION_COLUMNS).join(', ')}, entity_type, entity_id, question_id, resolved_at,
       settled_at, cluster_name, week_name, ${Object.keys(PAIR_METRICS).join(', ')}
     FROM pair JOIN named_entity USING (entity) JOIN named_question USING (question) ORDER BY entity, place`,
  )
  await database.run('DROP VIEW pair')
  for (const table of ['swept_pair', 'named_entity', 'named_question']) {
    await database.run(`DROP TABLE ${table}`)
  }
}

/**
 * Makes the tables `named_question` and `named_entity`, from which the row of a pair takes the columns of its
 * question and its entity. Ids are numbers of lists, because rows with texts take twice the memory and time.
 */
async function nameRows(database: Database): Promise<void> {
  const lists = {
    question_name: 'SELECT question_id FROM question ORDER BY question',
    cluster_name: 'SELECT cluster FROM question GROUP BY cluster, cluster_number ORDER BY cluster_number',
    week_name: 'SELECT week FROM question GROUP BY week, week_number ORDER BY week_number',
    entity_type_name: 'SELECT DISTINCT entity_type FROM entity ORDER BY entity_type',
    entity_name: 'SELECT DISTINCT entity_id FROM entity ORDER BY entity_id',
  }
  for (const [name, texts] of Object.entries(lists)) {
    await database.run(`CREATE TYPE ${name} AS ENUM (${texts})`)
  }
  await database.run(
    `CREATE TABLE named_question AS
     SELECT question, ${QUESTION_FACTS}, place, question_id::question_name AS question_id, resolved_at, settled_at,
       cluster::cluster_name AS cluster_name, week::week_name AS week_name
     FROM question`,
  )
  await database.run(
    `CREATE TABLE named_entity AS
     SELECT entity, entity_type::entity_type_name AS entity_type, entity_id::entity_name AS entity_id FROM entity`,
  )
}

/** Grain: one row per entity and question, in the order of `scored`. */
export const SCORED_PAIRS = `SELECT ${Object.keys(SCORED_COLUMNS).join(', ')} FROM scored`
