// Handles stores as wholes: copies one, and summarises its content so that tests can compare before and after.
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Store } from '../../pipeline/store/store.ts'

/** A copy of a store, for a test to change. */
export function copyOf({ objects }: MemoryStore): MemoryStore {
  const store = new MemoryStore()
  for (const [path, bytes] of objects) store.objects.set(path, bytes)
  return store
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
