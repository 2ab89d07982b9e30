// A store in memory, for tests and trials.
import { readFile } from 'node:fs/promises'
import type { Body } from './body.ts'
import { assertPath, assertPrefix } from './paths.ts'
import { type OneByOne, type Store, type StoredObject, byPutIfAbsent, everything } from './store.ts'

export class MemoryStore implements Store {
  readonly url = 'memory:'
  readonly mark = undefined
  readonly objects = new Map<string, Uint8Array>()
  readonly #modifiedAt = new Map<string, Date>()
  readonly #now: () => Date

  /** Without a clock every object is dated 1970-01-01. */
  constructor(now = () => new Date(0)) {
    this.#now = now
  }

  async get(path: string): Promise<Uint8Array | undefined> {
    assertPath(path)
    return this.objects.get(path)?.slice()
  }

  async range(path: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    assertPath(path)
    return this.objects.get(path)?.slice(offset, offset + length)
  }

  async *list(prefix: string, after = '', wanted = everything): AsyncIterable<StoredObject> {
    assertPrefix(prefix)
    const paths = [...this.objects.keys()].filter(
      (path) => path.startsWith(prefix) && path > after && wanted(path),
    )
    for (const path of paths.sort()) {
      const bytes = this.objects.get(path)
      const modifiedAt = this.#modifiedAt.get(path) ?? new Date(0)
      if (bytes) yield { path, sizeBytes: bytes.byteLength, modifiedAt }
    }
  }

  async putIfAbsent(path: string, body: Body): Promise<boolean> {
    assertPath(path)
    const bytes = body instanceof Uint8Array ? body : await readFile(body.location)
    if (this.objects.has(path)) return false
    this.#write(path, bytes)
    return true
  }

  async put(path: string, body: Body): Promise<void> {
    assertPath(path)
    this.#write(path, body instanceof Uint8Array ? body : await readFile(body.location))
  }

  async delete(path: string): Promise<void> {
    assertPath(path)
    this.objects.delete(path)
  }

  localPath(): undefined {
    return undefined
  }

  oneByOne(): OneByOne {
    return byPutIfAbsent(this)
  }

  #write(path: string, bytes: Uint8Array): void {
    this.objects.set(path, bytes.slice())
    this.#modifiedAt.set(path, this.#now())
  }
}
