// One release of the same store twice, by `fvs release` and by the job on Spark, and whether every file is
// the same.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, readdirSync } from 'node:fs'
import { chmod, cp, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Used, run, runMeasured } from '../process.ts'
import { type Step, stepsOf } from './steps.ts'

export interface Comparison {
  alone: Used
  spark: { seconds: number; cpuS: number; steps: Step[] }
  files: number
  /** The paths of files that are missing on one side, or have other bytes. */
  different: string[]
}

export interface SparkOptions {
  /** Of the one process that is driver and executor, with two tasks at a time. */
  memory: string
  partitions: string
}

const SECRET = 'a secret of the benchmarks, of no use elsewhere'
const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Makes a release of a store as of an instant in two copies under `folder`, which must be empty. */
export async function compareReleases(
  store: string,
  asOf: string,
  folder: string,
  options: SparkOptions,
): Promise<Comparison> {
  process.env['VERIFICATION_SIGNING_SECRET'] = SECRET
  const [here, there] = [join(folder, 'one-machine'), join(folder, 'spark')]
  await cp(store, there, { recursive: true })
  await run('../jobs/fvs.js', 'release', 'plan', '--store', there, '--as-of', asOf)
  await cp(there, here, { recursive: true })
  const words = ['release', '--if-changed', '--store', here, '--as-of', asOf]
  const alone = await runMeasured('../jobs/fvs.js', words, {})
  const spark = await runJob(there, asOf, folder, options)
  const [expected, found] = [await published(here), await published(there)]
  const paths = new Set([...expected.keys(), ...found.keys()])
  const different = [...paths].filter((path) => expected.get(path) !== found.get(path))
  return { alone, spark, files: paths.size, different }
}

async function runJob(store: string, asOf: string, folder: string, options: SparkOptions) {
  const { SPARK_HOME, SPARK_PYTHON, SPARK_JARS } = process.env
  if (!SPARK_HOME || !SPARK_PYTHON || !SPARK_JARS) {
    throw new Error('Apache Spark is needed: eval "$(test/support/spark.sh DIR)"')
  }
  const [events, filters, fvs] = [join(folder, 'events'), join(folder, 'filters'), join(folder, 'fvs')]
  await mkdir(events)
  await writeFile(fvs, measuredFvs(folder, filters))
  await chmod(fvs, 0o755)
  const configuration = {
    'spark.driver.memory': options.memory,
    'spark.driver.host': '127.0.0.1',
    'spark.driver.bindAddress': '127.0.0.1',
    'spark.ui.enabled': 'false',
    'spark.log.level': 'WARN',
    'spark.local.dir': join(folder, 'local'),
    'spark.sql.shuffle.partitions': options.partitions,
    'spark.databricks.delta.snapshotPartitions': '1',
    'spark.eventLog.enabled': 'true',
    'spark.eventLog.dir': `file:${events}`,
    'spark.eventLog.rolling.enabled': 'false',
    'spark.eventLog.compress': 'false',
  }
  const command = [
    join(SPARK_HOME, 'bin/spark-submit'),
    [
      '--master',
      'local[2,4]',
      '--jars',
      readdirSync(SPARK_JARS)
        .map((jar) => join(SPARK_JARS, jar))
        .join(),
    ],
    Object.entries(configuration).flatMap(([name, value]) => ['--conf', `${name}=${value}`]),
    pathOf('../../jobs/spark/release.py'),
    ['--store', store, '--as-of', asOf, '--staging', join(folder, 'staging'), '--fvs', fvs],
  ].flat()
  const started = performance.now()
  // The times of the shell have those of all that it has waited for, and that these have waited for.
  const child = spawn('bash', ['-c', '"$@" >&2; code=$?; times; exit $code', 'bash', ...command], {
    env: { ...process.env, PYSPARK_PYTHON: SPARK_PYTHON, SPARK_LOCAL_IP: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [times, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  if (code !== 0) throw new Error(`the job ended with ${String(code)}:\n${errors}`)
  const seconds = (performance.now() - started) / 1000
  const cpuS = [...times.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, m, s]) => sum + 60 * Number(m) + Number(s),
    0,
  )
  const [log] = await readdir(events)
  return { seconds, cpuS, steps: await stepsOf(join(events, log!), filters) }
}

/** A program that runs fvs, and adds its words and what it used to a file. */
function measuredFvs(folder: string, filters: string): string {
  const node = `'${process.execPath}' --import '${pathOf('../usage.ts')}' '${pathOf('../../jobs/fvs.js')}'`
  return [
    '#!/usr/bin/env bash',
    `[[ $1 == stage && $2 != commit ]] || exec '${process.execPath}' '${pathOf('../../jobs/fvs.js')}' "$@"`,
    `used=$(mktemp -p '${folder}')`,
    `${node} "$@" 3>"$used"`,
    'code=$?',
    `echo "$2 $3 $(cat "$used")" >>'${filters}'`,
    'exit $code',
  ].join('\n')
}

/** The SHA-256 of all that is published in the store of a folder, by path. */
async function published(root: string): Promise<Map<string, string>> {
  const hashes = new Map<string, string>()
  for (const part of ['releases', 'snapshots']) {
    const entries = await readdir(join(root, part), { recursive: true, withFileTypes: true })
    for (const entry of entries.filter((one) => one.isFile())) {
      const path = join(entry.parentPath, entry.name)
      const hash = createHash('sha256')
      await pipeline(createReadStream(path), hash)
      hashes.set(path.slice(root.length), hash.digest('hex'))
    }
  }
  return hashes
}
