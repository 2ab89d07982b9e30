// Whose title each release changed, worked out once for each release that anyone asks for.
import type { TitleChanges } from '../../pipeline/release/title-changes.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { SERVICE } from '../turns.ts'
import { WorkedOut } from './worked-out.ts'

/** A change in memory, with its ids. */
const CHANGE_BYTES = 300
const LEAST_BYTES = 1_000

export type CompareTitles = (
  manifest: ReleaseManifest,
  previous: ReleaseManifest | undefined,
) => Promise<TitleChanges | undefined>

interface Found {
  changes: TitleChanges | undefined
}

export class Titles {
  readonly #compare: CompareTitles
  readonly #kept = new WorkedOut<Found>()

  constructor(compare: CompareTitles) {
    this.#compare = compare
  }

  /**
   * Compares a release with the one before it, one pair at a time. Retention deletes the oldest files first,
   * so that a pair that cannot be compared never can be again.
   *
   * @param previous undefined for the first release.
   */
  async changedBy(
    manifest: ReleaseManifest,
    previous: ReleaseManifest | undefined,
  ): Promise<TitleChanges | undefined> {
    // The page that shows them has counted the calls, and is kept for whoever asks next.
    const { changes } = await this.#kept.of(String(manifest.release), SERVICE, async () => {
      const found = await this.#compare(manifest, previous)
      return {
        value: { changes: found },
        sizeBytes: LEAST_BYTES + (found?.first.length ?? 0) * CHANGE_BYTES,
      }
    })
    return changes
  }
}
