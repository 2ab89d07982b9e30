// The queries of docs/analysis.md, over HTTP, with the tools of their readers; and how much of a file a query
// of one column fetches.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { DataIndex } from '../../schemas/answers.ts'
import { blocksOf } from '../support/fenced-blocks.ts'
import { suiteFolder } from '../support/folder.ts'
import {
  Clock,
  type TestService,
  release,
  startTestService,
  testComponents,
} from '../support/http/service.ts'
import { python } from '../support/python-reader.ts'
import { spark, sparkEnvironment } from '../support/spark.ts'
import { send } from '../support/tables.ts'
import { uuidOf } from '../support/worlds/world.ts'

const [PEOPLE, QUESTIONS] = [60, 600]
const DAY_MS = 86_400_000
const at = (day: number) => new Date(Date.UTC(2026, 0, 1) + day * DAY_MS)
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)

const folder = await suiteFolder()
let service: TestService
/** Passes everything on to the service, and counts what comes back. */
const counted = { bytes: 0, url: '' }
const proxy = createServer((reader) => {
  const upstream = connect(Number(new URL(service.url).port), '127.0.0.1')
  upstream.on('data', (piece) => (counted.bytes += piece.byteLength))
  for (const socket of [reader, upstream]) socket.on('error', () => upstream.destroy())
  reader.pipe(upstream).pipe(reader)
})

/** A release with so many scores that a column is a small part of their file. */
beforeAll(async () => {
  const store = new MemoryStore()
  const recorded_at = at(0)
  await send(
    store,
    'questions',
    'q',
    numbers(QUESTIONS).map((number) => ({
      question_id: uuidOf(1, number),
      title: `Question ${number}?`,
      category: ['sport', 'science'][number % 2]!,
      opened_at: at(0),
      closes_at: at(10 + (number % 40)),
      recorded_at,
    })),
  )
  await send(
    store,
    'resolutions',
    'r',
    numbers(QUESTIONS - 50).map((number) => ({
      question_id: uuidOf(1, number),
      outcome: number % 3 === 0 ? 'yes' : 'no',
      resolved_at: at(9),
      recorded_at,
    })),
  )
  await send(
    store,
    'forecasters',
    'p',
    numbers(PEOPLE).map((number) => ({ user_id: uuidOf(2, number), recorded_at })),
  )
  await send(
    store,
    'forecasts',
    'f',
    numbers(PEOPLE * QUESTIONS).map((number) => ({
      forecast_id: uuidOf(4, number),
      entity_type: 'forecaster',
      entity_id: uuidOf(2, number % PEOPLE),
      question_id: uuidOf(1, Math.floor(number / PEOPLE)),
      probability: ((number * 7919) % 999) / 1000,
      forecast_at: new Date(at(1).getTime() + ((number * 104_729) % (7 * DAY_MS))),
      recorded_at,
      source: 'import',
    })),
  )
  const settings = { PUBLIC_DATA: 'tables' }
  const components = await testComponents({ store, folder, clock: new Clock(at(60).toISOString()), settings })
  await release(components)
  service = await startTestService(components)
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  counted.url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
})
afterAll(async () => {
  proxy.close()
  await service.stop()
})

/** DuckDB's extension comes with a package, because a test downloads nothing. */
const WITH_HTTPFS = `
import glob, duckdb, duckdb_extension_httpfs as package
duckdb.sql(f"LOAD '{glob.glob(package.__path__[0] + '/extensions/*/httpfs.duckdb_extension')[0]}'")
`

/** Spark comes from a Python of its own, and runs in the one that has the other readers. */
const withSpark = spark && {
  ...sparkEnvironment(folder),
  PYTHONPATH: dirname(spark.SPARK_HOME),
  PYSPARK_PYTHON: python?.DELTA_PYTHON,
  PYSPARK_SUBMIT_ARGS:
    '--master local[1] --conf spark.ui.enabled=false --conf spark.sql.shuffle.partitions=1 ' +
    '--driver-java-options "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" pyspark-shell',
}

async function run(code: string): Promise<string> {
  const program = code.includes('duckdb') ? WITH_HTTPFS + code : code
  const { stdout } = await promisify(execFile)(python!.DELTA_PYTHON, ['-B', '-c', program], {
    // Spark makes a folder where it runs.
    cwd: folder,
    env: { ...process.env, ...withSpark, FVS_URL: counted.url },
  })
  return stdout
}

const SHOWN: Record<string, RegExp> = {
  DuckDB: /ranked[^]*bin[^]*Question \d+\?[^]*import[^]*squared|sport/,
  Polars: /forecaster[^]*brier|brier[^]*forecaster/,
  pandas: new RegExp(`import\\s+${PEOPLE * (QUESTIONS - 50)}`),
  PyArrow: new RegExp(`^${PEOPLE}\n$`),
  Spark: /entity_type[^]*forecaster\|0\.\d+/,
}

describe.skipIf(!python)('docs/analysis.md', () => {
  const blocks = blocksOf('docs/analysis.md').filter(({ language }) => language === 'python')
  test.for(blocks)('with $heading', async ({ heading, code }, { skip }) => {
    skip(heading === 'Spark' && !spark, 'there is no Spark')
    expect(await run(code)).toMatch(SHOWN[heading]!)
  })
})

const ONE_COLUMN: Record<string, (file: string) => string> = {
  DuckDB: (file) => `print(duckdb.sql("SELECT avg(brier) FROM read_parquet('${file}')").fetchone()[0])`,
  Polars: (file) =>
    `import os
os.environ['POLARS_CLOUD_FOOTER_READ_SIZE'] = '16384'
import polars as pl
print(pl.scan_parquet('${file}').select(pl.col('brier').mean()).collect().item())`,
  PyArrow: (file) =>
    `import fsspec, pyarrow.parquet as pq, pyarrow.compute as pc
with fsspec.open('${file}', cache_type='none') as opened:
    print(pc.mean(pq.read_table(opened, columns=['brier'], use_threads=False)['brier']).as_py())`,
}

describe.skipIf(!python)('a query of one column', () => {
  test.for(Object.entries(ONE_COLUMN))(
    'with %s fetches less than a tenth of the file',
    async ([tool, program]) => {
      const index = (await service.client.get('/data/index.json')).json<DataIndex>()
      const { path, size_bytes } = index.files.find((file) => file.path.includes('/scores/'))!
      counted.bytes = 0
      const mean = Number(await run(program(`${counted.url}/data/${path}`)))
      expect(mean).toBeGreaterThan(0)
      const share = counted.bytes / size_bytes
      console.log(`${tool}: ${counted.bytes} of ${size_bytes} bytes, ${(100 * share).toFixed(1)} %`)
      expect(share).toBeLessThan(0.1)
    },
  )
})
