// Makes a release in stages as a shell would, with DuckDB to join, sort and count the lines in between.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Components } from '../../jobs/components/components.ts'
import { type Database, literal, withDatabase } from '../../pipeline/duckdb.ts'
import { DIVISOR, createEntities, createQuestions, entitiesAt } from '../../pipeline/engine/queries.ts'
import { type KnownEntity, voicesOf } from '../../pipeline/scoring/voices.ts'
import type { ReleaseResult } from '../../pipeline/release/make.ts'
import { versionsOf } from '../../pipeline/release/plan.ts'
import { lineOfFields } from '../../pipeline/release/stage/lines.ts'
import type { StagedPlan } from '../../pipeline/release/stage/plan.ts'
import { attachAll } from '../../pipeline/tables/views.ts'
import { FACT_NAMES } from '../../schemas/entity-facts.ts'
import { PAIR_METRICS } from '../../schemas/metrics.ts'
import type { VoiceRule } from '../../schemas/payloads.ts'
import { type Stages, inProcess } from './stage-runs.ts'

const METRICS = Object.keys(PAIR_METRICS)
/** The facts of a question, as numbers. */
const FACTS = `yes, settled, epoch_ms(settled_at) AS settled_ms, question, cluster_number, week_number, category_number,
  0 AS joint, 1 AS unit_questions`
const bigints = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 'BIGINT']))

/** What is printed of files and entities. */
const PUBLISHED = {
  what: 'VARCHAR',
  entity_type: 'VARCHAR',
  entity_id: 'VARCHAR',
  pool_size: 'BIGINT',
  pool: 'VARCHAR',
  value: 'BIGINT',
  owner: 'VARCHAR',
  category: 'BIGINT',
  content: 'VARCHAR',
}

/** The lines of a query. */
async function linesOf(database: Database, sql: string): Promise<string> {
  const rows = await database.rows(sql)
  return rows.map((row) => lineOfFields(Object.values(row) as (string | number | null)[])).join('')
}

/** Makes a table of the lines that a stage has printed. */
async function load(
  { directory }: Components,
  database: Database,
  table: string,
  columns: Readonly<Record<string, string>>,
  text: string,
): Promise<void> {
  const path = join(directory, `${table}.tsv`)
  await writeFile(path, text)
  const types = Object.entries(columns).map(([name, type]) => `'${name}': '${type}'`)
  await database.run(
    `CREATE OR REPLACE TABLE ${table} AS FROM read_csv(${literal(path)}, columns = {${types.join(', ')}},
       auto_detect = false, header = false, delim = '\t', quote = '', escape = '', nullstr = '\\N')`,
  )
}

/** The events of a world, in order. `voice` is the table of the entities' own voices. */
const eventsOf = (
  witnessMinutes: number,
) => `SELECT question, opened_ms::BIGINT AS opened_ms, closes_ms::BIGINT AS closes_ms,
    ends_ms::BIGINT AS ends_ms, ${DIVISOR} AS divisor, yes, epoch_ms(forecast_at) AS at_ms, forecast_id,
    epoch_ms(recorded_at) AS recorded_ms, entity, own_voice,
    coalesce(round_even(probability * 1e6, 0), -1)::INTEGER AS ppm,
    (source <> 'import' AND (forecasts.entity_type = 'agent'
      OR (recorded_at <= forecast_at + INTERVAL ${witnessMinutes} MINUTE AND epoch_ms(recorded_at) < ends_ms)))::INTEGER AS witnessed
  FROM forecasts JOIN question USING (question_id)
  LEFT JOIN (FROM entity JOIN voice USING (entity)) sweepable
    ON forecasts.entity_type = sweepable.entity_type AND forecasts.entity_id = sweepable.entity_id
      AND (forecasts.entity_type <> 'agent' OR source <> 'import')
  UNION ALL SELECT question, opened_ms::BIGINT, closes_ms::BIGINT, ends_ms::BIGINT, ${DIVISOR}, yes, epoch_ms(priced_at), NULL,
    epoch_ms(recorded_at), NULL, NULL, coalesce(round_even(probability * 1e6, 0), -1)::INTEGER, 0
  FROM prices JOIN question USING (question_id)
  ORDER BY question, at_ms, forecast_id NULLS FIRST, recorded_ms, entity NULLS FIRST, ppm`

/** Makes the tables of a release, up to the events of its sweep. */
async function withEvents<T>(
  components: Components,
  plan: StagedPlan,
  work: (database: Database, entities: KnownEntity[]) => Promise<T>,
): Promise<T> {
  const derive = (database: Database) => async () => {
    const versions = await versionsOf(components.store, plan)
    await attachAll(database, components.local, versions)
    await createQuestions(database, new Date(plan.as_of))
    await database.run(`CREATE VIEW counted AS FROM forecasts`)
    await createEntities(database, new Date(plan.as_of))
    return work(database, await database.rows<KnownEntity>(entitiesAt(new Date(plan.as_of))))
  }
  return withDatabase(components.openDatabase, (database) => components.local.reading(derive(database)))
}

async function eventsUnder(
  { methodology }: Components,
  database: Database,
  entities: readonly KnownEntity[],
  rule: VoiceRule,
): Promise<string> {
  const voices = voicesOf(entities, rule)
  const values = Array.from(voices, (own, entity) => `(${entity}, ${own < 0 ? 'NULL' : own})`).join(', ')
  await database.run(
    `CREATE OR REPLACE TABLE voice AS SELECT * FROM (VALUES ${values || '(NULL, NULL)'}) AS voice (entity, own_voice)`,
  )
  return linesOf(database, eventsOf(methodology.parameters.witness_minutes))
}

/** Plans a release and makes it. */
export async function stagedRelease(
  components: Components,
  stages = inProcess(components),
): Promise<ReleaseResult> {
  const plan = await stages.plan()
  if (!plan.made) return plan
  return withEvents(components, plan, (...made) => carryOut(components, plan, stages, ...made))
}

async function carryOut(
  components: Components,
  plan: StagedPlan,
  { run }: Stages,
  database: Database,
  entities: KnownEntity[],
): Promise<ReleaseResult> {
  const { methodology } = components
  const { release } = plan
  const described: string[] = plan.files.map((file) => JSON.stringify(file))
  const publish = async (files: string, sql: string, tally?: string): Promise<string> => {
    const input = await linesOf(database, sql)
    const printed = await run(
      `publish ${files}`,
      input,
      tally === undefined ? { release } : { release, tally },
    )
    for (const line of printed.split('\n'))
      if (line.startsWith('file\t')) described.push(line.split('\t').at(-1)!)
    return printed
  }

  // The sweep, and the voice rule.
  const sweepBy = async (rule: VoiceRule) => {
    const printed = await run('sweep', await eventsUnder(components, database, entities, rule))
    const columns = {
      ...bigints(['question', 'entity', ...METRICS]),
      course: 'VARCHAR',
      reference_scores: 'VARCHAR',
    }
    await load(components, database, 'swept_lines', columns, printed)
    await database.run(
      `CREATE OR REPLACE TABLE pair AS SELECT * EXCLUDE (course, reference_scores) FROM swept_lines WHERE entity IS NOT NULL`,
    )
    await database.run(
      `CREATE OR REPLACE TABLE told AS SELECT question, course, reference_scores FROM swept_lines WHERE entity IS NULL`,
    )
  }
  let voiceRule: VoiceRule = 'recorded'
  await sweepBy(voiceRule)
  const [scored] = await database.rows<{ voices: bigint }>(
    `SELECT count(DISTINCT entity) AS voices FROM pair JOIN voice USING (entity) JOIN question USING (question)
     WHERE own_voice = entity AND settled = 1`,
  )
  if (scored!.voices < methodology.parameters.least_voices) {
    voiceRule = 'everyone'
    await sweepBy(voiceRule)
  }
  const [forecasts] = await database.rows<{ count: bigint }>(
    `SELECT (SELECT coalesce(sum(forecasts), 0) FROM swept_lines WHERE entity IS NULL)
       + (SELECT count(DISTINCT forecast_id) FROM forecasts ANTI JOIN question USING (question_id)) AS count`,
  )

  await createCircumstances(database)

  // The scores.
  await load(
    components,
    database,
    'scored_entity',
    {
      ...bigints(['entity', 'pairs']),
      pool: 'VARCHAR',
      ...bigints(['skill', 'lower', 'upper']),
      scores: 'VARCHAR',
      listing: 'VARCHAR',
    },
    await run(
      'score',
      await linesOf(
        database,
        `SELECT circumstance.*, pairs.* EXCLUDE (entity) FROM circumstance
         LEFT JOIN (SELECT entity, place, ${FACTS}, ${METRICS.join(', ')} FROM pair JOIN question USING (question)) pairs USING (entity)
         ORDER BY entity, place`,
      ),
    ),
  )
  const counts = await linesOf(
    database,
    `SELECT entity_type, (retired_at IS NOT NULL)::INTEGER AS retired, pool, skill, lower, upper, count(*) AS count
     FROM scored_entity JOIN entity USING (entity) GROUP BY ALL
     ORDER BY entity_type, retired, pool NULLS FIRST, skill NULLS FIRST, lower NULLS FIRST, upper NULLS FIRST`,
  )
  const tally = await run('tally', counts, { release, voiceRule })
  await database.run(
    `CREATE OR REPLACE TABLE sharded AS SELECT *, (dense_rank() OVER (ORDER BY entity_type, number // 256) - 1)::INTEGER AS shard
     FROM (SELECT entity, entity_type, entity_id, row_number() OVER (PARTITION BY entity_type ORDER BY entity) - 1 AS number FROM entity)`,
  )
  await load(
    components,
    database,
    'part',
    bigints(['shard', 'entities_part', 'scores_part']),
    await run(
      'parts',
      await linesOf(
        database,
        `SELECT shard, entity_type, count(*), sum(pairs) FROM sharded JOIN scored_entity USING (entity)
         GROUP BY ALL ORDER BY shard`,
      ),
    ),
  )

  // The files.
  const facts = `to_json(struct_pack(${FACT_NAMES.map((name) => `${name} := ${name}`).join(', ')}))`
  await load(
    components,
    database,
    'fact',
    { entity: 'BIGINT', facts: 'VARCHAR' },
    await linesOf(
      database,
      `SELECT row_number() OVER () - 1, ${facts} FROM (${entitiesAt(new Date(plan.as_of))})`,
    ),
  )
  const ranked = (unit: string) =>
    `SELECT ${unit}, entity, entity_type, entity_id, facts, pairs, scores, listing
     FROM sharded JOIN part USING (shard) JOIN fact USING (entity)
     JOIN scored_entity USING (entity) ORDER BY entity`
  const shards = await publish('shards', ranked('shard'), tally)
  await publish('entities', ranked('entities_part'), tally)
  await publish(
    'scores',
    `SELECT scores_part, entity, entity_type, entity_id, question, question_id, outcome, epoch_ms(resolved_at), settled,
       epoch_ms(settled_at), cluster, week, joint, unit_questions, place, ${METRICS.join(', ')}
     FROM sharded JOIN part USING (shard) LEFT JOIN (FROM pair JOIN question USING (question)) USING (entity)
     ORDER BY entity, place`,
  )
  await publish(
    'questions',
    `WITH last AS (
       SELECT question, yes, entity, entity_type, entity_id, closing_probability AS ppm, coverage,
         coalesce(own_voice = entity, false)::INTEGER AS voice,
         (entity_type = 'forecaster' OR name IS NOT NULL)::INTEGER AS listed
       FROM pair JOIN question USING (question) JOIN entity USING (entity) JOIN voice USING (entity) WHERE settled = 1
     ), crowd AS (
       SELECT question, abs(round_even(sum(ppm)::DOUBLE / count(*), 0) - any_value(yes) * 1e6) AS error
       FROM last WHERE voice = 1 AND ppm >= 0 GROUP BY question
     ), answered_question AS (
       SELECT row_number() OVER (ORDER BY question) - 1 AS number, count(*) OVER () AS answered, question, question_id, yes,
         course, count(error) OVER () AS crowds,
         CASE WHEN error IS NOT NULL THEN rank() OVER (ORDER BY error DESC NULLS LAST) - 1 END AS surprising
       FROM question SEMI JOIN last USING (question) LEFT JOIN told USING (question) LEFT JOIN crowd USING (question)
     )
     SELECT answered_question.*, entity, entity_type, entity_id, ppm, coverage, voice, listed
     FROM answered_question JOIN last USING (question) ORDER BY number, entity`,
  )
  await load(components, database, 'published', PUBLISHED, shards)
  await publish(
    'leaderboards',
    `SELECT (number - 1) // 100 AS page, entity_type, entity_id, pool_size, pool, value, content FROM
       (SELECT *, row_number() OVER (PARTITION BY entity_type
          ORDER BY pool_size DESC NULLS LAST, pool, value DESC, entity_id) AS number
        FROM published WHERE what = 'entity') ORDER BY entity_type, number`,
  )
  await publish(
    'owners',
    `SELECT (dense_rank() OVER (ORDER BY owner) - 1) // 256 AS file, owner, entity_id, content FROM published
     WHERE what = 'entity' AND owner IS NOT NULL ORDER BY owner, entity_id`,
  )
  await publish(
    'categories',
    `SELECT category, entity_type, again, entity_id, pool_size, pool, value, content FROM
       (SELECT *, unnest([0, 1]) AS again FROM published WHERE what = 'category'
        UNION ALL BY NAME SELECT category_number AS category, entity_type, 0 AS again,
          count(DISTINCT entity)::VARCHAR AS content
        FROM pair JOIN question USING (question) JOIN entity USING (entity)
        WHERE settled = 1 AND category_number >= 0 GROUP BY ALL)
     ORDER BY category, entity_type, again, pool_size DESC NULLS LAST, pool, value DESC NULLS LAST, entity_id`,
  )
  await publish(
    'references',
    `SELECT place, opened_ms::BIGINT, agent_pool, forecaster_pool, reference_scores, ${FACTS}
     FROM question LEFT JOIN told USING (question) LEFT JOIN (
       SELECT question, max(pool) FILTER (entity_type = 'agent') AS agent_pool,
         max(pool) FILTER (entity_type = 'forecaster') AS forecaster_pool FROM question_pool GROUP BY question) USING (question)
     WHERE settled = 1 ORDER BY place`,
  )
  const options = { release, tally, forecasts: Number(forecasts!.count) }
  const files = described.map((file) => `${file}\n`).toReversed()
  return JSON.parse(await run('commit', files.join(''), options)) as ReleaseResult
}

/** Makes the tables `circumstance`, one row per entity, and `question_pool`, one per question of a pool. */
async function createCircumstances(database: Database): Promise<void> {
  await database.run(
    `CREATE OR REPLACE TABLE met AS
     SELECT question, entity, entity_type, settled, settled_at, first_at, last_at, settled = 1 AND judged = 1 AS contested
     FROM pair JOIN entity USING (entity) JOIN question USING (question)`,
  )
  await createPools(database)
  await database.run(
    `CREATE OR REPLACE TABLE active AS
     SELECT entity, min(settled_at) FILTER (contested) AS first_contested_at,
       min(first_at) FILTER (settled = 1) AS first_at, max(last_at) FILTER (settled = 1) AS last_at FROM met GROUP BY entity`,
  )
  await database.run(
    `CREATE OR REPLACE TABLE offer AS
     SELECT entity, count(*) AS offered, count(answered) AS answered
     FROM active JOIN pooled USING (entity) JOIN question_pool USING (entity_type, pool) JOIN question USING (question)
       LEFT JOIN (SELECT question, entity, 1 AS answered FROM met) USING (question, entity)
     WHERE answered = 1 OR (opened_ms <= last_at AND ends_ms > first_at) GROUP BY entity`,
  )
  const owner = `PARTITION BY entity_type, owner_id`
  await database.run(
    `CREATE OR REPLACE TABLE circumstance AS
     SELECT entity, coalesce(own_voice = entity, false)::INTEGER AS voice, pool,
       if(pool IS NULL, NULL, count(*) OVER (PARTITION BY entity_type, pool)) AS pool_size,
       if(entity_type = 'agent', count(active.entity) OVER (${owner}), NULL) AS owner_agents,
       if(entity_type = 'agent' AND first_contested_at IS NOT NULL,
         row_number() OVER (${owner} ORDER BY first_contested_at NULLS LAST, entity_id), NULL) AS attempt,
       coalesce(offered, 0) AS offered, coalesce(answered, 0) AS answered, (retired_at IS NOT NULL)::INTEGER AS retired
     FROM entity JOIN voice USING (entity) LEFT JOIN pooled USING (entity, entity_type) LEFT JOIN active USING (entity)
       LEFT JOIN offer USING (entity)`,
  )
}

/** Makes the tables `pooled` and `question_pool`. Names fall from question to question until no one does. */
async function createPools(database: Database): Promise<void> {
  await database.run(
    `CREATE OR REPLACE TABLE pooled AS
     SELECT DISTINCT entity, met.entity_type, entity_id AS pool FROM met JOIN entity USING (entity) WHERE contested`,
  )
  for (let isOver = false; !isOver;) {
    await database.run(
      `CREATE OR REPLACE TABLE question_pool AS
       SELECT question, entity_type, min(pool) AS pool FROM met JOIN pooled USING (entity, entity_type) WHERE contested GROUP BY ALL`,
    )
    await database.run(
      `CREATE OR REPLACE TABLE nearer AS
       SELECT entity, entity_type, min(pool) AS pool FROM met JOIN question_pool USING (question, entity_type) WHERE contested GROUP BY ALL`,
    )
    const [fallen] = await database.rows(
      `SELECT 1 AS one FROM pooled JOIN nearer USING (entity) WHERE nearer.pool < pooled.pool LIMIT 1`,
    )
    isOver = fallen === undefined
    await database.run(`CREATE OR REPLACE TABLE pooled AS FROM nearer`)
  }
}
