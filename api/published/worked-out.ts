// Answers that take the whole table of forecasts: worked out on request, one at a time, and then kept.
import pLimit from 'p-limit'
import { ShardCache } from './shard-cache.ts'

const CACHE_BYTES = 32 * 1024 * 1024
/** As how many further calls an answer counts that is not kept. */
const CALLS = 10

/** Of the whole process. */
export const oneAtATime = pLimit(1)

export class WorkedOut<T extends object> {
  readonly #kept = new ShardCache<T>(CACHE_BYTES)

  /** Returns the answer under a key, or makes it after `countMore` has counted further calls. */
  async of(
    key: string,
    countMore: (calls: number) => Promise<void>,
    make: () => Promise<{ value: T; sizeBytes: number }>,
  ): Promise<T> {
    const kept = this.#kept.atHand(key)
    if (kept) return kept
    await countMore(CALLS)
    return this.#kept.get(key, () => oneAtATime(make))
  }
}
