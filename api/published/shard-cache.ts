// Parsed shards in memory, bounded by their size, so that a shard that was read for one caller serves the
// next.
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../../schemas/errors.ts'

interface Sized<T> {
  value: T
  /** The estimated memory of the value. */
  sizeBytes: number
}

export class ShardCache<T extends object> {
  readonly #entries: LRUCache<string, Sized<T>, () => Promise<Sized<T>>>

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({
      maxSize: Math.max(1, maxBytes),
      // The cache returns a value that is larger than the whole cache, but does not keep it.
      sizeCalculation: ({ sizeBytes }) => sizeBytes,
      // An entry evicted while it loads must still reach its caller.
      ignoreFetchAbort: true,
      fetchMethod: (_key, _stale, { context: read }) => read(),
    })
  }

  /** Returns the value under a key, if it is in memory. */
  atHand(key: string): T | undefined {
    return this.#entries.get(key)?.value
  }

  /** Returns the value under a key. Calls that ask for it during a read share that read. */
  async get(key: string, read: () => Promise<Sized<T>>): Promise<T> {
    const entry = await this.#entries.fetch(key, { context: read })
    if (entry) return entry.value
    throw new ServiceError('unavailable', `${key} could not be read`, { retryAfterS: 5 })
  }
}
