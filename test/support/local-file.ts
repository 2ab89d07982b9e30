// Files on this machine, for stores to take.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import type { LocalFile } from '../../pipeline/store/body.ts'
import { testFolder } from './folder.ts'

/** A file with these bytes in a folder of its own, which is removed when the test ends. */
export async function localFile(bytes: Uint8Array): Promise<LocalFile> {
  const location = join(await testFolder(), 'file')
  await writeFile(location, bytes)
  return { location, sizeBytes: bytes.byteLength, sha256: sha256Hex(bytes) }
}
