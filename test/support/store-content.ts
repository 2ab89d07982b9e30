// Stores as wholes: everything that one holds, to compare before and after, and copies to change.
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Store } from '../../pipeline/store/store.ts'

/** Another store with the same objects, for a test to change. */
export function copyOf({ objects }: MemoryStore): MemoryStore {
  const store = new MemoryStore()
  for (const [key, bytes] of objects) store.objects.set(key, bytes)
  return store
}

/** The SHA-256 of each object, by its key. */
export async function contentOf(store: Store, prefix = ''): Promise<Record<string, string>> {
  const content: Record<string, string> = {}
  for await (const { path } of store.list(prefix)) {
    const bytes = await store.get(path)
    if (bytes) content[path] = sha256Hex(bytes)
  }
  return content
}
