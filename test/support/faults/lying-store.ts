// A store whose reads are wrong where a test wants it: it does not show what is there, or lists what was
// there once.
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Store, StoredObject } from '../../../pipeline/store/store.ts'
import { copyOf } from '../store-content.ts'

export class LyingStore extends MemoryStore {
  /** What reads of single objects do not find. */
  readonly hidden = new Set<string>()
  /** What only reads of their beginning find. */
  readonly hiddenFromGet = new Set<string>()
  /** What deletions fail on, as if the store did not answer. */
  readonly undeletable = new Set<string>()
  #listed: MemoryStore | undefined

  /** From now on listings say what there is now, without an object or with one that is not there. */
  freezeListings({ without, also }: { without?: string; also?: string } = {}): void {
    this.#listed = copyOf(this)
    if (without !== undefined) this.#listed.objects.delete(without)
    if (also !== undefined) this.#listed.objects.set(also, new Uint8Array())
  }

  /** From now on listings say what there is in another store. */
  listFrom(store: MemoryStore): void {
    this.#listed = store
  }

  tellTheTruth(): void {
    this.hidden.clear()
    this.hiddenFromGet.clear()
    this.undeletable.clear()
    this.#listed = undefined
  }

  override async get(path: string): Promise<Uint8Array | undefined> {
    return this.hidden.has(path) || this.hiddenFromGet.has(path) ? undefined : super.get(path)
  }

  override async range(path: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    return this.hidden.has(path) ? undefined : super.range(path, offset, length)
  }

  override async *list(...asked: Parameters<Store['list']>): AsyncIterable<StoredObject> {
    yield* this.#listed ? this.#listed.list(...asked) : super.list(...asked)
  }

  override async delete(path: string): Promise<void> {
    if (this.undeletable.has(path)) throw new Error(`the test lets nobody delete ${path}`)
    return super.delete(path)
  }
}
