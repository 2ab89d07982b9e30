// Two entities side by side.
import type { NamedEntity, ReleasedComparison } from '../../pipeline/release/said-by.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { WorkedOut } from './worked-out.ts'

const KEPT_BYTES = 4_000

export type CompareTwo = (
  manifest: ReleaseManifest,
  two: readonly [NamedEntity, NamedEntity],
) => Promise<ReleasedComparison>

export class Comparisons {
  readonly #compare: CompareTwo
  readonly #kept = new WorkedOut<ReleasedComparison>()

  constructor(compare: CompareTwo) {
    this.#compare = compare
  }

  /** Compares two entities of a release. */
  of(
    manifest: ReleaseManifest,
    two: readonly [NamedEntity, NamedEntity],
    countMore: (calls: number) => Promise<void>,
  ): Promise<ReleasedComparison> {
    const key = [manifest.release, ...two.map(({ entityId }) => entityId)].join(' ')
    return this.#kept.of(key, countMore, async () => ({
      value: await this.#compare(manifest, two),
      sizeBytes: KEPT_BYTES,
    }))
  }
}
