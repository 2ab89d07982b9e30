// The reference forecasts of a release, for the boards that they stand on.
import { REFERENCES_PATH } from '../../pipeline/release/files/references.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { ReferenceRow, ReferencesFile } from '../../schemas/references.ts'
import type { ReleaseFiles } from './release-files.ts'

/** The parts of an entry that say whether it is ranked, and where. */
export interface Placed {
  rank: number | null
  pool: string | null
}

export class References {
  readonly #files: ReleaseFiles

  constructor(files: ReleaseFiles) {
    this.#files = files
  }

  /**
   * Returns the references beside the ranked among some entries, by pool.
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
    const rows = (await this.#files.parsed<ReferencesFile>(manifest, REFERENCES_PATH))?.references ?? []
    return rows.filter((row) => row.category === category && pools.has(row.pool))
  }
}
