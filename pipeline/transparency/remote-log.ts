// A public log over HTTP, for readers who do not trust the service: with the keys that they know, and within
// limits.
import { ServiceError } from '../../schemas/errors.ts'
import { type BoundedAnswer, type Request, boundedFetch } from '../bounded-fetch.ts'
import { decoded } from '../proof/canonical.ts'
import { type SignedCheckpoint, parseCheckpoint } from '../proof/checkpoint.ts'
import { type VerifierKey, parseVerifierKey } from '../proof/note-keys.ts'
import { heldSignatures } from '../proof/note-signatures.ts'
import { quoted } from '../proof/quoted.ts'
import { type ReadTile, tilePath } from '../proof/tiles.ts'
import { tileReader } from './log-files.ts'

/** The longest note; a tile has 8 KiB. */
const MOST_BYTES = 64 * 1024

/** A look asks for hundreds of answers, and a server could drip each of them. */
const LOOK_MS = 15 * 60_000

export interface RemoteLog {
  /** The address of the service, without a slash at its end. */
  url: string
  /** The keys of the log that the reader knows, at least one. */
  keys: readonly VerifierKey[]
  /**
   * Reads a path under the address, or resolves to undefined if nothing is there.
   *
   * @throws ServiceError `unavailable` for every other answer, and for one of more bytes than a note may have
   *   or `mostBytes` allows.
   */
  get: (path: string, mostBytes?: number) => Promise<Uint8Array | undefined>
  /** Reads each tile once. */
  readTile: ReadTile
}

/**
 * @param fetch makes every request; by default as `boundedFetch`, for a quarter of an hour.
 * @throws ServiceError `invalid` for wrong keys, and for what is no address of a service.
 */
export function remoteLog(
  address: string,
  vkeys: readonly string[],
  headers: Record<string, string> = {},
  fetch: (url: string, request: Request) => Promise<BoundedAnswer> = fetchWithin(LOOK_MS),
): RemoteLog {
  const keys = logKeys(vkeys)
  if (!/^https?:\/\/[^?#]+$/.test(address)) {
    throw new ServiceError('invalid', `the address of a service is http[s]://host, not ${quoted(address)}`)
  }
  const url = address.replace(/\/+$/, '')
  const get = async (path: string, mostBytes = MOST_BYTES) => {
    const { status, bytes } = await fetch(`${url}/${path}`, { mostBytes, headers })
    if (status === 404) return undefined
    if (status === 200) return bytes
    throw unexpectedAnswer(`${url}/${path}`, status)
  }
  const read = tileReader({ get: (path) => get(path) })
  const tiles = new Map<string, Promise<Uint8Array>>()
  const readTile: ReadTile = (tile) => {
    const path = tilePath(tile)
    const found = tiles.get(path) ?? read(tile)
    tiles.set(path, found)
    return found
  }
  return { url, keys, get, readTile }
}

/** Returns `boundedFetch` that makes no request once this time has passed. */
function fetchWithin(ms: number): typeof boundedFetch {
  let isOver = false
  const end = () => {
    isOver = true
  }
  setTimeout(end, ms).unref()
  return (url, request) => {
    if (!isOver) return boundedFetch(url, request)
    throw new ServiceError(
      'unavailable',
      `${url} is not asked for any more: the answers before it took ${ms / 60_000} minutes`,
    )
  }
}

/** Says that an answer is neither what was asked for nor that nothing is there. */
export function unexpectedAnswer(url: string, status: number): ServiceError {
  const isRedirect = status >= 300 && status < 400
  const what = isRedirect ? ', which leads elsewhere: give the address that it leads to' : ''
  return new ServiceError('unavailable', `${url} answered ${status}${what}`)
}

/** @throws ServiceError `unavailable` if there is none, and as `signedCheckpoint`. */
export async function lastSignedCheckpoint({ url, keys, get }: RemoteLog): Promise<SignedCheckpoint> {
  const bytes = await get('log/checkpoint')
  if (bytes) return signedCheckpoint(bytes, `${url}/log/checkpoint`, keys)
  throw new ServiceError('unavailable', `${url} has no public log, or one without an entry`)
}

/** @throws ServiceError `invalid` for a note of another log, and for one that no known key has signed. */
export function signedCheckpoint(
  bytes: Uint8Array,
  place: string,
  keys: readonly VerifierKey[],
): SignedCheckpoint {
  try {
    const signed = parseCheckpoint(decoded(bytes))
    const { origin, size } = signed.checkpoint
    const { name } = keys[0]!
    if (origin !== name)
      throw new ServiceError(
        'invalid',
        `this is the log ${quoted(origin)}, not ${quoted(name)}: give the key of the one that you mean, or its address`,
      )
    if (size === 0) throw new ServiceError('invalid', 'a checkpoint without entries shows nothing')
    if (heldSignatures(signed.note, keys).length > 0) return signed
    throw new ServiceError(
      'invalid',
      'no key that was given has signed it: has its operator replaced the key?',
    )
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    throw new ServiceError('invalid', `${place}: ${cause.message}`, { cause })
  }
}

function logKeys(vkeys: readonly string[]): VerifierKey[] {
  const keys = vkeys.map(parseVerifierKey)
  if (keys.some(({ use }) => use !== 'log')) {
    throw new ServiceError('invalid', 'a --vkey is that of a witness; give the key of the log')
  }
  if (new Set(keys.map(({ name }) => name)).size === 1) return keys
  throw new ServiceError('invalid', 'the keys of one log have one name, and those given have several')
}
