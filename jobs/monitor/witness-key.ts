// The file with the key of a witness.
import { stat } from 'node:fs/promises'
import { type SigningKey, parseSigningKey } from '../../pipeline/proof/note-keys.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { fileBytes } from '../command-line/read-place.ts'

/** The rights of everyone but the owner of a file. */
const OTHERS = 0o077

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
