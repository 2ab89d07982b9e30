// Reads an object of any size a piece at a time: to hash it in the store itself, or to copy it to a file on
// this machine.
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { Content, LocalFile } from './body.ts'
import type { Store } from './store.ts'

const READ_BYTES = 8 * 1024 * 1024

type Ranges = Pick<Store, 'range'>

/** Returns undefined if there is no such object. */
export function objectContent(store: Ranges, path: string): Promise<Required<Content> | undefined> {
  return readThrough(store, path, Infinity, () => undefined)
}

/**
 * Writes an object to a file. Returns undefined if there is no such object. Of one with more than `mostBytes`
 * it writes one byte more.
 */
export async function copyToFile(
  store: Ranges,
  path: string,
  location: string,
  mostBytes = Infinity,
): Promise<LocalFile | undefined> {
  await using file = await open(location, 'w')
  const content = await readThrough(store, path, mostBytes, (bytes) => file.writeFile(bytes))
  return content && { location, ...content }
}

async function readThrough(
  store: Ranges,
  path: string,
  mostBytes: number,
  take: (bytes: Uint8Array) => Promise<void> | void,
): Promise<Required<Content> | undefined> {
  const hash = createHash('sha256')
  for (let sizeBytes = 0; ;) {
    const wantedBytes = Math.min(READ_BYTES, mostBytes - sizeBytes + 1)
    const bytes = await store.range(path, sizeBytes, wantedBytes)
    if (!bytes) return undefined
    hash.update(bytes)
    await take(bytes)
    sizeBytes += bytes.byteLength
    if (bytes.byteLength < wantedBytes || sizeBytes > mostBytes)
      return { sha256: hash.digest('hex'), sizeBytes }
  }
}
