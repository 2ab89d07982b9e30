// A store in memory, for tests and trials.
import { assertKey } from './keys.ts'
import type { Store, StoredObject } from './store.ts'

export class MemoryStore implements Store {
  readonly url = 'memory:'
  readonly objects = new Map<string, Uint8Array>()

  get(key: string): Promise<Uint8Array | undefined> {
    assertKey(key)
    return Promise.resolve(this.objects.get(key))
  }

  range(key: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    assertKey(key)
    return Promise.resolve(this.objects.get(key)?.subarray(offset, offset + length))
  }

  // oxlint-disable-next-line require-await
  async *list(prefix: string, after = ''): AsyncIterable<StoredObject> {
    assertKey(prefix)
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after)
    for (const key of keys.sort()) {
      const bytes = this.objects.get(key)
      if (bytes) yield { key, sizeBytes: bytes.byteLength }
    }
  }

  putIfAbsent(key: string, bytes: Uint8Array): Promise<boolean> {
    assertKey(key)
    if (this.objects.has(key)) return Promise.resolve(false)
    this.objects.set(key, bytes.slice())
    return Promise.resolve(true)
  }

  put(key: string, bytes: Uint8Array): Promise<void> {
    assertKey(key)
    this.objects.set(key, bytes.slice())
    return Promise.resolve()
  }

  delete(key: string): Promise<void> {
    assertKey(key)
    this.objects.delete(key)
    return Promise.resolve()
  }
}
