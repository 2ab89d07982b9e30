// An entity's history: its row in each day's snapshot. Snapshots never change, so they are cached.
import { LRUCache } from 'lru-cache'
import pMap from 'p-map'
import {
  readSnapshotManifest,
  readSnapshotShard,
  shardFile,
  snapshotDate,
  snapshotDates,
} from '../../pipeline/release/read.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { WorkBeside } from './work-beside.ts'
import type { ManifestFile, SnapshotManifest } from '../../schemas/manifests.ts'
import type { SnapshotShard } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { Asker } from '../turns.ts'
import { ShardCache } from './shard-cache.ts'
import type { NextRelease, Warm } from './warm.ts'
import { READS_AT_ONCE } from '../../pipeline/store/store.ts'

const MANIFESTS_KEPT = 5_000
const DAYS_PER_CALL = 100
/** Days that are not in memory: each takes 1 to 2 ms. */
const UNREAD_DAYS_PER_CALL = 3

export type SnapshotRow = SnapshotShard['entities'][string]['payload']

export class History implements Warm {
  readonly #store: Store
  readonly #manifests: LRUCache<string, SnapshotManifest>
  readonly #shards: ShardCache<SnapshotShard>
  #dates: string[] = []
  #listing: Promise<void> | undefined

  constructor(store: Store, cacheBytes: number) {
    this.#store = store
    this.#manifests = new LRUCache({
      max: MANIFESTS_KEPT,
      // An entry evicted while it loads must still reach its caller.
      ignoreFetchAbort: true,
      fetchMethod: (date) => readSnapshotManifest(store, date),
    })
    this.#shards = new ShardCache(cacheBytes)
  }

  /** Lists the days that have a snapshot. Calls made during a listing share it. */
  refresh(): Promise<void> {
    this.#listing ??= this.#list().finally(() => {
      this.#listing = undefined
    })
    return this.#listing
  }

  /** The days that have a snapshot, in order. */
  get dates(): readonly string[] {
    return this.#dates
  }

  /** Returns the manifest of a day's snapshot; undefined for a day without one. */
  async manifest(date: string): Promise<SnapshotManifest | undefined> {
    return this.has(date) ? this.#manifests.fetch(date) : undefined
  }

  has(date: string): boolean {
    return this.#dates.includes(date)
  }

  /**
   * Adds days whose snapshot was completed again after its manifest was quarantined: a listing from the last
   * day on does not find them.
   */
  include(dates: readonly string[]): void {
    const added = dates.filter((date) => !this.has(date))
    if (added.length > 0) this.#dates = [...this.#dates, ...added].sort()
  }

  async #list(): Promise<void> {
    // Releases never go back to an earlier day, so no day before the last known one gets a snapshot.
    this.#dates = [...this.#dates, ...(await snapshotDates(this.#store, this.#dates.at(-1)))]
  }

  /**
   * Before the first release of a day, reads the files whose counterparts of the day before are in memory,
   * because callers asked for those.
   */
  async warm(next: NextRelease, beside: WorkBeside): Promise<void> {
    const date = snapshotDate(next.manifest.as_of)
    const before = this.#dates.at(-1)
    if (before === undefined || this.has(date)) return
    const manifest = await this.#manifests.fetch(date).catch(() => undefined)
    for (const file of manifest?.files ?? []) {
      if (!this.#shards.atHand(shardKey(before, file))) continue
      if (!(await beside.goesOn())) return
      await this.#read(date, file).catch(() => undefined)
    }
  }

  /**
   * Returns the rows of an entity from `start` to `end` inclusive, oldest first. A day whose snapshot lacks
   * the entity has no row. `asker` counts further calls for many days, and for those not in memory.
   */
  async snapshotsOf(
    entityType: EntityType,
    entityId: string,
    asker: Asker,
    start?: string,
    end?: string,
  ): Promise<SnapshotRow[]> {
    const dates = this.#between(start, end)
    await asker.countMore(this.#callsOf(dates, entityType, entityId) - 1)
    return this.#rowsOn(dates, entityType, entityId)
  }

  /** As `snapshotsOf`, for at most `most` days up to `end`, in equal steps and the last among them. */
  some(entityType: EntityType, entityId: string, end: string, most: number): Promise<SnapshotRow[]> {
    return this.#rowsOn(this.#upTo(end, most), entityType, entityId)
  }

  /** Returns as how many further calls the same `some` counts. */
  callsOfSome(entityType: EntityType, entityId: string, end: string, most: number): number {
    return this.#callsOf(this.#upTo(end, most), entityType, entityId) - 1
  }

  #upTo(end: string, most: number): string[] {
    const all = this.#between(undefined, end)
    const shown = Math.min(most, all.length)
    return Array.from(
      { length: shown },
      (_, index) => all[Math.ceil(((index + 1) * all.length) / shown) - 1]!,
    )
  }

  #between(start = '', end = '9999-12-31'): string[] {
    return this.#dates.filter((date) => date >= start && date <= end)
  }

  async #rowsOn(dates: readonly string[], entityType: EntityType, entityId: string): Promise<SnapshotRow[]> {
    const rows = await pMap(dates, (date) => this.#rowOf(date, entityType, entityId), {
      concurrency: READS_AT_ONCE,
    })
    return rows.filter((row) => row !== undefined)
  }

  #callsOf(dates: readonly string[], entityType: EntityType, entityId: string): number {
    const unread = dates.filter((date) => !this.#isRead(date, entityType, entityId))
    return (
      Math.max(1, Math.ceil(dates.length / DAYS_PER_CALL)) + Math.ceil(unread.length / UNREAD_DAYS_PER_CALL)
    )
  }

  #isRead(date: string, entityType: EntityType, entityId: string): boolean {
    const manifest = this.#manifests.get(date)
    const file = manifest && shardFile(manifest.files, entityType, entityId)
    return manifest !== undefined && (!file || this.#shards.atHand(shardKey(date, file)) !== undefined)
  }

  async #rowOf(date: string, entityType: EntityType, entityId: string): Promise<SnapshotRow | undefined> {
    const manifest = await this.#manifests.fetch(date)
    const file = manifest && shardFile(manifest.files, entityType, entityId)
    if (!file) return undefined
    const shard = await this.#read(date, file)
    return Object.hasOwn(shard.entities, entityId) ? shard.entities[entityId]?.payload : undefined
  }

  #read(date: string, file: ManifestFile): Promise<SnapshotShard> {
    return this.#shards.get(shardKey(date, file), async () => ({
      value: await readSnapshotShard(this.#store, date, file),
      sizeBytes: file.size_bytes,
    }))
  }
}

function shardKey(date: string, { path }: ManifestFile): string {
  return `${date} ${path}`
}
