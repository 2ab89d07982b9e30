// A release on Apache Spark beside `fvs release`: every file by its hash, and what each step takes; with
// --growth also at twice the forecasts, pairs and entities.
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { IMPORTS } from '../pipeline/import/columns.ts'
import { run } from './process.ts'
import { type Comparison, compareReleases } from './spark/release.ts'
import type { Step } from './spark/steps.ts'
import { WORLD_END, type WorldSize, worldSize, worldStore } from './world.ts'

const { values } = parseArgs({
  options: {
    forecasts: { type: 'string', default: '1000000' },
    /** A folder with files to import, instead of a generated world. */
    data: { type: 'string' },
    growth: { type: 'boolean', default: false },
    memory: { type: 'string', default: '2g' },
    partitions: { type: 'string', default: '8' },
  },
})

/** Makes a store, compares the releases of it, and removes what that has left. */
async function compare(
  name: string,
  store: (folder: string) => Promise<string>,
  asOf: string,
): Promise<Comparison> {
  const folder = await mkdtemp(join(tmpdir(), 'fvs-bench-spark-'))
  try {
    const result = await compareReleases(await store(folder), asOf, folder, values)
    print(name, result)
    return result
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function print(name: string, { alone, spark, files, different }: Comparison): void {
  const counted = spark.steps.reduce((sum, { taskCpuS, filterCpuS }) => sum + taskCpuS + filterCpuS, 0)
  console.log(`\n## ${name}\n`)
  console.log(
    `${files - different.length} of ${files} files the same${different.map((path) => `\n  other: ${path}`).join('')}\n`,
  )
  console.log(
    '| step | wall s | CPU s, tasks | CPU s, filters | shuffled MB | spilled MB | task MB | filter MB |',
  )
  console.log('|---|---|---|---|---|---|---|---|')
  for (const step of spark.steps) {
    const cells = [step.seconds, step.taskCpuS, step.filterCpuS].map((x) => x.toFixed(1))
    const bytes = [step.shuffleBytes, step.spilledBytes, step.taskPeakBytes, step.filterPeakBytes]
    console.log(`| ${step.name} | ${[...cells, ...bytes.map((x) => (x / 1e6).toFixed(1))].join(' | ')} |`)
  }
  console.log(
    `| all, with the driver's ${(spark.cpuS - counted).toFixed(1)} CPU s | ${spark.seconds.toFixed(1)} | ${spark.cpuS.toFixed(1)} |`,
  )
  console.log(
    `| fvs release | ${alone.seconds.toFixed(1)} | ${alone.cpuS.toFixed(1)} | | | | | ${alone.mib.toFixed(0)} MiB |`,
  )
}

const ofWorld = (name: string, size: WorldSize) =>
  compare(name, () => worldStore(size), WORLD_END.toISOString())

/** Imports the files of a folder into a store. */
async function importedStore(data: string, folder: string): Promise<string> {
  const store = join(folder, 'imported')
  for (const kind of IMPORTS) {
    const file = ['csv', 'parquet'].map((format) => join(data, `${kind}.${format}`)).find(existsSync)
    if (file) await run('../jobs/fvs.js', 'import', kind, file, '--store', store)
  }
  return store
}

if (values.data !== undefined) {
  const { data } = values
  await compare(data, (folder) => importedStore(data, folder), new Date().toISOString())
} else {
  const { forecasts, questions, entities, forecastsPerPair } = worldSize(Number(values.forecasts))
  const base = await ofWorld(`${forecasts} forecasts`, worldSize(forecasts))
  if (values.growth) {
    const twice: [string, WorldSize][] = [
      ['forecasts', worldSize(2 * forecasts, questions, entities, 2 * forecastsPerPair)],
      ['pairs', worldSize(2 * forecasts, 2 * questions, entities, forecastsPerPair)],
      ['entities', worldSize(forecasts, questions, 2 * entities, forecastsPerPair)],
    ]
    const cpuOf = ({ taskCpuS, filterCpuS }: Step) => taskCpuS + filterCpuS
    for (const [what, size] of twice) {
      const { spark } = await ofWorld(`twice the ${what}`, size)
      for (const step of spark.steps) {
        const before = base.spark.steps.find(({ name }) => name === step.name)
        if (before) console.log(`${step.name}: ${(cpuOf(step) / cpuOf(before)).toFixed(2)} times the CPU`)
      }
    }
  }
}
