// The file in which a command keeps what it has seen until its next call. It is replaced as a whole or not at
// all.
import { readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { encoded } from '../pipeline/proof/canonical.ts'
import { hasCode, writeStaged } from '../pipeline/store/disk.ts'
import { ServiceError } from '../schemas/errors.ts'

/**
 * Returns undefined if there is none yet.
 *
 * @throws ServiceError `invalid` for a file that cannot be read.
 */
export async function readState(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file)
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined
    throw new ServiceError('invalid', `${file} cannot be read`, { cause })
  }
}

/**
 * Writes a new file in the same folder and moves it into place.
 *
 * @throws ServiceError `conflict` if another call has replaced it since it was read, `unavailable` if it
 *   cannot be written.
 */
export async function replaceState(
  file: string,
  text: string,
  before: Uint8Array | undefined,
): Promise<void> {
  try {
    await writeStaged(dirname(file), file, encoded(text), async (staged, location) => {
      const present = await readState(location)
      if (!areSame(present, before)) {
        throw new ServiceError('conflict', `another call has replaced ${file}; nothing was kept: call again`)
      }
      await rename(staged, location)
    })
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    throw new ServiceError('unavailable', `${file} cannot be written: ${(cause as Error).message}`, { cause })
  }
}

function areSame(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one === undefined || other === undefined ? one === other : Buffer.compare(one, other) === 0
}
