// Reads a URL or a file given to a command.
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { BoundedAnswer } from '../../pipeline/bounded-fetch.ts'
import { HttpStore, unexpectedStatus } from '../../pipeline/store/http.ts'
import { ServiceError } from '../../schemas/errors.ts'

/** Larger than any payload, proof or receipt. */
const MOST_BYTES = 4 * 1024 * 1024

export function isUrl(place: string): boolean {
  return /^https?:\/\//i.test(place)
}

/**
 * Fetches a URL, as from a store at its origin.
 *
 * @throws ServiceError `unavailable` if there is no whole answer within the limits, and for any status but
 *   200.
 */
export async function fetched(url: string): Promise<BoundedAnswer> {
  const { origin, pathname, search } = new URL(url)
  const answer = await new HttpStore(origin).answer(`${pathname.slice(1)}${search}`, MOST_BYTES)
  if (answer.status === 200) return answer
  throw unexpectedStatus(url, answer.status)
}

/** @throws ServiceError `invalid` for a file that cannot be read. */
export async function fileBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new ServiceError('invalid', `${path} cannot be read`, { cause })
  }
}

/** Returns undefined for anything but JSON. */
export function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

/**
 * Reads a file with a payload, a proof or a receipt.
 *
 * @throws ServiceError `invalid` if it cannot be read, or is larger than any of them.
 */
export async function smallFileBytes(path: string): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of createReadStream(path, { end: MOST_BYTES })) chunks.push(chunk as Buffer)
  } catch (cause) {
    throw new ServiceError('invalid', `${path} cannot be read`, { cause })
  }
  const bytes = Buffer.concat(chunks)
  if (bytes.byteLength <= MOST_BYTES) return bytes
  throw new ServiceError(
    'invalid',
    `${path} has more than ${MOST_BYTES} bytes, more than any payload, proof or receipt`,
  )
}
