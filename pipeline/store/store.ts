// The interface of the object store: objects at paths, in the smallest form that files and S3 both support.
import { ServiceError } from '../../schemas/errors.ts'
import { type Body, piecesBeside } from './body.ts'

/** How many small objects one caller reads at the same time. */
export const READS_AT_ONCE = 16

export interface StoredObject {
  path: string
  sizeBytes: number
  /** The time of the last write, by the store's own clock; an invalid date if the server does not say. */
  modifiedAt: Date
}

/**
 * An object store. Paths are relative and made by `paths.ts`.
 *
 * Durability: when `put`, `putIfAbsent` or `delete` resolves, the effect survives a power cut. Atomicity: a
 * reader sees an object whole or not at all. Failure: a call that cannot reach the store throws
 * `unavailable`. A write that throws may still have taken effect ("failed but persisted"), so its caller must
 * be able to write the same again.
 */
export interface Store {
  /** For logs and messages. It must not hold credentials. */
  readonly url: string
  /** The random id of a store in a directory, drawn when it was begun; undefined for other stores. */
  readonly mark: string | undefined
  /** The object's bytes, or undefined if there is none. */
  get(path: string, signal?: AbortSignal): Promise<Uint8Array | undefined>
  /** Up to `length` bytes from `offset`: fewer at the end of the object, undefined if there is none. */
  range(path: string, offset: number, length: number): Promise<Uint8Array | undefined>
  /**
   * Lists the objects whose path begins with `prefix` and sorts after `after`, in the order of their paths.
   * Leaves out objects that are not `wanted`: a store in a directory then need not look at their files, which
   * is most of the cost of a listing there.
   */
  list(prefix: string, after?: string, wanted?: (path: string) => boolean): AsyncIterable<StoredObject>
  /**
   * Creates the object, or returns false if the path is taken. Exactly one of several simultaneous calls
   * creates it.
   */
  putIfAbsent(path: string, body: Body, signal?: AbortSignal): Promise<boolean>
  /** Creates or replaces the object. */
  put(path: string, body: Body): Promise<void>
  /** Removes the object if it is there. */
  delete(path: string): Promise<void>
  /** The object's file on this machine; undefined for a store that is not in a directory. */
  localPath(path: string): string | undefined
  /**
   * Returns a creator of objects with the promises of `putIfAbsent`. In a directory it takes less processor
   * time, but `putIfAbsent` is faster for simultaneous creates, because a file system syncs them together.
   */
  oneByOne(): OneByOne
}

/** Creates objects by `putIfAbsent`, for stores without a cheaper way. */
export function byPutIfAbsent(store: Pick<Store, 'putIfAbsent'>): OneByOne {
  return { putIfAbsent: (...object) => store.putIfAbsent(...object), close: () => undefined }
}

/** The reading half of a store. A served address has it too. */
export type ReadableStore = Pick<Store, 'url' | 'get' | 'range' | 'localPath'>

/** Every path is wanted. */
export const everything = (_path: string): boolean => true

/** Whether anything lies under the prefix. */
export async function holdsAny(store: Store, prefix: string): Promise<boolean> {
  for await (const _ of store.list(prefix)) return true
  return false
}

/** Creates objects for a caller who waits for each before the next. */
export interface OneByOne {
  /** Like `putIfAbsent` of the store. */
  putIfAbsent(path: string, bytes: Uint8Array, signal?: AbortSignal): Promise<boolean>
  /** Frees the resources. Call it once nothing is under way. */
  close(): void
}

/**
 * Creates an object whose path determines its content, so that repeating the call is harmless: a retry after
 * a write that failed but persisted finds its own bytes. Returns `same` if an identical object was there,
 * `different` if another one was.
 */
export async function putOnce(
  store: Store,
  path: string,
  body: Body,
): Promise<'created' | 'same' | 'different'> {
  if (await store.putIfAbsent(path, body)) return 'created'
  return (await holds(store, path, body)) ? 'same' : 'different'
}

/** Whether an object that refused a create has these bytes. */
async function holds(store: Store, path: string, body: Body): Promise<boolean> {
  if (body instanceof Uint8Array) return Buffer.compare(await present(store, path), body) === 0
  if ((await store.range(path, 0, 1)) === undefined) throw unreadable(path)
  for await (const { stored, local } of piecesBeside(store, path, body)) {
    if (Buffer.compare(stored, local) !== 0) return false
  }
  return true
}

/**
 * Reads an object and checks its bytes. Bytes that fail are fetched once more, because the transfer may have
 * damaged them. Returns undefined if there is no such object.
 *
 * @param check returns what the bytes mean, or throws `corrupt`.
 */
export async function readChecked<T>(
  store: Pick<Store, 'get'>,
  path: string,
  check: (bytes: Uint8Array) => T,
): Promise<T | undefined> {
  for (let attempt = 1; ; attempt++) {
    const bytes = await store.get(path)
    if (!bytes) return undefined
    try {
      return check(bytes)
    } catch (error) {
      if (attempt > 1 || !(error instanceof ServiceError) || error.kind !== 'corrupt') throw error
    }
  }
}

/** Returns the object that refused a create. */
export async function present(store: Store, path: string): Promise<Uint8Array> {
  const bytes = await store.get(path)
  if (bytes) return bytes
  throw unreadable(path)
}

function unreadable(path: string): ServiceError {
  return new ServiceError('corrupt', `${path} cannot be created because it exists, but cannot be read either`)
}

/**
 * Creates an object that has only one possible content. @throws ServiceError `corrupt` if another content is
 * there.
 */
export async function putExactly(store: Store, path: string, bytes: Uint8Array): Promise<void> {
  if ((await putOnce(store, path, bytes)) === 'different') {
    throw new ServiceError('corrupt', `${path} already exists with other bytes`)
  }
}
