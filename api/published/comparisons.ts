// Two entities side by side.
import type { NamedEntity, ReleasedComparison } from '../../pipeline/release/forecasts-of.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { WorkedOut } from './worked-out.ts'
import type { Asker } from '../turns.ts'

/** A question in memory, with its numbers. */
const QUESTION_BYTES = 400
const LEAST_BYTES = 1_000

export type CompareTwo = (
  manifest: ReleaseManifest,
  two: readonly [NamedEntity, NamedEntity],
) => Promise<ReleasedComparison>

export class Comparisons {
  readonly #compare: CompareTwo
  readonly #kept: WorkedOut

  constructor(compare: CompareTwo, kept: WorkedOut) {
    this.#compare = compare
    this.#kept = kept
  }

  /** Compares two entities of a release. */
  comparisonOf(
    manifest: ReleaseManifest,
    two: readonly [NamedEntity, NamedEntity],
    asker: Asker,
  ): Promise<ReleasedComparison> {
    const key = ['comparison', manifest.release, ...two.map(({ entityId }) => entityId)].join(' ')
    return this.#kept.answerUnder(key, asker, async () => {
      const value = await this.#compare(manifest, two)
      return { value, sizeBytes: LEAST_BYTES + value.shared.length * QUESTION_BYTES }
    })
  }
}
