// The reference forecasts of a release, for the boards that they stand on.
import { readReleaseFile } from '../../pipeline/release/read.ts'
import { REFERENCES_PATH } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { ReferenceRow, ReferencesFile } from '../../schemas/references.ts'
import { ShardCache } from './shard-cache.ts'

/** The files of a few releases. */
const CACHE_BYTES = 8 * 1024 * 1024
/** A parsed file takes about three times as much memory as its bytes. */
const PARSED_FACTOR = 3

/** The parts of an entry that say whether it is ranked, and where. */
interface Placed {
  rank: number | null
  pool?: string | null | undefined
}

export class References {
  readonly #store: Store
  readonly #files = new ShardCache<ReferencesFile>(CACHE_BYTES)

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Returns the references beside the ranked among some entries, by pool; none of a release that was made
   * without them.
   *
   * @param category that of the board; null for the leaderboard.
   */
  async beside(
    manifest: ReleaseManifest,
    entries: readonly Placed[],
    category: string | null = null,
  ): Promise<ReferenceRow[]> {
    const pools = new Set(entries.flatMap(({ rank, pool }) => (rank === null ? [] : (pool ?? []))))
    if (pools.size === 0) return []
    const rows = (await this.#read(manifest))?.references ?? []
    return rows.filter((row) => row.category === category && pools.has(row.pool))
  }

  async #read({ release, files }: ReleaseManifest): Promise<ReferencesFile | undefined> {
    const file = files.find(({ path }) => path === REFERENCES_PATH)
    if (!file) return undefined
    return this.#files.get(`${release}`, async () => ({
      value: await readReleaseFile<ReferencesFile>(this.#store, release, file),
      sizeBytes: file.size_bytes * PARSED_FACTOR,
    }))
  }
}
