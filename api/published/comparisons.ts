// Two entities side by side, worked out on request and then kept.
import pLimit from 'p-limit'
import type { NamedEntity, ReleasedComparison } from '../../pipeline/release/said-by.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { ShardCache } from './shard-cache.ts'

/** Thousands of comparisons. */
const CACHE_BYTES = 16 * 1024 * 1024
const KEPT_BYTES = 4_000
/** Each reads the whole table of forecasts. */
const AT_ONCE = 1
/** As how many further calls a comparison counts that is not kept. */
const CALLS = 10

export type CompareTwo = (
  manifest: ReleaseManifest,
  two: readonly [NamedEntity, NamedEntity],
) => Promise<ReleasedComparison>

export class Comparisons {
  readonly #compare: CompareTwo
  readonly #kept = new ShardCache<ReleasedComparison>(CACHE_BYTES)
  readonly #limit = pLimit(AT_ONCE)

  constructor(compare: CompareTwo) {
    this.#compare = compare
  }

  /** Compares two entities of a release. `countMore` counts further calls before anything is read. */
  async of(
    manifest: ReleaseManifest,
    two: readonly [NamedEntity, NamedEntity],
    countMore: (calls: number) => Promise<void>,
  ): Promise<ReleasedComparison> {
    const key = [manifest.release, ...two.map(({ entityId }) => entityId)].join(' ')
    const kept = this.#kept.atHand(key)
    if (kept) return kept
    await countMore(CALLS)
    return this.#kept.get(key, async () => ({
      value: await this.#limit(() => this.#compare(manifest, two)),
      sizeBytes: KEPT_BYTES,
    }))
  }
}
