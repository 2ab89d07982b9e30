// Parsed shards in memory, bounded by their size: what was read for one caller is there for the next.
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../../schemas/errors.ts'

interface Sized<T> {
  value: T
  /** What the value takes in memory, at a guess. */
  sizeBytes: number
}

export class ShardCache<T extends object> {
  readonly #entries: LRUCache<string, Sized<T>, () => Promise<Sized<T>>>

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({
      maxSize: Math.max(1, maxBytes),
      // A value larger than the whole cache is returned and not kept.
      sizeCalculation: ({ sizeBytes }) => sizeBytes,
      // An entry evicted while it loads must still reach its caller.
      ignoreFetchAbort: true,
      fetchMethod: (_key, _stale, { context: read }) => read(),
    })
  }

  /** Forgets the values under other keys. A reading that is under way still reaches its callers. */
  keepOnly(isKept: (key: string) => boolean): void {
    for (const key of Array.from(this.#entries.keys())) if (!isKept(key)) this.#entries.delete(key)
  }

  /** All values with their keys, the one that was asked for last at the front. */
  *inMemory(): Iterable<[key: string, value: T]> {
    for (const [key, { value }] of this.#entries.entries()) yield [key, value]
  }

  /** The value under a key, if it is in memory. */
  atHand(key: string): T | undefined {
    return this.#entries.get(key)?.value
  }

  /** The value under a key. Calls that ask for it while it is read share the reading. */
  async get(key: string, read: () => Promise<Sized<T>>): Promise<T> {
    const entry = await this.#entries.fetch(key, { context: read })
    if (entry) return entry.value
    throw new ServiceError('unavailable', `${key} could not be read`, { retryAfterS: 5 })
  }
}
