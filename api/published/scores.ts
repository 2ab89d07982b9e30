// Scores of an entity per question, page by page, read from the Parquet files of a release.
import { scoresFile } from '../../pipeline/release/row-groups.ts'
import { type OpenPart, type ScoreRow, openPart, readRows } from '../../pipeline/release/score-rows.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { cursorTo, pageStart } from './cursor.ts'
import type { Form, ReleaseFiles } from './release-files.ts'
import { SERVICE, SHORT, Turns } from '../turns.ts'

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

/** A part of the scores with its footer parsed. */
const PART: Form<OpenPart> = {
  name: 'footer',
  isWarmed: true,
  open: async ({ store }, { release, files }, file) => {
    const value = await openPart(store, release, files, file)
    return { value, sizeBytes: value.footerBytes * PARSED_FACTOR }
  },
}

export class Scores {
  readonly #store: Store
  readonly #files: ReleaseFiles
  readonly #turns = new Turns({ ...SHORT, atOnce: PAGES_AT_ONCE })

  constructor(store: Store, files: ReleaseFiles) {
    this.#store = store
    this.#files = files
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
    const { manifest, from } = await pageStart(this.#files, current, cursor)
    const file = scoresFile(manifest.files, entityType, entityId)
    if (!file) return { manifest, rows: [], nextCursor: null }
    const { rows, next } = await this.#turns.run(asker, async () => {
      const part = await this.#files.opened(manifest, file.path, PART)
      return readRows(this.#store, part!, { entityId, limit, end: from })
    })
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
}
