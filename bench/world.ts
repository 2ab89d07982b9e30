// A world to measure on: a month of weekly imports and daily submissions, the same rows for the same size.
// DuckDB generates them, and the service's own compaction takes them into the tables.
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Database } from '../pipeline/duckdb.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { inboxPath } from '../pipeline/store/paths.ts'
import { LocalFiles } from '../pipeline/store/local-files.ts'
import { compact } from '../pipeline/tables/compact.ts'
import { columnsOf, noRows } from '../pipeline/tables/columns.ts'
import { parquetOf } from '../pipeline/tables/data-files.ts'
import { tableSpec } from '../schemas/tables.ts'

export interface WorldSize {
  forecasts: number
  questions: number
  /** Three fifths forecasters, two fifths agents. */
  entities: number
  /** On average; an entity updates its forecast on a question as often as that, less once. */
  forecastsPerPair: number
}

/** Increase this with every change of what is generated, and of the columns of the tables. */
const GENERATOR = 4
const START = '2026-01-01'
const WEEKS = 4
/** When everything has been resolved and recorded. */
export const WORLD_END = new Date('2026-01-30T00:00:00Z')

/** 500 forecasts to a question, and entities that take part in some 400 questions each. */
export function worldSize(
  forecasts: number,
  questions?: number,
  entities?: number,
  forecastsPerPair = 5,
): WorldSize {
  return {
    forecasts,
    questions: questions ?? Math.max(1, Math.round(forecasts / 500)),
    entities: entities ?? Math.max(250, Math.round(forecasts / 2000)),
    forecastsPerPair,
  }
}

/**
 * The folder of a store that holds the world's tables and nothing else. It is made once, and later runs use
 * it again.
 */
export async function worldStore(size: WorldSize): Promise<string> {
  const { forecasts, questions, entities, forecastsPerPair } = size
  const name = `v${GENERATOR}-${forecasts}-${questions}-${entities}-${forecastsPerPair}`
  const root = join(tmpdir(), 'fvs-bench', name)
  if (!existsSync(root)) {
    await mkdir(dirname(root), { recursive: true })
    const unfinished = await mkdtemp(`${root}-`)
    await createWorld(unfinished, size)
    await rename(unfinished, root)
  }
  for (const left of ['releases', 'snapshots']) await rm(join(root, left), { recursive: true, force: true })
  return root
}

/** The tables of the world: it has no events and no prices. */
const TABLES = ['questions', 'resolutions', 'agents', 'forecasters', 'forecasts'] as const

async function createWorld(root: string, size: WorldSize): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'fvs-bench-spill-'))
  try {
    const store = await FileStore.begin(root)
    using database = await Database.open({ threads: 2, memoryLimit: '4GB', directory })
    const local = new LocalFiles(store, directory)
    await createRows(database, size)
    for (const table of TABLES) {
      const columns = columnsOf(tableSpec(table))
      for (let part = 0; part < (table === 'forecasts' ? WEEKS : 1); part++) {
        const generated = `FROM world_${table} ${table === 'forecasts' ? `WHERE week = ${part}` : ''}`
        const rows = `SELECT ${columns} FROM (${noRows(table)} UNION ALL BY NAME ${generated})`
        const bytes = await parquetOf({ database, directory }, 'part', rows, 122_880)
        const id = `00000000-0000-8000-8000-${String(part).padStart(12, '0')}`
        await store.put(inboxPath(table, id, bytes), bytes)
        await compact(
          { store, local, database, directory, now: () => WORLD_END, wait: () => Promise.resolve() },
          table,
        )
      }
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** A whole number below `limit` that follows from `of`. */
const below = (limit: string | number, ...of: string[]) => `(hash(${of.join(', ')}) % (${limit}))::BIGINT`

/** A UUID that follows from `of`, with the given version and first digits. */
const uuid = (of: string, version: number, first = `md5(${of})[1:12]`) =>
  `concat_ws('-', (${first})[1:8], (${first})[9:12], '${version}' || md5(${of})[14:16], '8' || md5(${of})[18:20], md5(${of})[21:32])`

/**
 * Makes the tables `world_<table>`, with rows in no order and without the columns that are always null.
 * Forecasts also have the week that they belong to.
 */
async function createRows(
  database: Database,
  { forecasts, questions, entities, forecastsPerPair }: WorldSize,
): Promise<void> {
  const pairs = Math.round(forecasts / forecastsPerPair)
  const perQuestion = Math.min(entities, Math.max(1, Math.round(pairs / questions)))
  // Each of a question's entities comes from a range of its own, so that none takes part twice.
  const stretch = Math.floor(entities / perQuestion)
  const start = Date.parse(`${START}T00:00:00Z`)
  const time = (ms: string) => `make_timestamptz((${ms}) * 1000)`
  // Grain: one row per entity.
  await database.run(
    `CREATE TEMP TABLE entity AS
     SELECT i AS entity, CASE WHEN i % 5 < 2 THEN 'agent' ELSE 'forecaster' END AS entity_type,
       ${uuid(`'entity' || i`, 4)} AS entity_id, ${below(1000, `'quality'`, 'i')} / 1000 AS quality
     FROM range(${entities}) r(i)`,
  )
  // Grain: one row per question. One in ten is resolved before its close.
  await database.run(
    `CREATE TEMP TABLE question AS
     SELECT i AS question, ${uuid(`'question' || i`, 4)} AS question_id, opened_ms, opened_ms + horizon_ms AS closes_ms,
       opened_ms + CASE WHEN i % 10 = 0 THEN horizon_ms * 4 // 5 ELSE horizon_ms + 3600000 END AS resolved_ms,
       ${below(2, `'outcome'`, 'i')} AS yes
     FROM (SELECT i, ${start} + ${below(20 * 86_400_000, `'opened'`, 'i')} AS opened_ms,
       86400000 + ${below(6 * 86_400_000, `'horizon'`, 'i')} AS horizon_ms FROM range(${questions}) r(i))`,
  )
  await database.run(
    `CREATE TEMP TABLE world_questions AS
     SELECT question_id, 'Question ' || question AS title, 'bench' AS category,
       ${time('opened_ms')} AS opened_at, ${time('closes_ms')} AS closes_at, ${time(String(start))} AS recorded_at
     FROM question`,
  )
  await database.run(
    `CREATE TEMP TABLE world_resolutions AS
     SELECT question_id, CASE yes WHEN 1 THEN 'yes' ELSE 'no' END AS outcome, ${time('resolved_ms')} AS resolved_at,
       ${time('resolved_ms')} AS recorded_at
     FROM question`,
  )
  await database.run(
    `CREATE TEMP TABLE world_agents AS
     SELECT entity_id AS agent_id, 'Agent ' || entity AS name, 'bench' AS model_type,
       ${time(String(start))} AS registered_at, ${time(String(start))} AS recorded_at
     FROM entity WHERE entity_type = 'agent'`,
  )
  await database.run(
    `CREATE TEMP TABLE world_forecasters AS
     SELECT entity_id AS user_id, ${time(String(start))} AS recorded_at
     FROM entity WHERE entity_type = 'forecaster'`,
  )
  // Grain: one row per forecast, drawn toward the outcome by the entity's quality.
  await database.run(
    `CREATE TEMP VIEW world_forecasts AS
     SELECT CASE entity_type WHEN 'agent' THEN ${uuid('name', 7, `format('{:012x}', at_ms)`)} ELSE ${uuid('name', 5)} END
         AS forecast_id,
       entity_type, entity_id, question_id,
       round(1 / (1 + exp(-lean)), CASE entity_type WHEN 'agent' THEN 4 ELSE 2 END) AS probability,
       ${time('at_ms')} AS forecast_at,
       ${time(`CASE entity_type WHEN 'agent' THEN at_ms ELSE ${start} + (week + 1) * 7 * 86400000 END`)} AS recorded_at,
       CASE entity_type WHEN 'agent' THEN 'api' ELSE 'import' END AS source, week
     FROM (
       SELECT *, (at_ms - ${start}) // (7 * 86400000) AS week, 'forecast' || pair || '-' || nth AS name,
         (2 * yes - 1) * quality * 1.5 * (0.5 + spent) + (${below(2000, `'noise'`, 'pair', 'nth')} / 1000 - 1) * 2 AS lean
       FROM (SELECT *, opened_ms + (spent * (closes_ms - opened_ms))::BIGINT AS at_ms
         FROM (SELECT pair, nth, pair // ${perQuestion} AS question,
             (pair % ${perQuestion}) * ${stretch} + ${below(stretch, `'entity'`, 'pair')} AS entity,
             ${below(1_000_000, `'spent'`, 'pair', 'nth')} / 1e6 AS spent
           FROM (SELECT i AS pair, unnest(range(1 + ${below(2 * forecastsPerPair - 1, `'many'`, 'i')})) AS nth
             FROM range(${pairs}) r(i)))
         JOIN question USING (question) JOIN entity USING (entity)))`,
  )
}
