// Hashes an object of any size in the store itself, without a copy on this machine.
import { createHash } from 'node:crypto'
import type { Content } from './local-files.ts'
import type { Store } from './store.ts'

const READ_BYTES = 8 * 1024 * 1024

/** Returns undefined if there is no such object. */
export async function objectContent(store: Store, path: string): Promise<Required<Content> | undefined> {
  const hash = createHash('sha256')
  for (let sizeBytes = 0; ;) {
    const bytes = await store.range(path, sizeBytes, READ_BYTES)
    if (!bytes) return undefined
    hash.update(bytes)
    sizeBytes += bytes.byteLength
    if (bytes.byteLength < READ_BYTES) return { sha256: hash.digest('hex'), sizeBytes }
  }
}
