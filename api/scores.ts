// Scores of an entity per question, page by page, read from the Parquet files of a release.
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import pMap from 'p-map'
import { scoresFile } from '../pipeline/release/read.ts'
import { ROW_GROUPS_READ_AGAIN } from '../pipeline/release/row-groups.ts'
import {
  type OpenPart,
  type ScoreRow,
  decodeAhead,
  newestRowGroup,
  openPart,
  readRows,
} from '../pipeline/release/score-rows.ts'
import type { Store } from '../pipeline/store/store.ts'
import type { WorkBeside } from '../pipeline/work-beside.ts'
import type { ManifestFile, ReleaseManifest } from '../schemas/payloads.ts'
import type { EntityType } from '../schemas/tables.ts'
import { type CursorReleases, cursorTo } from './cursor-releases.ts'
import { ShardCache } from './shard-cache.ts'

/** Some ten footers of full parts. */
const CACHE_BYTES = 64 * 1024 * 1024
/** A parsed footer takes about eight times as much memory as its bytes. */
const PARSED_FACTOR = 8
/** Each takes up to about ten megabytes while it is read and decoded. */
const PAGES_AT_ONCE = 8
const READ_AT_ONCE = 4
/** Many may be in one row group. */
const ENTITIES_NOTED = 200

interface Entity {
  entityType: EntityType
  entityId: string
}

interface ScoresRequest extends Entity {
  limit: number
  cursor?: string | undefined
}

interface ScoresPage {
  manifest: ReleaseManifest
  /** Newest first. */
  rows: ScoreRow[]
  nextCursor: string | null
}

export class Scores {
  readonly #store: Store
  readonly #releases: CursorReleases
  readonly #parts = new ShardCache<OpenPart>(CACHE_BYTES)
  readonly #limit = pLimit(PAGES_AT_ONCE)
  /** The entities that callers asked for last, of whatever release. */
  readonly #asked = new LRUCache<string, Entity>({ max: ENTITIES_NOTED })

  constructor(store: Store, releases: CursorReleases) {
    this.#store = store
    this.#releases = releases
  }

  /**
   * The scores from the cursor on, of the release that the cursor names, or of the current one. There are none of an entity
   * that the release does not have. The first call for a part reads three ranges, the next ones read one.
   *
   * @throws ServiceError `notFound` if there is no release as the cursor names it, or if retention has deleted its scores.
   */
  async page(
    current: ReleaseManifest,
    { entityType, entityId, limit, cursor }: ScoresRequest,
  ): Promise<ScoresPage> {
    const { manifest, from } = await this.#releases.placeOf(current, cursor)
    const file = scoresFile(manifest.files, entityType, entityId)
    if (!file) return { manifest, rows: [], nextCursor: null }
    const { rows, next } = await this.#limit(async () =>
      readRows(this.#store, await this.#open(manifest, file), { entityId, limit, end: from }),
    )
    return { manifest, rows, nextCursor: cursorTo(manifest, next) }
  }

  /** Notes that a caller asked for the newest rows of an entity. */
  wasAsked(entity: Entity): void {
    this.#asked.set(entity.entityId, entity)
  }

  /**
   * Opens the parts that are in memory of other releases, since callers have asked for them, of one of these or of one before. Has the
   * row groups decoded whose newest rows callers asked for last.
   */
  async readAgain(manifest: ReleaseManifest, beside: WorkBeside): Promise<void> {
    const asked = new Set(Array.from(this.#parts.inMemory(), ([, { file }]) => file.path))
    for (const file of manifest.files.filter(({ path }) => asked.has(path))) {
      if (!(await beside.goesOn())) return
      // It fails again for those who ask for it.
      await this.#open(manifest, file).catch(() => undefined)
    }
    await pMap(
      // What was asked for last is decoded last, since the thread forgets first what it had first.
      (await this.#askedIn(manifest, beside)).toReversed(),
      async ({ part, entityId }) => {
        if (await beside.goesOn()) await decodeAhead(this.#store, part, entityId).catch(() => undefined)
      },
      { concurrency: READ_AT_ONCE },
    )
  }

  /** An entity in each of the row groups that callers asked for last. */
  async #askedIn(
    manifest: ReleaseManifest,
    beside: WorkBeside,
  ): Promise<{ part: OpenPart; entityId: string }[]> {
    const groups = new Map<string, { part: OpenPart; entityId: string }>()
    for (const { entityType, entityId } of Array.from(this.#asked.values())) {
      const file = scoresFile(manifest.files, entityType, entityId)
      const part = file && (await this.#open(manifest, file).catch(() => undefined))
      const newest = part && newestRowGroup(part, entityId)
      if (newest === undefined) continue
      groups.set(`${part!.file.path} ${newest}`, { part: part!, entityId })
      if (groups.size === ROW_GROUPS_READ_AGAIN || !(await beside.goesOn())) break
    }
    return [...groups.values()]
  }

  #open({ release, files }: ReleaseManifest, file: ManifestFile): Promise<OpenPart> {
    return this.#parts.get(`${release} ${file.path}`, async () => {
      const opened = await openPart(this.#store, release, files, file)
      return { value: opened, sizeBytes: opened.footerBytes * PARSED_FACTOR }
    })
  }
}
