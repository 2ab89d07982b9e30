// A release on a Spark cluster without a shared folder, its store in a bucket, whose executor and whose driver are
// killed: the same bytes as from `fvs release` in the same bucket.
import { spawnSync } from 'node:child_process'
import { chmod, open, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { planPath, releasePrefix } from '../../pipeline/store/paths.ts'
import { leaderboardPath } from '../../pipeline/release/files/leaderboards.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { erasedPeople } from '../../pipeline/tables/left-out.ts'
import type { LeaderboardFile } from '../../schemas/payloads.ts'
import { bucketStore, freshBucket, s3Server } from '../support/buckets.ts'
import type { RunningCommand } from '../support/command.ts'
import { type Certificate, certificateIn } from '../support/certificate.ts'
import { type CountingProxy, countingProxy } from '../support/counting-proxy.ts'
import { suiteFolder } from '../support/folder.ts'
import { SECRET } from '../support/http/service.ts'
import { fvs } from '../support/process.ts'
import { serviceArchive } from '../support/service-archive.ts'
import { startCluster } from '../support/spark-cluster.ts'
import { LOCAL, spark, submit } from '../support/spark.ts'
import { contentOf } from '../support/store-content.ts'
import { openWorker, putUndone, send } from '../support/tables.ts'
import { VARIED_AS_OF, variedRows } from '../support/worlds/varied-rows.ts'
import { uuidOf } from '../support/worlds/world.ts'

const FVS = fileURLToPath(new URL('../../jobs/fvs.js', import.meta.url))
const JOB = fileURLToPath(new URL('../../jobs/spark/release.py', import.meta.url))
const asOf = ['--as-of', VARIED_AS_OF.toISOString()]
/** How a worker runs fvs from the archive, if it is not told otherwise. */
const FROM_ARCHIVE = 'fvs/node_modules/.bin/node fvs/dist/fvs.js'
/** The steps whose rows are staged, in order. */
const STAGED =
  'swept pooled question_pool circumstance scored part shards_published entities_published scores_published names_published references_published leaderboards_published owners_published categories_published questions_published'.split(
    ' ',
  )

const canRun = spark !== undefined && s3Server !== undefined
const folder = await suiteFolder()
let bucket: string
let archive: string
let certificate: Certificate
/** What `onOneMachine` returns, once it was called. */
let published: Promise<Record<string, string>> | undefined
/** The stores, by their prefixes in the bucket, which hold the same plan and tables. */
const PREFIXES = ['cluster', 'one-machine', 'local', 'counted'] as const
const urlOf = (prefix: (typeof PREFIXES)[number]) => `s3://${bucket}/${prefix}`
const storeOf = (prefix: (typeof PREFIXES)[number]) => bucketStore(bucket, `${prefix}/`)

beforeAll(async () => {
  if (!canRun) return
  bucket = await freshBucket()
  const store = storeOf('cluster')
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
  const user_id = String(rows.forecasters[0]!.user_id)
  await erasedPeople(store).create(user_id, {
    user_id,
    erased_at: VARIED_AS_OF.toISOString(),
    reason: 'a test',
  })
  archive = await serviceArchive(folder)
  certificate = certificateIn(folder)
})

/** Makes the release on one machine, the first time, and returns what it published. */
function onOneMachine(): Promise<Record<string, string>> {
  return (published ??= madeByOneMachine())
}

async function madeByOneMachine(): Promise<Record<string, string>> {
  const planned = await fvs(['release', 'plan', '--store', urlOf('cluster'), ...asOf], {
    folder,
    env: s3Server!,
  })
  expect(planned.code, planned.stderr).toBe(0)
  for (const prefix of PREFIXES.slice(1)) await copyAll(storeOf('cluster'), storeOf(prefix))
  const alone = await fvs(['release', '--if-changed', '--store', urlOf('one-machine'), ...asOf], {
    folder,
    env: s3Server!,
  })
  expect(alone.code, alone.stderr).toBe(0)
  return publishedIn(storeOf('one-machine'))
}

interface Started {
  prefix: (typeof PREFIXES)[number]
  master: string
  cores?: number
  /** Where Spark and the filters find the bucket, over TLS. */
  endpoint: CountingProxy
  /** Where Spark finds it instead. */
  bySpark?: CountingProxy
  scorer?: string
}

function start({ prefix, master, cores = 2, endpoint, bySpark = endpoint, scorer }: Started): RunningCommand {
  const stores = ['--store', urlOf(prefix), '--staging', `s3a://${bucket}/staging-of-${prefix}`]
  const programs = ['--driver-fvs', `'${process.execPath}' '${FVS}'`, ...(scorer ? ['--fvs', scorer] : [])]
  return submit(JOB, [...stores, ...programs, ...asOf], {
    folder,
    master,
    configuration: {
      'spark.archives': `${archive}#fvs`,
      'spark.cores.max': String(cores),
      'spark.executor.memory': '700m',
      'spark.hadoop.fs.s3a.endpoint': bySpark.url,
    },
    env: {
      ...s3Server!,
      S3_ENDPOINT: endpoint.url,
      NODE_EXTRA_CA_CERTS: certificate.path,
      VERIFICATION_SIGNING_SECRET: SECRET,
      DUCKDB_THREADS: '1',
    },
  })
}

describe.skipIf(!canRun)('Spark', () => {
  test('makes the release of one machine, though an executor, its driver and a rival get in the way', async () => {
    const expected = await onOneMachine()
    const cluster = await startCluster(folder, 2)
    const scorer = await heldScorer()
    const endpoint = await countingProxy(s3Server!.S3_ENDPOINT, certificate)
    const onCluster = (cores: number) =>
      start({ prefix: 'cluster', master: cluster.address, cores, endpoint, scorer: scorer.command })
    const first = onCluster(2)
    const executor = await Promise.race([scorer.held(), endedEarly(first)])
    const lines = await commandLines()
    expect(lines.get(executor)).toContain('CoarseGrainedExecutorBackend')
    process.kill(executor, 'SIGKILL')
    await scorer.release()
    await first.printed(/"staged".*"step": "scored"/)
    await first.stop('SIGKILL')

    const rivals = await Promise.all([onCluster(1).ended, onCluster(1).ended])
    const results = rivals.map(({ code, stdout, stderr }) => {
      expect(code, stdout + stderr).toBe(0)
      return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as { made: boolean }
    })
    expect(results.some(({ made }) => made)).toBe(true)
    for (const { stdout } of rivals) expect(stdout).toMatch(/"step": "scored", "again": true/)

    const store = storeOf('cluster')
    expect(Object.keys(expected).length).toBeGreaterThan(10)
    expect(await publishedIn(store)).toEqual(expected)
    const page = await store.get(releasePrefix(1) + leaderboardPath('agent', 0))
    const { entries } = JSON.parse(Buffer.from(page!).toString()) as LeaderboardFile
    const isRetired = (entry: (typeof entries)[number]) => 'retired_at' in entry && entry.retired_at !== null
    expect(entries.some((entry) => isRetired(entry) && entry.skill !== null)).toBe(true)
    const audit = await fvs(['audit', '--store', urlOf('cluster')], { folder, env: s3Server! })
    expect(audit.code, audit.stdout + audit.stderr).toBe(0)

    const outputs = [first.output, ...rivals.map(({ stdout, stderr }) => stdout + stderr)]
    const own = [...lines.values()].filter((line) => /spark|fvs/i.test(line))
    const told = [...own, ...outputs, await cluster.logs()].join('\n')
    expect(told).toContain('Launch command')
    for (const secret of [SECRET, s3Server!.AWS_SECRET_ACCESS_KEY]) expect(told).not.toContain(secret)
  })

  test('makes it in one process too, though a filter is killed while it reads', async () => {
    const expected = await onOneMachine()
    const endpoint = await countingProxy(s3Server!.S3_ENDPOINT, certificate)
    const scorer = await mortalScorer()
    const job = start({ prefix: 'local', master: LOCAL, endpoint, scorer: scorer.command })
    const { code, stdout, stderr } = await job.ended
    expect(code, stdout + stderr).toBe(0)
    expect(await readdir(folder)).toContain(scorer.killed)
    expect(await publishedIn(storeOf('local'))).toEqual(expected)
  })

  // It decides nothing, and its figures stand in bench/notes/spark.md.
  test.skipIf(process.env['SPARK_COUNTS'] !== '1')('says how often it asks the store', async () => {
    const expected = await onOneMachine()
    const [bySpark, byFvs] = await Promise.all([
      countingProxy(s3Server!.S3_ENDPOINT, certificate),
      countingProxy(s3Server!.S3_ENDPOINT, certificate),
    ])
    const { address: master } = await startCluster(folder, 2)
    const job = start({ prefix: 'counted', master, bySpark, endpoint: byFvs })
    const counted: Record<string, ReturnType<typeof bySpark.take>> = {}
    const take = (step: string) => {
      counted[`${step}, Spark`] = bySpark.take()
      counted[`${step}, fvs`] = byFvs.take()
    }
    for (const step of STAGED) {
      await job.printed(new RegExp(`"staged".*"step": "${step}"`))
      take(step)
    }
    const { code, stdout, stderr } = await job.ended
    expect(code, stdout + stderr).toBe(0)
    take('commit')
    console.table(counted)
    expect(await publishedIn(storeOf('counted'))).toEqual(expected)
  })
})

async function endedEarly({ ended }: RunningCommand): Promise<never> {
  const { stdout, stderr } = await ended
  throw new Error(`the job ended before its first sweep: ${stdout}${stderr}`)
}

async function copyAll(from: Store, to: Store): Promise<void> {
  for await (const { path } of from.list('')) await to.put(path, (await from.get(path))!)
}

/** The command lines of all processes of this machine, by their ids. */
async function commandLines(): Promise<Map<number, string>> {
  const lines = new Map<number, string>()
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    // A process may end meanwhile.
    const line = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
    lines.set(Number(name), line.replaceAll('\0', ' '))
  }
  return lines
}

/** The SHA-256 of all that a release publishes, by path. */
async function publishedIn(store: Store): Promise<Record<string, string>> {
  const [release, snapshots] = [
    await contentOf(store, releasePrefix(1)),
    await contentOf(store, 'snapshots/'),
  ]
  const { [planPath(1)]: _, ...files } = release
  return { ...files, ...snapshots }
}

/** Runs fvs, but kills the first sweep when it has read a part of its input. */
async function mortalScorer() {
  const killed = 'killed'
  const [command, claim] = [join(folder, 'mortal-fvs'), join(folder, 'claimed')]
  const run = `'${process.execPath}' '${FVS}' "$@"`
  const lines = [
    '#!/usr/bin/env bash',
    `if [[ $2 == sweep ]] && mkdir '${claim}' 2>/dev/null; then`,
    `  exec ${run} < <(head -c 200000; mkdir '${join(folder, killed)}'; kill -KILL $$)`,
    `else exec ${run}; fi`,
  ]
  await writeFile(command, lines.join('\n'))
  await chmod(command, 0o755)
  return {
    command,
    /** A file in the folder, once the sweep is killed. */
    killed,
  }
}

/** Runs fvs from the archive, but the first sweep waits for the end of its input until it is released. */
async function heldScorer() {
  const [command, fifo, claim, parent] = ['fvs', 'fifo', 'claim', 'parent'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string]
  expect(spawnSync('mkfifo', [fifo, parent]).status).toBe(0)
  const run = `${FROM_ARCHIVE} "$@"`
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
