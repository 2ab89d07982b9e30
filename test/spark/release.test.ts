// A release on a Spark cluster whose executor and whose driver are killed: the same bytes as from `fvs
// release`.
import { spawnSync } from 'node:child_process'
import { chmod, cp, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { FileStore } from '../../pipeline/store/file.ts'
import { leaderboardPath, planPath, releasePrefix } from '../../pipeline/store/paths.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import type { LeaderboardFile } from '../../schemas/payloads.ts'
import { suiteFolder } from '../support/folder.ts'
import type { RunningCommand } from '../support/command.ts'
import { fvs } from '../support/process.ts'
import { SECRET } from '../support/http/service.ts'
import { startCluster } from '../support/spark-cluster.ts'
import { spark, submit } from '../support/spark.ts'
import { contentOf } from '../support/store-content.ts'
import { openWorker, putUndone, send } from '../support/tables.ts'
import { VARIED_AS_OF, variedRows } from '../support/worlds/varied-rows.ts'
import { uuidOf } from '../support/worlds/world.ts'

const FVS = fileURLToPath(new URL('../../jobs/fvs.js', import.meta.url))
const JOB = fileURLToPath(new URL('../../jobs/spark/release.py', import.meta.url))
const asOf = ['--as-of', VARIED_AS_OF.toISOString()]

const folder = await suiteFolder()
const [here, there] = [join(folder, 'one-machine'), join(folder, 'cluster')]

beforeAll(async () => {
  if (!spark) return
  const store = await FileStore.begin(there)
  const rows = variedRows({ forecasts: 20_000, questions: 150, agents: 300, people: 280 })
  using worker = await openWorker(store, folder)
  for (const [table, own] of Object.entries(rows)) {
    await send(store, table as keyof typeof rows, 'a', own)
    await compact(worker, table as keyof typeof rows)
  }
  const others = rows.forecasts.slice(0, 1_000).map((row, nth) => {
    return { ...row, forecast_id: uuidOf(9, nth), probability: 0.123, recorded_at: VARIED_AS_OF }
  })
  await send(store, 'forecasts', 'undone', others)
  await putUndone(store, { table: 'forecasts', version: 2 })
})

describe.skipIf(!spark)('Spark', () => {
  test('makes the release of one machine, though an executor, its driver and a rival get in the way', async () => {
    const planned = await fvs(['release', 'plan', '--store', there, ...asOf], { folder })
    expect(planned.code, planned.stderr).toBe(0)
    await cp(there, here, { recursive: true })
    const alone = await fvs(['release', '--if-changed', '--store', here, ...asOf], { folder })
    expect(alone.code, alone.stderr).toBe(0)

    const master = await startCluster(folder, 2)
    const scorer = await heldScorer()
    const start = (cores: number) =>
      submit(
        JOB,
        ['--store', there, '--staging', join(folder, 'staging'), '--fvs', scorer.command, ...asOf],
        {
          folder,
          master,
          configuration: { 'spark.cores.max': String(cores), 'spark.executor.memory': '700m' },
          env: { VERIFICATION_SIGNING_SECRET: SECRET, DUCKDB_THREADS: '1' },
        },
      )
    const first = start(2)
    const executor = await Promise.race([scorer.held(), endedEarly(first)])
    const started = await readFile(`/proc/${executor}/cmdline`, 'utf8')
    expect(started).toContain('CoarseGrainedExecutorBackend')
    expect(started).not.toContain(SECRET)
    process.kill(executor, 'SIGKILL')
    await scorer.release()
    await first.printed(/"staged".*"step": "scored"/)
    await first.stop('SIGKILL')

    const rivals = await Promise.all([start(1).ended, start(1).ended])
    const results = rivals.map(({ code, stdout, stderr }) => {
      expect(code, stdout + stderr).toBe(0)
      return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as { made: boolean }
    })
    expect(results.some(({ made }) => made)).toBe(true)
    for (const { stdout } of rivals) expect(stdout).toMatch(/"step": "scored", "again": true/)

    const [expected, found] = await Promise.all([here, there].map(publishedIn))
    expect(Object.keys(expected!).length).toBeGreaterThan(10)
    expect(found).toEqual(expected)
    const page = await readFile(join(there, releasePrefix(1), leaderboardPath('agent', 0)), 'utf8')
    const { entries } = JSON.parse(page) as LeaderboardFile
    const isRetired = (entry: (typeof entries)[number]) => 'retired_at' in entry && entry.retired_at !== null
    expect(entries.some((entry) => isRetired(entry) && entry.skill !== null)).toBe(true)
    const audit = await fvs(['audit', '--store', there], { folder })
    expect(audit.code, audit.stdout + audit.stderr).toBe(0)
  })
})

async function endedEarly({ ended }: RunningCommand): Promise<never> {
  const { stdout, stderr } = await ended
  throw new Error(`the job ended before its first sweep: ${stdout}${stderr}`)
}

/** The SHA-256 of all that a release publishes, by path. */
async function publishedIn(root: string): Promise<Record<string, string>> {
  const store = await FileStore.open(root)
  const [release, snapshots] = [
    await contentOf(store, releasePrefix(1)),
    await contentOf(store, 'snapshots/'),
  ]
  const { [planPath(1)]: _, ...files } = release
  return { ...files, ...snapshots }
}

/** Runs fvs, but the first sweep waits for the end of its input until it is released. */
async function heldScorer() {
  const [command, fifo, claim, parent] = ['fvs', 'fifo', 'claim', 'parent'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string]
  expect(spawnSync('mkfifo', [fifo, parent]).status).toBe(0)
  const run = `'${process.execPath}' '${FVS}' "$@"`
  const lines = [
    '#!/usr/bin/env bash',
    `if [[ $2 == sweep ]] && mkdir '${claim}' 2>/dev/null; then`,
    `  ${run} < <(cat; echo $PPID >'${parent}'; cat '${fifo}')`,
    `else exec ${run}; fi`,
  ]
  await writeFile(command, lines.join('\n'))
  await chmod(command, 0o755)
  return {
    command,
    /** The process of Spark whose sweep has read its input. */
    held: async () => Number(await readFile(parent, 'utf8')),
    release: async () => (await open(fifo, 'w')).close(),
  }
}
