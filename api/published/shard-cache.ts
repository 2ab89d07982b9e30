// Values in memory, bounded by their size, so that one that was read for one caller serves the next.
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../../schemas/errors.ts'

/** A value with its estimated memory. */
export interface Sized<T> {
  value: T
  sizeBytes: number
}

export class ShardCache<T extends object> {
  readonly #entries: LRUCache<string, Sized<T>, () => Promise<Sized<T> | undefined>>

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({
      maxSize: Math.max(1, maxBytes),
      // The cache returns a value that is larger than the whole cache, but does not keep it.
      sizeCalculation: ({ sizeBytes }) => Math.max(1, sizeBytes),
      // An entry evicted while it loads must still reach its caller.
      ignoreFetchAbort: true,
      fetchMethod: (_key, _stale, { context: read }) => read(),
    })
  }

  /** Yields all values, the most recently requested first. */
  *values(): Iterable<T> {
    for (const { value } of this.#entries.values()) yield value
  }

  /** Returns the value under a key, if it is in memory. */
  atHand(key: string): T | undefined {
    return this.#entries.get(key)?.value
  }

  /**
   * Returns the value under a key; undefined if nothing is read. Calls that ask for it during a read share
   * that read.
   */
  async find(key: string, read: () => Promise<Sized<T> | undefined>): Promise<T | undefined> {
    return (await this.#entries.fetch(key, { context: read }))?.value
  }

  /** Returns the value under a key that there must be, as `find`. */
  async get(key: string, read: () => Promise<Sized<T>>): Promise<T> {
    const found = await this.find(key, read)
    if (found) return found
    throw new ServiceError('unavailable', `${key} could not be read`, { retryAfterS: 5 })
  }
}
