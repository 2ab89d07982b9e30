// A store in memory, for tests and trials.
import { assertKey, assertPrefix } from './keys.ts'
import type { Store, StoredObject } from './store.ts'

export class MemoryStore implements Store {
  readonly url = 'memory:'
  readonly objects = new Map<string, Uint8Array>()
  readonly #modifiedAt = new Map<string, Date>()
  readonly #now: () => Date

  /** Without a clock every object is as old as the epoch. */
  constructor(now = () => new Date(0)) {
    this.#now = now
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    assertKey(key)
    return this.objects.get(key)?.slice()
  }

  async range(key: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    assertKey(key)
    return this.objects.get(key)?.slice(offset, offset + length)
  }

  async *list(prefix: string, after = ''): AsyncIterable<StoredObject> {
    assertPrefix(prefix)
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after)
    for (const key of keys.sort()) {
      const bytes = this.objects.get(key)
      const modifiedAt = this.#modifiedAt.get(key) ?? new Date(0)
      if (bytes) yield { key, sizeBytes: bytes.byteLength, modifiedAt }
    }
  }

  async putIfAbsent(key: string, bytes: Uint8Array): Promise<boolean> {
    assertKey(key)
    if (this.objects.has(key)) return false
    this.#write(key, bytes)
    return true
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    assertKey(key)
    this.#write(key, bytes)
  }

  async delete(key: string): Promise<void> {
    assertKey(key)
    this.objects.delete(key)
  }

  #write(key: string, bytes: Uint8Array): void {
    this.objects.set(key, bytes.slice())
    this.#modifiedAt.set(key, this.#now())
  }
}
