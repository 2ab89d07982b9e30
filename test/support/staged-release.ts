// Makes a release in stages as a shell would, with DuckDB to join and sort the lines in between and the
// strengths fitted in memory.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Components } from '../../jobs/components/components.ts'
import { type Database, literal, withDatabase } from '../../pipeline/duckdb.ts'
import { QUESTIONS, createEntities, createQuestions, entitiesAt } from '../../pipeline/engine/queries.ts'
import { type KEPT_COLUMNS, KeptPairs, fit } from '../../pipeline/engine/fit.ts'
import { Rows } from '../../pipeline/engine/rows.ts'
import { PAIR_COLUMNS } from '../../pipeline/scoring/pairs.ts'
import type { ResolvedQuestion } from '../../pipeline/scoring/question.ts'
import { nanoOf, standardReference } from '../../pipeline/scoring/strength.ts'
import { type KnownEntity, type Voices, voicesOf } from '../../pipeline/scoring/voices.ts'
import type { ReleaseResult } from '../../pipeline/release/make.ts'
import { versionsOf } from '../../pipeline/release/plan.ts'
import { lineOf } from '../../pipeline/stage/lines.ts'
import type { StagedPlan } from '../../pipeline/stage/plan.ts'
import { attachAll } from '../../pipeline/tables/views.ts'
import type { Block } from '../../schemas/columns.ts'
import { PAIR_METRICS } from '../../schemas/metrics.ts'
import type { VoiceRule } from '../../schemas/payloads.ts'
import { type Stages, inProcess } from './stage-runs.ts'

const METRICS = Object.keys(PAIR_METRICS)
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
  return rows.map((row) => lineOf(Object.values(row) as (string | number | null)[])).join('')
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
    resolved_ms::BIGINT AS resolved_ms, yes, epoch_ms(forecast_at) AS at_ms, forecast_id,
    epoch_ms(recorded_at) AS recorded_ms, entity, own_voice,
    coalesce(round_even(probability * 1e6, 0), -1)::INTEGER AS ppm, (source = 'import')::INTEGER AS imported,
    (source <> 'import' AND (forecasts.entity_type = 'agent'
      OR recorded_at <= forecast_at + INTERVAL ${witnessMinutes} MINUTE))::INTEGER AS witnessed
  FROM forecasts JOIN question USING (question_id)
  LEFT JOIN (FROM entity JOIN voice USING (entity)) sweepable
    ON forecasts.entity_type = sweepable.entity_type AND forecasts.entity_id = sweepable.entity_id
      AND (forecasts.entity_type <> 'agent' OR source <> 'import')
  ORDER BY question, at_ms, forecast_id, recorded_ms, entity NULLS FIRST, ppm, imported`

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
): Promise<{ events: string; voices: Voices }> {
  const voices = voicesOf(entities, rule)
  const values = Array.from(voices, (own, entity) => `(${entity}, ${own < 0 ? 'NULL' : own})`).join(', ')
  await database.run(
    `CREATE OR REPLACE TABLE voice AS SELECT * FROM (VALUES ${values || '(NULL, NULL)'}) AS voice (entity, own_voice)`,
  )
  return { events: await linesOf(database, eventsOf(methodology.parameters.witness_minutes)), voices }
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
    const { events, voices } = await eventsUnder(components, database, entities, rule)
    const printed = await run('sweep', events)
    const columns = { ...bigints(['question', 'entity', ...METRICS]), course: 'VARCHAR', crowd: 'VARCHAR' }
    await load(components, database, 'swept_lines', columns, printed)
    await database.run(
      `CREATE OR REPLACE TABLE pair AS SELECT * EXCLUDE (course, crowd) FROM swept_lines WHERE entity IS NOT NULL`,
    )
    await database.run(
      `CREATE OR REPLACE TABLE crowds AS SELECT question, course, crowd FROM swept_lines WHERE entity IS NULL`,
    )
    return voices
  }
  let voiceRule: VoiceRule = 'recorded'
  let voices = await sweepBy(voiceRule)
  const [scored] = await database.rows<{ voices: bigint }>(
    `SELECT count(DISTINCT entity) AS voices FROM pair JOIN voice USING (entity) JOIN question USING (question)
     WHERE own_voice = entity AND settled = 1`,
  )
  if (scored!.voices < methodology.parameters.least_voices) {
    voiceRule = 'everyone'
    voices = await sweepBy(voiceRule)
  }
  const [forecasts] = await database.rows<{ count: bigint }>(
    `SELECT (SELECT coalesce(sum(forecasts), 0) FROM swept_lines WHERE entity IS NULL)
       + (SELECT count(DISTINCT forecast_id) FROM forecasts ANTI JOIN question USING (question_id)) AS count`,
  )

  await strengths(components, database, entities, voices)

  // The scores.
  await load(
    components,
    database,
    'scored_entity',
    {
      ...bigints(['entity', 'pairs']),
      pool: 'VARCHAR',
      ...bigints(['voice', 'skill', 'lower', 'upper']),
      scores: 'VARCHAR',
      listing: 'VARCHAR',
    },
    await run(
      'score',
      await linesOf(
        database,
        `SELECT entity, voice, strength, pool, pool_size, owner_agents, attempt, place, yes, settled, cluster_number,
           category_number, standard, standard_other, ${METRICS.join(', ')}
         FROM circumstance LEFT JOIN (FROM pair JOIN standard USING (question, entity) JOIN question USING (question)) USING (entity)
         ORDER BY entity, place`,
      ),
    ),
  )
  const counts = await linesOf(
    database,
    `SELECT entity_type, (retired_at IS NOT NULL)::INTEGER AS retired, pool, voice, skill, lower, upper, count(*) AS count
     FROM scored_entity JOIN entity USING (entity) GROUP BY ALL
     ORDER BY entity_type, retired, pool NULLS FIRST, voice NULLS FIRST, skill NULLS FIRST, lower NULLS FIRST, upper NULLS FIRST`,
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
  const named = `to_json({name: name, model_type: model_type, organization_name: organization_name, owner_id: owner_id})`
  await load(
    components,
    database,
    'activity',
    { entity: 'BIGINT', last_ms: 'BIGINT', open_forecasts: 'BIGINT', next_ms: 'BIGINT', overdue: 'BIGINT' },
    await linesOf(
      database,
      `SELECT row_number() OVER () - 1, "lastForecastAtMs"::BIGINT, "openForecasts", "nextCloseAtMs"::BIGINT, "overdueForecasts"
       FROM (${entitiesAt(new Date(plan.as_of))})`,
    ),
  )
  const ranked = (unit: string) =>
    `SELECT ${unit}, entity, entity_type, entity_id, ${named}::VARCHAR AS names, epoch_ms(registered_at), epoch_ms(retired_at),
       last_ms, open_forecasts, next_ms, overdue, pairs, scores, listing
     FROM entity JOIN sharded USING (entity, entity_type, entity_id) JOIN part USING (shard) JOIN activity USING (entity)
     JOIN scored_entity USING (entity) ORDER BY entity`
  const shards = await publish('shards', ranked('shard'), tally)
  await publish('entities', ranked('entities_part'), tally)
  await publish(
    'scores',
    `SELECT scores_part, entity, entity_type, entity_id, question, question_id, outcome, resolved_ms::BIGINT, settled,
       epoch_ms(settled_at), cluster, place, standard, standard_other, ${METRICS.join(', ')}
     FROM sharded JOIN part USING (shard)
     LEFT JOIN (FROM pair JOIN standard USING (question, entity) JOIN question USING (question)) USING (entity)
     ORDER BY entity, place`,
  )
  await publish(
    'names',
    `SELECT own.entity_type AS kind, own.entity AS number, own.entity_id AS id, measuring.entity_id AS voice, NULL AS course, NULL AS crowd
     FROM (FROM entity JOIN voice USING (entity) SEMI JOIN pair USING (entity)) own
     LEFT JOIN entity measuring ON measuring.entity = own_voice
     UNION ALL SELECT 'question', question, question_id, NULL, course, crowd
       FROM question LEFT JOIN crowds USING (question) ORDER BY kind, number`,
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
     ), asked AS (
       SELECT row_number() OVER (ORDER BY question) - 1 AS number, count(*) OVER () AS asked, question, question_id, yes,
         course, count(error) OVER () AS crowds,
         CASE WHEN error IS NOT NULL THEN rank() OVER (ORDER BY error DESC NULLS LAST) - 1 END AS surprising
       FROM question SEMI JOIN last USING (question) LEFT JOIN crowds USING (question) LEFT JOIN crowd USING (question)
     )
     SELECT asked.*, entity, entity_type, entity_id, ppm, coverage, voice, listed
     FROM asked JOIN last USING (question) ORDER BY number, entity`,
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
    `SELECT place, yes, opened_ms::BIGINT, epoch_ms(settled_at), cluster_number, category_number, pool, weight, weighted,
       scale, crowd
     FROM question LEFT JOIN fitted_question USING (question) LEFT JOIN crowds USING (question)
     WHERE settled = 1 ORDER BY place`,
  )
  const options = { release, tally, forecasts: Number(forecasts!.count) }
  const files = described.map((file) => `${file}\n`).toReversed()
  return JSON.parse(await run('commit', files.join(''), options)) as ReleaseResult
}

/**
 * Makes the tables `circumstance`, of every entity, `standard`, of every pair, and `fitted_question`, of every
 * question.
 */
async function strengths(
  components: Components,
  database: Database,
  entities: KnownEntity[],
  voices: Voices,
): Promise<void> {
  const { methodology } = components
  const numbers = Object.entries(PAIR_COLUMNS).map(
    ([name, kind]) => `${name}::${kind === 'int32' ? 'INTEGER' : 'DOUBLE'} AS ${name}`,
  )
  const pairs = new Rows(PAIR_COLUMNS)
  for await (const block of database.columns(`SELECT ${numbers.join(', ')} FROM pair`, PAIR_COLUMNS)) {
    pairs.append(block, 0, block.rowCount)
  }
  const questions = await database.rows<ResolvedQuestion>(QUESTIONS)
  const kept = new KeptPairs(methodology, questions, new Rows(PAIR_COLUMNS))
  kept.take(pairs as unknown as Block<typeof KEPT_COLUMNS>)
  const fitted = fit(methodology, entities, voices, questions, kept)
  const facts = fitted.circumstances.map(
    ({ strength, voice, pool, pool_size, owner_agents, attempt }, entity) =>
      lineOf([entity, voice ? 1 : 0, strength, pool, pool_size, owner_agents, attempt]),
  )
  const circumstance = {
    ...bigints(['entity', 'voice', 'strength']),
    pool: 'VARCHAR',
    ...bigints(['pool_size', 'owner_agents', 'attempt']),
  }
  await load(components, database, 'circumstance', circumstance, facts.join(''))
  const { pools: divided, scales: scaled } = fitted
  const ofQuestions = Array.from(divided.ofQuestion, (pool, question) => {
    const named = pool < 0 ? null : entities[divided.names[pool]!]!.entityId
    return lineOf([
      question,
      named,
      fitted.weight[question]!,
      fitted.weighted[question]!,
      scaled[pool] ?? null,
    ])
  })
  const fittedQuestion = {
    question: 'BIGINT',
    pool: 'VARCHAR',
    ...bigints(['weight', 'weighted', 'scale']),
  }
  await load(components, database, 'fitted_question', fittedQuestion, ofQuestions.join(''))
  const { columns, rowCount } = pairs
  const standard = Array.from({ length: rowCount }, (_, row) => {
    const [question, entity] = [columns.question[row]!, columns.entity[row]!]
    const { weight, weighted, ownStrength, pools, scales } = fitted
    const standardOf = (part: number) =>
      standardReference(
        nanoOf(part),
        weight[question]!,
        weighted[question]!,
        columns.own_weight[row]!,
        ownStrength[entity]!,
        scales[pools.ofQuestion[question]!]!,
      )
    const isContested = kept.fitted.columns.contested[row] === 1
    const [z, other] = isContested
      ? [standardOf(columns.reference_part[row]!), standardOf(columns.reference_other[row]!)]
      : [-1, -1]
    return lineOf([question, entity, z, other])
  })
  const references = bigints(['question', 'entity', 'standard', 'standard_other'])
  await load(components, database, 'standard', references, standard.join(''))
}
