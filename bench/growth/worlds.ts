// Stores with much of one thing and little of everything else: commits, waiting objects, questions, agents,
// releases, snapshots.
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pMap from 'p-map'
import { Database } from '../../pipeline/duckdb.ts'
import { readManifest, readSnapshotManifest, readSnapshotShard } from '../../pipeline/release/read.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import { LocalFiles } from '../../pipeline/store/local-files.ts'
import {
  inboxPath,
  manifestPath,
  planPath,
  releasePrefix,
  snapshotManifestPath,
  snapshotPrefix,
} from '../../pipeline/store/paths.ts'
import { recordBytes } from '../../pipeline/store/records.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { encodeRows } from '../../pipeline/tables/inbox.ts'
import { canonical, sha256Hex } from '../../pipeline/proof/canonical.ts'
import type { Row, TableName } from '../../schemas/tables.ts'
import { type Used, runMeasured } from '../process.ts'

const DAY_MS = 86_400_000
const NOW = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS)
export const at = (days: number) => new Date(NOW.getTime() + days * DAY_MS)
export const uuid = (kind: number, number: number) =>
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

export interface World {
  questions?: number
  agents?: number
  commits?: number
  waiting?: number
  releases?: number
  snapshots?: number
}

/** Makes a store in the folder `store` of a folder. */
export async function build(folder: string, world: World): Promise<void> {
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
export function release(store: string): Promise<Used> {
  return runMeasured('../jobs/fvs.js', ['release', '--store', store], {
    CACHE_DIR: join(store, '..', 'machine'),
  })
}
