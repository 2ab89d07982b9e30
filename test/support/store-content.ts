// Handles stores as wholes: copies one, and summarises its content so that tests can compare before and
// after.
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { recordBytes } from '../../pipeline/store/records.ts'
import type { Store } from '../../pipeline/store/store.ts'

/** A copy of a store, for a test to change. */
export function copyOf({ objects }: MemoryStore): MemoryStore {
  const store = new MemoryStore()
  for (const [path, bytes] of objects) store.objects.set(path, bytes)
  return store
}

/** Changes a bit in the middle of an object. */
export function flip({ objects }: MemoryStore, path: string): void {
  const bytes = objects.get(path)!
  objects.set(path, bytes.with(bytes.length >> 1, bytes[bytes.length >> 1]! ^ 1))
}

/** A record of the service, as the store holds it without its checksum. */
export function recordIn({ objects }: Pick<MemoryStore, 'objects'>, path: string): Record<string, unknown> {
  const { checksum: _, ...record } = JSON.parse(new TextDecoder().decode(objects.get(path))) as Record<
    string,
    unknown
  >
  return record
}

/** Puts a record of the service into a store. */
export function setRecord({ objects }: Pick<MemoryStore, 'objects'>, path: string, record: object): void {
  objects.set(path, recordBytes(path, record))
}

/** The SHA-256 of each object, by path. */
export async function contentOf(store: Store, prefix = ''): Promise<Record<string, string>> {
  const content: Record<string, string> = {}
  for await (const { path } of store.list(prefix)) {
    const bytes = await store.get(path)
    if (bytes) content[path] = sha256Hex(bytes)
  }
  return content
}
