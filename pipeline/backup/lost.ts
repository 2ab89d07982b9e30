// Finds lost objects: compares a listing of a store with the objects that its records name. Reads none of the
// named files, so it sees that one is gone or cut off, but not that its bytes have changed.
import pMap from 'p-map'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { TABLE_NAMES } from '../../schemas/tables.ts'
import { makeOf, readIssue } from '../credentials/read.ts'
import { TILE_WIDTH, bundlePath, tilePath, tilesOf } from '../proof/tiles.ts'
import { isThinned, readManifest, readSnapshotManifest, snapshotDate } from '../release/read.ts'
import {
  credentialIssuePath,
  credentialsPrefix,
  deltaLogPath,
  erasedPath,
  feedPath,
  isPublished,
  logCheckpointPath,
  logTilePath,
  manifestPath,
  planPath,
  quarantineRecordPath,
  releasePrefix,
  snapshotDateOf,
  snapshotManifestPath,
  snapshotPrefix,
  tablePath,
  thinnedPath,
  undonePath,
} from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { TableLog } from '../tables/delta-log.ts'
import { READS_AT_ONCE } from '../store/store.ts'

/** The folders with objects that other objects name. */
const FOLDERS = [
  'credentials',
  'erased-people',
  'feed',
  'log',
  'quarantine',
  'releases',
  'snapshots',
  'tables',
  'undone-imports',
]

export interface LostObjects {
  /** The paths of objects that are gone or cut off, in their order. */
  lost: string[]
  /** How many objects are named. */
  named: number
}

/**
 * Looks for every object that a store names. The store may be at work meanwhile.
 *
 * @throws ServiceError `corrupt` for a damaged record.
 */
export async function lostObjects(store: Store): Promise<LostObjects> {
  const names = new Names(store)
  await names.list()
  await names.readReleases()
  await names.readTables()
  await names.readSnapshots()
  await names.readCredentials()
  names.addLog()
  names.addNumbered(feedPath)
  return { lost: await names.lost(), named: names.named.size }
}

interface NamedFile {
  /** Undefined if nothing states it. */
  sizeBytes?: number | undefined
  /** The release that names it. Retention may delete it with that release. */
  release?: number
}

class Names {
  readonly named = new Map<string, NamedFile>()
  readonly #store: Store
  /** The sizes of the listed objects. */
  readonly #listed = new Map<string, number>()
  readonly #manifests: ReleaseManifest[] = []

  constructor(store: Store) {
    this.#store = store
  }

  async list(): Promise<void> {
    for (const folder of FOLDERS) {
      for await (const { path, sizeBytes } of this.#store.list(`${folder}/`))
        this.#listed.set(path, sizeBytes)
    }
  }

  async readReleases(): Promise<void> {
    // The log has an entry for each release, so it also shows that the last release is gone.
    const last = Math.max(this.#last(manifestPath), this.#last(logCheckpointPath))
    const read = async (release: number) => {
      this.#name(planPath(release))
      const manifest = await this.#read(manifestPath(release), () => readManifest(this.#store, release))
      if (!manifest) return
      this.#manifests[release] = manifest
      const { files, public: tables } = manifest
      const own = files.map((file) => ({ ...file, release }))
      const isWhole = !this.#listed.has(thinnedPath(release))
      const kept = isWhole ? [...own, ...tables] : own.filter(({ path }) => !isPublished(path))
      for (const file of kept) {
        this.#name(releasePrefix(file.release) + file.path, {
          sizeBytes: file.size_bytes,
          ...(isWhole && { release }),
        })
      }
    }
    await pMap(numbersTo(last), read, { concurrency: READS_AT_ONCE })
    const { erased_people: erased = [], undone_imports: undone = [] } = this.#manifests[last] ?? {}
    for (const { user_id } of erased) this.#name(erasedPath(user_id))
    for (const imported of undone) this.#name(undonePath(imported))
  }

  async readTables(): Promise<void> {
    for (const table of TABLE_NAMES) {
      const pathOf = (version: number) => deltaLogPath(table, version)
      const released = this.#manifests.at(-1)?.tables[table] ?? -1
      this.addNumbered(pathOf, 0, Math.max(this.#last(pathOf, 0), released))
      const { files } = await new TableLog(this.#store, table).readTo()
      for (const { path, sizeBytes } of files) this.#name(tablePath(table, path), { sizeBytes })
    }
  }

  async readSnapshots(): Promise<void> {
    const dates = new Set([...this.#listed.keys()].flatMap((path) => snapshotDateOf(path) ?? []))
    for (const { as_of, snapshot_sha256: brought } of Object.values(this.#manifests.slice(0, -1))) {
      // The next release completes this snapshot if a crash left it out or it was moved aside.
      const date = snapshotDate(as_of)
      if (brought && !this.#listed.has(quarantineRecordPath(snapshotManifestPath(date)))) dates.add(date)
    }
    const read = async (date: string) => {
      const path = snapshotManifestPath(date)
      const manifest = await this.#read(path, () => readSnapshotManifest(this.#store, date))
      for (const file of manifest?.files ?? [])
        this.#name(snapshotPrefix(date) + file.path, { sizeBytes: file.size_bytes })
    }
    await pMap(dates, read, { concurrency: READS_AT_ONCE })
  }

  /** Only the last issue of credentials keeps its files for sure. */
  async readCredentials(): Promise<void> {
    this.addNumbered(credentialIssuePath)
    const last = this.#last(credentialIssuePath)
    const record = last === 0 ? undefined : await readIssue(this.#store, last)
    if (!record) return
    for (const file of [...record.files, ...record.status_lists]) {
      this.#name(credentialsPrefix(last, makeOf(record)) + file.path, { sizeBytes: file.size_bytes })
    }
  }

  addLog(): void {
    this.addNumbered(logCheckpointPath)
    for (const tile of tilesOf(this.#last(logCheckpointPath))) {
      for (const pathOf of tile.level === 0 ? [tilePath, bundlePath] : [tilePath]) {
        const full = logTilePath(pathOf({ ...tile, width: TILE_WIDTH }))
        // The log deletes a partial tile once it has the full one.
        this.#name(this.#listed.has(full) ? full : logTilePath(pathOf(tile)))
      }
    }
  }

  /** Names every number up to the last one listed, because numbers have no gap. */
  addNumbered(pathOf: (number: number) => string, first = 1, last = this.#last(pathOf, first)): void {
    for (const number of numbersTo(last, first)) this.#name(pathOf(number))
  }

  /** Looks again for each object that was not listed: it may have come since, or have been thinned. */
  async lost(): Promise<string[]> {
    const missed = [...this.named].filter(([path, { sizeBytes }]) => {
      const size = this.#listed.get(path)
      return size === undefined || (sizeBytes !== undefined && size !== sizeBytes)
    })
    const isLost = async ([path, { release }]: [string, NamedFile]) => {
      if (!this.#listed.has(path) && (await this.#store.range(path, 0, 1)) !== undefined) return false
      return release === undefined || !(await isThinned(this.#store, release))
    }
    const lost = await pMap(missed, async (named) => ((await isLost(named)) ? [named[0]] : []), {
      concurrency: READS_AT_ONCE,
    })
    return lost.flat().toSorted()
  }

  #name(path: string, named: NamedFile = {}): void {
    this.named.set(path, named)
  }

  /** Names a record, and reads it if it is there. */
  async #read<T>(path: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    this.#name(path)
    return this.#listed.has(path) ? read() : undefined
  }

  /** Returns the last listed number, even if some before it are gone; `first - 1` if there is none. */
  #last(pathOf: (number: number) => string, first = 1): number {
    const [prefix] = /^\D+/.exec(pathOf(first))!
    const numbers = [...this.#listed.keys()].flatMap((path) => {
      const number = path.startsWith(prefix) ? parseInt(path.slice(prefix.length), 10) : NaN
      return number >= first && pathOf(number) === path ? [number] : []
    })
    return numbers.reduce((last, number) => Math.max(last, number), first - 1)
  }
}

function numbersTo(last: number, first = 1): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}
