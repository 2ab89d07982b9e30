// The files of `fvs witness`: the last checkpoint, which is replaced as a whole or not at all, and the key.
import { readFile, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { encoded } from '../pipeline/proof/canonical.ts'
import { type SigningKey, parseSigningKey } from '../pipeline/proof/note-keys.ts'
import { hasCode, writeStaged } from '../pipeline/store/disk.ts'
import { ServiceError } from '../schemas/errors.ts'
import { fileBytes } from './read-place.ts'

/** The rights of everyone but the owner of a file. */
const OTHERS = 0o077

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

/**
 * @throws ServiceError `invalid` for a file that others may read, and for anything but the key of a witness.
 */
export async function witnessKeyIn(file: string): Promise<SigningKey> {
  const text = Buffer.from(await fileBytes(file))
    .toString()
    .trim()
  const { mode } = await stat(file)
  // Windows has no such rights.
  if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
    throw new ServiceError('invalid', `others may read ${file}, which holds a secret: chmod 600 ${file}`)
  }
  try {
    const key = parseSigningKey(text)
    if (key.verifier.use === 'witness') return key
    throw new ServiceError(
      'invalid',
      'this is the key of a log; `fvs log key NAME --witness` makes one of a witness',
    )
  } catch (cause) {
    throw new ServiceError('invalid', `${file}: ${(cause as Error).message}`, { cause })
  }
}
