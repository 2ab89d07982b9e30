// Importing a file of forecasts into an empty table, and what DuckDB alone needs to read, check, sort and
// write its rows. Both in processes of their own, by turns, and both must make the same rows. Nothing fails
// for being slow.
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Database, literal } from '../pipeline/duckdb.ts'
import { type Used, runMeasured } from './process.ts'

const THREADS = 2
const MEMORY_LIMIT = '1GB'
const ENTITIES = 500
const QUESTIONS = 2_000

const uuid = (kind: number, number: string) =>
  `(substr(md5('${kind}' || ${number}), 1, 8) || '-0000-4000-800${kind}-' || lpad(lower(to_hex(${number})), 12, '0'))`

/** A version 5 UUID. */
const ID = `concat_ws('-', hash[1:8], hash[9:12], '5' || hash[14:16],
  '89ab89ab89ab89ab'[strpos('0123456789abcdef', hash[17])] || hash[18:20], hash[21:32])`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { forecasts: { type: 'string', default: '1000000' }, runs: { type: 'string', default: '3' } },
})

if (positionals.length > 0) await importByDuckDb(positionals[0]!)
else await compare(Number(values.forecasts), Number(values.runs))

async function compare(forecasts: number, runs: number): Promise<void> {
  const print = (line: string) => process.stdout.write(`${line}\n`)
  const folder = await mkdtemp(join(tmpdir(), 'fvs-imports-'))
  try {
    await makeFiles(folder, forecasts)
    await fvsImport(folder, 'questions', 'empty')
    const service: Used[] = []
    const peer: Used[] = []
    for (let nth = 0; nth < runs; nth++) {
      await rm(join(folder, 'store'), { recursive: true, force: true })
      await cp(join(folder, 'empty'), join(folder, 'store'), { recursive: true })
      service.push(await fvsImport(folder, 'forecasts', 'store'))
      peer.push(await runMeasured('imports.ts', [folder], settings(folder)))
    }
    const different = await differences(folder)
    if (different > 0) throw new Error(`the two differ in ${different} rows`)
    print(
      `Import: ${forecasts.toLocaleString('en')} forecasts of ${ENTITIES} forecasters; ${THREADS} of ${availableParallelism()} cores, Node ${process.version}, DuckDB ${Database.version}; best of ${runs} runs by turns`,
    )
    print('   wall s   CPU s     MiB')
    const row = (all: readonly Used[], what: string) => {
      const least = (key: keyof Used) => Math.min(...all.map((one) => one[key]))
      const figures = [least('seconds').toFixed(2), least('cpuS').toFixed(2), least('mib').toFixed(0)]
      print(` ${figures.map((figure) => figure.padStart(7)).join(' ')}  ${what}`)
      return { seconds: least('seconds'), cpuS: least('cpuS') }
    }
    const own = row(service, 'fvs import')
    const alone = row(peer, 'DuckDB alone: read, check, sort, write')
    const times = (key: 'seconds' | 'cpuS') => `${(own[key] / alone[key]).toFixed(2)}×`
    print(
      ` The import takes ${times('seconds')} the time and ${times('cpuS')} the processor time; at most 2× is wanted.`,
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Of both processes. */
function settings(folder: string) {
  return {
    CACHE_DIR: join(folder, 'machine'),
    DUCKDB_THREADS: String(THREADS),
    DUCKDB_MEMORY_LIMIT: MEMORY_LIMIT,
  }
}

/** `fvs import` of a file in the folder into a store there. */
function fvsImport(folder: string, what: 'questions' | 'forecasts', store: string): Promise<Used> {
  const file = join(folder, `${what}.csv`)
  const args = ['import', what, file, '--store', `file://${join(folder, store)}`]
  return runMeasured('../jobs/fvs.js', args, settings(folder))
}

function openDatabase(folder: string): Promise<Database> {
  return Database.open({ threads: THREADS, memoryLimit: MEMORY_LIMIT, directory: folder })
}

/** Files as an operator has them: forecasts in no order. */
async function makeFiles(folder: string, forecasts: number): Promise<void> {
  using database = await openDatabase(folder)
  const below = (many: number, salt: number) => `(hash(i, ${salt}) % ${many})::BIGINT`
  const to = (name: string) => `TO ${literal(join(folder, name))} (FORMAT csv, HEADER)`
  await database.run(
    `COPY (SELECT ${uuid(1, 'i')} AS question_id, 'Will it be so, ' || i || '?' AS title,
       '2026-01-01T00:00:00Z' AS opened_at, '2026-03-01T00:00:00Z' AS closes_at FROM range(${QUESTIONS}) r(i)) ${to('questions.csv')}`,
  )
  await database.run(
    `COPY (SELECT 'forecaster' AS entity_type, ${uuid(2, below(ENTITIES, 1))} AS entity_id,
       ${uuid(1, below(QUESTIONS, 2))} AS question_id, ${below(1_000_000, 3)} / 1e6 AS probability,
       strftime(TIMESTAMP '2026-01-01' + to_milliseconds(${below(5_000_000_000, 4)}), '%Y-%m-%dT%H:%M:%S.%gZ') AS forecast_at
     FROM range(${forecasts}) r(i)) ${to('forecasts.csv')}`,
  )
}

/** What DuckDB needs by itself: typed columns, the same checks, an id of the content, one sorted file. */
async function importByDuckDb(folder: string): Promise<void> {
  using database = await openDatabase(folder)
  const file = (name: string) => literal(join(folder, name))
  await database.run(
    `CREATE TEMP TABLE question AS SELECT question_id FROM read_csv(${file('questions.csv')}, all_varchar = true)`,
  )
  await database.run(
    `CREATE TEMP TABLE forecast AS FROM read_csv(${file('forecasts.csv')}, header = true, auto_detect = false,
       columns = {entity_type: 'VARCHAR', entity_id: 'UUID', question_id: 'UUID', probability: 'DOUBLE', forecast_at: 'TIMESTAMPTZ'})`,
  )
  const [row] = await database.rows<{ bad: bigint }>(
    `SELECT count(*) AS bad FROM forecast WHERE entity_type <> 'forecaster' OR NOT probability BETWEEN 0 AND 1
       OR forecast_at > now() OR question_id::VARCHAR NOT IN (SELECT question_id FROM question)`,
  )
  if (row?.bad !== 0n) throw new Error(`${row?.bad} rows are bad`)
  await database.run(
    `COPY (SELECT ${ID} AS forecast_id, * EXCLUDE (hash) FROM (SELECT entity_type, entity_id::VARCHAR AS entity_id,
         question_id::VARCHAR AS question_id, probability, forecast_at, now() AS recorded_at, 'import' AS source,
         sha1(unhex('0f7b0a4e6a0d4c578a640c1f5f6b6a11') || encode(concat_ws('|', entity_type, entity_id, question_id,
           round_even(probability * 1e6, 0)::INTEGER, epoch_ms(forecast_at)))) AS hash
       FROM forecast) ORDER BY question_id, forecast_at, forecast_id)
     TO ${file('peer.parquet')} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880)`,
  )
}

/** The number of rows that only one of the two has. */
async function differences(folder: string): Promise<number> {
  using database = await openDatabase(folder)
  const table = join(folder, 'store', 'tables', 'forecasts')
  const files = (await readdir(table, { recursive: true })).filter((name) => name.endsWith('.parquet'))
  const rows = (paths: readonly string[]) =>
    `(SELECT * EXCLUDE (recorded_at) FROM read_parquet([${paths.map(literal).join(', ')}], hive_partitioning = false))`
  const own = rows(files.map((name) => join(table, name)))
  const peer = rows([join(folder, 'peer.parquet')])
  const [row] = await database.rows<{ n: bigint }>(
    `SELECT count(*) AS n FROM ((FROM ${own} EXCEPT ALL FROM ${peer}) UNION ALL (FROM ${peer} EXCEPT ALL FROM ${own}))`,
  )
  return Number(row?.n)
}
