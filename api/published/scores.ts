// Scores of an entity per question, page by page, read from the Parquet files of a release.
import { scoresFile } from '../../pipeline/release/row-groups.ts'
import { type OpenPart, type ScoreRow, openPart, readRows } from '../../pipeline/release/score-rows.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { WorkBeside } from './work-beside.ts'
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { type CursorReleases, cursorTo } from './cursor-releases.ts'
import { ShardCache } from './shard-cache.ts'
import type { NextRelease, Warm } from './warm.ts'
import { SERVICE, SHORT, Turns } from '../turns.ts'

/** Some ten footers of full parts. */
const CACHE_BYTES = 64 * 1024 * 1024
/** A parsed footer takes about eight times as much memory as its bytes. */
const PARSED_FACTOR = 8
/** Rows that `newest` reads at once. */
const ROWS_AT_ONCE = 10_000
/** A page takes up to about ten megabytes while it is read and decoded. */
const PAGES_AT_ONCE = 8

interface ScoresRequest {
  entityType: EntityType
  entityId: string
  limit: number
  cursor?: string | undefined
}

interface ScoresPage {
  manifest: ReleaseManifest
  /** Newest first. */
  rows: ScoreRow[]
  nextCursor: string | null
}

export class Scores implements Warm {
  readonly #store: Store
  readonly #releases: CursorReleases
  readonly #parts = new ShardCache<OpenPart>(CACHE_BYTES)
  readonly #turns = new Turns({ ...SHORT, atOnce: PAGES_AT_ONCE })

  constructor(store: Store, releases: CursorReleases) {
    this.#store = store
    this.#releases = releases
  }

  /**
   * Returns the scores from the cursor on in the cursor's release; without a cursor, the first ones in the
   * current release. Returns no rows for an entity that the release does not have. The first call for a part
   * reads three ranges, the next ones read one.
   *
   * @throws ServiceError `notFound` if the cursor's release does not exist, or if retention has deleted its
   *   scores.
   */
  async page(
    current: ReleaseManifest,
    { entityType, entityId, limit, cursor }: ScoresRequest,
    asker = SERVICE,
  ): Promise<ScoresPage> {
    const { manifest, from } = await this.#releases.placeOf(current, cursor)
    const file = scoresFile(manifest.files, entityType, entityId)
    if (!file) return { manifest, rows: [], nextCursor: null }
    const { rows, next } = await this.#turns.run(asker, async () =>
      readRows(this.#store, await this.#open(manifest, file), { entityId, limit, end: from }),
    )
    return { manifest, rows, nextCursor: cursorTo(manifest, next) }
  }

  /** Yields the newest `most` scores of an entity in a release, or all of them, some at a time. */
  async *newest(
    manifest: ReleaseManifest,
    entityType: EntityType,
    entityId: string,
    most = Infinity,
  ): AsyncIterable<ScoreRow[]> {
    let left = most
    for (let cursor: string | null | undefined; cursor !== null && left > 0;) {
      const limit = Math.min(ROWS_AT_ONCE, left)
      const page = await this.page(manifest, { entityType, entityId, limit, cursor })
      yield page.rows
      left -= page.rows.length
      cursor = page.nextCursor
    }
  }

  /**
   * Opens the parts whose counterparts of an earlier release are in memory, because callers asked for those.
   */
  async warm({ manifest }: NextRelease, beside: WorkBeside): Promise<void> {
    const asked = new Set(Array.from(this.#parts.inMemory(), ([, { file }]) => file.path))
    for (const file of manifest.files.filter(({ path }) => asked.has(path))) {
      if (!(await beside.goesOn())) return
      await this.#open(manifest, file).catch(() => undefined)
    }
  }

  #open({ release, files }: ReleaseManifest, file: ManifestFile): Promise<OpenPart> {
    return this.#parts.get(`${release} ${file.path}`, async () => {
      const opened = await openPart(this.#store, release, files, file)
      return { value: opened, sizeBytes: opened.footerBytes * PARSED_FACTOR }
    })
  }
}
