// Reads the URL or the file that a command is given.
import { readFile } from 'node:fs/promises'
import { ServiceError } from '../schemas/errors.ts'

const FETCH_TIMEOUT_MS = 30_000

export function isUrl(place: string): boolean {
  return /^https?:\/\//.test(place)
}

/**
 * Returns an answer of any status.
 *
 * @throws ServiceError `unavailable` if there is none.
 */
export async function fetched(url: string): Promise<{ response: Response; bytes: Uint8Array }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) })
    return { response, bytes: new Uint8Array(await response.arrayBuffer()) }
  } catch (cause) {
    throw new ServiceError('unavailable', `${url} does not answer`, { cause })
  }
}

/** @throws ServiceError `invalid` for a file that cannot be read. */
export async function fileBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new ServiceError('invalid', `${path} cannot be read`, { cause })
  }
}
