// The public log of a service over HTTP, for readers who do not trust the service: with the keys that they
// know.
import { ServiceError } from '../../schemas/errors.ts'
import { decoded } from '../proof/canonical.ts'
import { type SignedCheckpoint, parseCheckpoint } from '../proof/checkpoint.ts'
import { type VerifierKey, parseVerifierKey } from '../proof/note-keys.ts'
import { heldSignatures } from '../proof/note-signatures.ts'
import { quoted } from '../proof/quoted.ts'
import type { ReadTile } from '../proof/tiles.ts'
import { HttpStore } from '../store/http.ts'
import { tilesOnce } from './log-files.ts'

/** A look asks for hundreds of answers, and a server could drip each of them. */
const LOOK_MS = 15 * 60_000

export interface RemoteLog {
  /** The address of the service, without a slash at its end. */
  url: string
  /** The service, which has the tiles of its log at the paths of its store. */
  store: HttpStore
  /** The keys of the log that the reader knows, at least one. */
  keys: readonly VerifierKey[]
  /** As `ask` of the store. */
  get: HttpStore['ask']
  /** Reads each tile once. */
  readTile: ReadTile
}

/**
 * @param headers of every request.
 * @throws ServiceError `invalid` for wrong keys, and for what is no address of a service.
 */
export function remoteLog(
  address: string,
  vkeys: readonly string[],
  headers: Record<string, string> = {},
): RemoteLog {
  const keys = logKeys(vkeys)
  return logAt(new HttpStore(address, { headers, withinMs: LOOK_MS }), keys)
}

/** The log of the service at this address. */
export function logAt(store: HttpStore, keys: readonly VerifierKey[]): RemoteLog {
  const get = (path: string, mostBytes?: number) => store.ask(path, mostBytes)
  return { url: store.url, store, keys, get, readTile: tilesOnce(store) }
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

/** @throws ServiceError `invalid` for what are no keys of one log. */
export function logKeys(vkeys: readonly string[]): VerifierKey[] {
  const keys = vkeys.map(parseVerifierKey)
  if (keys.some(({ use }) => use !== 'log')) {
    throw new ServiceError('invalid', 'a --vkey is that of a witness; give the key of the log')
  }
  if (new Set(keys.map(({ name }) => name)).size === 1) return keys
  throw new ServiceError('invalid', 'the keys of one log have one name, and those given have several')
}
