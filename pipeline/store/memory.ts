// A store in memory, for tests and trials.
import { assertKey, assertPrefix } from './keys.ts'
import type { Store, StoredObject } from './store.ts'

export class MemoryStore implements Store {
  readonly url = 'memory:'
  readonly objects = new Map<string, Uint8Array>()

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
      if (bytes) yield { key, sizeBytes: bytes.byteLength }
    }
  }

  async putIfAbsent(key: string, bytes: Uint8Array): Promise<boolean> {
    assertKey(key)
    if (this.objects.has(key)) return false
    this.objects.set(key, bytes.slice())
    return true
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    assertKey(key)
    this.objects.set(key, bytes.slice())
  }

  async delete(key: string): Promise<void> {
    assertKey(key)
    this.objects.delete(key)
  }
}
