// Where everything is kept: objects under paths, behind the smallest interface that files and S3 both honour.
import { ServiceError } from '../../schemas/errors.ts'

export interface StoredObject {
  path: string
  sizeBytes: number
  /** When it was last written, by the store's own clock; an invalid date where a server does not tell. */
  modifiedAt: Date
}

/**
 * An object store. Keys are relative paths made by `paths.ts`.
 *
 * Durability: when `put`, `putIfAbsent` or `delete` resolves, the effect survives a power cut.
 * Atomicity: a reader sees an object whole or not at all.
 * Failure: a call that cannot reach the store throws `unavailable`; a write that did may yet have taken
 * effect ("failed but persisted"), so whoever writes must be able to write the same again.
 */
export interface Store {
  /** For logs and messages: without credentials. */
  readonly url: string
  /** The object's bytes, or undefined where there is none. */
  get(path: string, signal?: AbortSignal): Promise<Uint8Array | undefined>
  /** Up to `length` bytes from `offset`: fewer at the end of the object, undefined where there is none. */
  range(path: string, offset: number, length: number): Promise<Uint8Array | undefined>
  /** Objects whose path begins with `prefix` and sorts after `after`, in the order of their paths. */
  list(prefix: string, after?: string): AsyncIterable<StoredObject>
  /** Creates the object; false, changing nothing, where the path is taken. Of several at once exactly one creates. */
  putIfAbsent(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<boolean>
  /** Creates or replaces the object. */
  put(path: string, bytes: Uint8Array): Promise<void>
  /** Removes the object if it is there. */
  delete(path: string): Promise<void>
  /** Where an object lies as a file on this machine; only stores that keep files have it. */
  localPath?(path: string): string
}

/** How `putOnce` ended: this call or an earlier identical one created the object, or another content holds the path. */
export type PutOutcome = 'created' | 'same' | 'different'

/**
 * Creates an object whose content is decided by its path's meaning, so that doing it twice is doing it once:
 * a retry after a write that failed but persisted finds its own bytes.
 */
export async function putOnce(store: Store, path: string, bytes: Uint8Array): Promise<PutOutcome> {
  if (await store.putIfAbsent(path, bytes)) return 'created'
  const present = await store.get(path)
  if (present === undefined)
    throw new ServiceError('corrupt', `${path} exists for a create but not for a read`)
  return Buffer.compare(present, bytes) === 0 ? 'same' : 'different'
}

/** Creates an object that nobody could have created otherwise; throws `corrupt` if somebody did. */
export async function putExactly(store: Store, path: string, bytes: Uint8Array): Promise<void> {
  if ((await putOnce(store, path, bytes)) === 'different') {
    throw new ServiceError('corrupt', `${path} is already there with other bytes`)
  }
}
