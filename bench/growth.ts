// How the service grows: each thing that there can be more and more of, small and large, one at a time. Prints what booting,
// releasing and the slowest call cost then, and the ratio of large to small.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pMap from 'p-map'
import { Database } from '../pipeline/duckdb.ts'
import { readManifest, readSnapshotManifest, readSnapshotShard } from '../pipeline/release/read.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { LocalFiles } from '../pipeline/store/local-files.ts'
import {
  inboxPath,
  manifestPath,
  planPath,
  releasePrefix,
  snapshotManifestPath,
  snapshotPrefix,
} from '../pipeline/store/paths.ts'
import { recordBytes } from '../pipeline/store/records.ts'
import { compact } from '../pipeline/tables/compact.ts'
import { encodeRows } from '../pipeline/tables/inbox.ts'
import { canonical, sha256Hex } from '../pipeline/proof/canonical.ts'
import type { Row, TableName } from '../schemas/tables.ts'
import { type Used, runMeasured, startService } from './process.ts'

const DAY_MS = 86_400_000
const NOW = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS)
const at = (days: number) => new Date(NOW.getTime() + days * DAY_MS)
const uuid = (kind: number, number: number) =>
  `00000000-0000-7000-8${String(kind).padStart(3, '0')}-${number.toString(16).padStart(12, '0')}`

/** About 1,000 characters. */
const TEXT = 'it has come about in full by then, as three who do not know each other say. '.repeat(13)
const range = (count: number) => Array.from({ length: count }, (_, index) => index)
const questionRow = (index: number): Row => ({
  question_id: uuid(1, index),
  title: `Will it be so, ${index}?`,
  resolution_criteria: `Yes, if ${TEXT}`,
  background: `${index}: ${TEXT}${TEXT}`,
  category: `growth ${index % 10}`,
  url: null,
  event_id: null,
  source: 'growth',
  source_id: String(index),
  opened_at: at(-300),
  // One in a hundred is still open.
  closes_at: at(index % 100 === 0 ? 100 + (index % 50) : -1 - (index % 200)),
  recorded_at: at(-300),
})
const agentRow = (index: number): Row => ({
  agent_id: uuid(3, index),
  name: `agent ${index}`,
  model_type: 'growth',
  organization_name: null,
  owner_id: null,
  registered_at: at(-300),
  retired_at: null,
  recorded_at: at(-300),
})
const resolutionRow = (index: number): Row => ({
  question_id: uuid(1, index),
  outcome: index % 3 === 0 ? 'yes' : 'no',
  resolved_at: at(-1),
  recorded_at: at(-1),
})
const forecastRow = (index: number): Row => ({
  forecast_id: uuid(4, index),
  entity_type: 'agent',
  entity_id: uuid(3, index % 20),
  question_id: uuid(1, 1 + (index % 50)),
  probability: (index % 999) / 1000,
  forecast_at: at(-250 + (index % 40)),
  recorded_at: at(-200),
  source: 'api',
})

interface World {
  questions?: number
  agents?: number
  commits?: number
  waiting?: number
  releases?: number
  snapshots?: number
}

const GROWTH: [what: string, key: keyof World, sizes: number[]][] = [
  ['commits', 'commits', [50, 1_000, 5_000]],
  ['inbox objects', 'waiting', [1_000, 100_000]],
  ['questions', 'questions', [1_000, 100_000, 1_000_000]],
  ['agents', 'agents', [1_000, 200_000]],
  ['releases', 'releases', [10, 2_000]],
  ['snapshots', 'snapshots', [1, 366]],
]

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true, default: GROWTH.map(([, key]) => key) } },
})
const print = (line: string) => process.stdout.write(`${line}\n`)

print(
  '| there are | release s | release CPU s | release MiB | boot s | boot CPU s | node MiB | slowest call ms |',
)
print('| --- | --- | --- | --- | --- | --- | --- | --- |')
for (const [what, key, sizes] of GROWTH) {
  if (!values.only.includes(key)) continue
  let first: number[] | undefined
  for (const size of sizes) {
    const figures = await measure({ [key]: size })
    first ??= figures.numbers
    const cells = figures.numbers.map((figure, index) => {
      const ratio = figure / first![index]!
      return `${figure.toFixed(figure < 10 ? 2 : 0)}${size === sizes[0] ? '' : ` (${ratio.toFixed(2)}×)`}`
    })
    print(`| ${size.toLocaleString('en')} ${what} | ${cells.join(' | ')} ${figures.slowest} |`)
  }
}

async function measure(world: World): Promise<{ numbers: number[]; slowest: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'fvs-growth-'))
  try {
    await build(folder, world)
    const store = join(folder, 'store')
    // The first one reads everything that there is; from then on a machine reads what is new.
    if (world.waiting === undefined) await release(store)
    const released = await release(store)
    const { boot, mib, slowest } = await serve(store)
    return {
      numbers: [released.seconds, released.cpuS, released.mib, boot.seconds, boot.cpuS, mib, slowest.ms],
      slowest: slowest.name,
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function build(folder: string, world: World): Promise<void> {
  const { questions = 100, agents = 20, commits = 1, waiting = 0, releases = 1, snapshots = 1 } = world
  const root = join(folder, 'store')
  await mkdir(join(root, 'sandbox'), { recursive: true })
  const store = await FileStore.begin(root)
  using database = await Database.open({ threads: 2, memoryLimit: '2GB', directory: folder })
  const local = new LocalFiles(store, join(folder, 'cache'))
  const context = { store, local, database, directory: folder, now: () => NOW, wait: () => Promise.resolve() }
  let id = 0
  const send = (table: TableName, rows: Row[]) => {
    const bytes = encodeRows(table, rows)
    return store.put(inboxPath(table, uuid(9, id++), bytes), bytes)
  }
  const tables: [TableName, (index: number) => Row, number][] = [
    ['questions', questionRow, questions],
    ['agents', agentRow, agents],
    ['resolutions', (index) => resolutionRow(index + 1), 50],
  ]
  for (const [table, row, count] of tables) {
    for (let from = 0; from < count; from += 100_000) {
      await send(
        table,
        range(Math.min(100_000, count - from)).map((index) => row(from + index)),
      )
    }
    await compact(context, table)
  }
  for (let commit = 0; commit < commits; commit++) {
    const each = Math.ceil(50_000 / commits)
    await send(
      'forecasts',
      range(each).map((index) => forecastRow(commit * each + index)),
    )
    await compact(context, 'forecasts')
  }
  await pMap(range(waiting), (index) => send('forecasts', [forecastRow(100_000 + index)]), {
    concurrency: 64,
  })
  if (releases > 1 || snapshots > 1) await release(root)
  if (releases > 1) await copyReleases(store, releases)
  if (snapshots > 1) await copySnapshots(store, snapshots)
}

/** Gives the store more releases with the files of the first. */
async function copyReleases(store: FileStore, count: number): Promise<void> {
  const manifest = (await readManifest(store, 1))!
  const plan = JSON.parse(await readFile(store.localPath(planPath(1)), 'utf8')) as { checksum?: string }
  delete plan.checksum
  const renamed = async (number: number) => {
    const files = await pMap(manifest.files, async (file) => {
      const bytes = (await store.get(releasePrefix(1) + file.path))!
      await store.put(releasePrefix(number) + file.path, bytes)
      return file
    })
    await store.put(planPath(number), recordBytes(planPath(number), { ...plan, brings_snapshot: false }))
    await store.put(
      manifestPath(number),
      recordBytes(manifestPath(number), { ...manifest, release: number, files }),
    )
  }
  await pMap(range(count - 1), (index) => renamed(index + 2), { concurrency: 16 })
}

/** Gives the store snapshots of earlier days, with the rows of the first. */
async function copySnapshots(store: FileStore, count: number): Promise<void> {
  const date = (await readManifest(store, 1))!.as_of.slice(0, 10)
  const snapshot = (await readSnapshotManifest(store, date))!
  for (let day = 1; day < count; day++) {
    const other = at(-day).toISOString().slice(0, 10)
    const files = await pMap(snapshot.files, async (file) => {
      const shard = JSON.stringify(await readSnapshotShard(store, date, file)).replaceAll(date, other)
      const bytes = canonical(JSON.parse(shard))
      await store.put(snapshotPrefix(other) + file.path, bytes)
      return { ...file, size_bytes: bytes.byteLength, sha256: sha256Hex(bytes) }
    })
    const path = snapshotManifestPath(other)
    await store.put(path, recordBytes(path, { ...snapshot, date: other, files }))
  }
}

/** `fvs release` in a process of its own. */
function release(store: string): Promise<Used> {
  return runMeasured('../jobs/fvs.js', ['release', '--store', store], {
    CACHE_DIR: join(store, '..', 'machine'),
  })
}

/** What a process has used so far, as Linux counts it, in hundredths of a second. */
async function usedBy(pid: number): Promise<Omit<Used, 'seconds'>> {
  const [status, stat] = await Promise.all(
    ['status', 'stat'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8')),
  )
  const [user, system] = stat!.slice(stat!.lastIndexOf(')')).split(' ').slice(12, 14)
  const mib = Number(/VmHWM:\s+(\d+) kB/.exec(status!)![1]) / 1024
  return { cpuS: (Number(user) + Number(system)) / 100, mib }
}

async function serve(store: string) {
  const started = performance.now()
  const cache = join(store, '..', 'machine')
  await using service = await startService(store, {
    CACHE_DIR: cache,
    ANONYMOUS_PER_MONTH: '1000000',
    READS_PER_MINUTE: '1000000',
  })
  const seconds = (performance.now() - started) / 1000
  const boot = { seconds, ...(await usedBy(service.pid)) }
  const agent = uuid(3, 1)
  const calls = {
    'open questions': '/questions?status=open',
    'upcoming questions': '/questions?status=upcoming',
    'closed questions, 1,000': '/questions?status=closed&limit=1000',
    'questions by every filter': `/questions?status=closed&category=growth+3&q=will+it+be+so&closes_before=${at(-2).toISOString()}&opened_after=${at(-400).toISOString()}`,
    'a question': `/questions/${uuid(1, 3)}`,
    'a verification': `/agents/${agent}/verification`,
    history: `/snapshots/agent/${agent}`,
  }
  let slowest = { name: '', ms: 0 }
  for (const [name, path] of Object.entries(calls)) {
    const times: number[] = []
    for (let nth = 0; nth < 5; nth++) {
      const begun = performance.now()
      const answer = await fetch(service.url + path)
      await answer.arrayBuffer()
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
      times.push(performance.now() - begun)
    }
    // The first one fills the caches.
    const ms = Math.max(...times.slice(1))
    if (ms > slowest.ms) slowest = { name, ms }
  }
  return { boot, mib: (await usedBy(service.pid)).mib, slowest }
}
