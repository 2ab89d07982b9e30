// Pages of the leaderboard of one release, put together from the pages that it has published.
import { canonical } from '../pipeline/proof/canonical.ts'
import { ENTRIES_PER_PAGE } from '../pipeline/release/leaderboard.ts'
import { readManifest, readReleaseFile } from '../pipeline/release/read.ts'
import { leaderboardPath } from '../pipeline/store/paths.ts'
import type { Store } from '../pipeline/store/store.ts'
import { ServiceError } from '../schemas/errors.ts'
import type { LeaderboardFile, ReleaseManifest } from '../schemas/payloads.ts'
import { LEADERBOARD_CURSOR } from '../schemas/requests.ts'
import type { EntityType } from '../schemas/tables.ts'
import { ShardCache } from './shard-cache.ts'

/** Some hundred pages, and the manifests of the releases that callers still page through. */
const CACHE_BYTES = 16 * 1024 * 1024
/** A parsed page takes about three times as much memory as its bytes. */
const PARSED_FACTOR = 3

export interface LeaderboardRequest {
  entityType: EntityType
  limit: number
  cursor?: string | undefined
}

export class Leaderboard {
  readonly #store: Store
  readonly #pages: ShardCache<LeaderboardFile>
  readonly #manifests: ShardCache<ReleaseManifest>

  constructor(store: Store) {
    this.#store = store
    this.#pages = new ShardCache(CACHE_BYTES)
    this.#manifests = new ShardCache(CACHE_BYTES)
  }

  /**
   * The entries from the cursor on, of the release that the cursor names, or of the current one.
   *
   * @throws ServiceError `notFound` if there is no release as the cursor names it, or if retention has deleted its pages.
   */
  async page(
    current: ReleaseManifest,
    { entityType, limit, cursor }: LeaderboardRequest,
  ): Promise<Uint8Array> {
    const { release, from } = placeOf(cursor, current.release)
    const manifest = release === current.release ? current : await this.#manifest(release)
    const entries: LeaderboardFile['entries'] = []
    let next = from
    for (let page = Math.floor(from / ENTRIES_PER_PAGE); entries.length < limit; page++) {
      const found = await this.#read(manifest, leaderboardPath(entityType, page))
      if (!found) break
      const start = next - page * ENTRIES_PER_PAGE
      const taken = found.entries.slice(start, start + limit - entries.length)
      entries.push(...taken)
      next += taken.length
      if (taken.length === 0) break
    }
    const more = await this.#read(manifest, leaderboardPath(entityType, Math.floor(next / ENTRIES_PER_PAGE)))
    const hasMore = more !== undefined && next % ENTRIES_PER_PAGE < more.entries.length
    const { as_of, environment, methodology_version } = manifest
    return canonical({
      release,
      as_of,
      environment,
      methodology_version,
      entity_type: entityType,
      entries,
      next_cursor: hasMore ? `${release}_${next}` : null,
    })
  }

  /** A page as it was published, the first is 0; undefined for one that the release does not have. */
  file(
    manifest: ReleaseManifest,
    entityType: EntityType,
    page: number,
  ): Promise<LeaderboardFile | undefined> {
    return this.#read(manifest, leaderboardPath(entityType, page))
  }

  #manifest(release: number): Promise<ReleaseManifest> {
    return this.#manifests.get(String(release), async () => {
      const manifest = await readManifest(this.#store, release)
      if (!manifest) throw noRelease(release)
      return { value: manifest, sizeBytes: manifest.files.length * 500 }
    })
  }

  async #read(manifest: ReleaseManifest, path: string): Promise<LeaderboardFile | undefined> {
    const { release, files } = manifest
    const file = files.find((one) => one.path === path)
    if (!file) return undefined
    return this.#pages.get(`${release} ${path}`, async () => ({
      value: await readReleaseFile<LeaderboardFile>(this.#store, release, file),
      sizeBytes: file.size_bytes * PARSED_FACTOR,
    }))
  }
}

/** @throws ServiceError `notFound` for a cursor of a release that there is not. */
function placeOf(cursor: string | undefined, current: number): { release: number; from: number } {
  if (cursor === undefined) return { release: current, from: 0 }
  const [, release, from] = LEADERBOARD_CURSOR.exec(cursor)!.map(Number) as [number, number, number]
  if (release > current) throw noRelease(release)
  return { release, from }
}

function noRelease(release: number): ServiceError {
  return new ServiceError('notFound', `there is no release ${release}: begin again without a cursor`)
}

/** How many pages a release has of a kind. */
export function pagesOf({ files }: ReleaseManifest, entityType: EntityType): number {
  const paths = new Set(files.map(({ path }) => path))
  let pages = 0
  while (paths.has(leaderboardPath(entityType, pages))) pages += 1
  return pages
}
