// Copies one object to another store, checks it on the way, and reads the copy back.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '../../schemas/errors.ts'
import { sha256Hex } from '../proof/canonical.ts'
import type { Body, Content } from '../store/body.ts'
import { copyToFile, objectContent } from '../store/object-content.ts'
import type { Store } from '../store/store.ts'

/** Larger objects go by way of a file. */
const IN_MEMORY_BYTES = 8 * 1024 * 1024
/** One transfer may damage the bytes. If two do, the object is damaged. */
const ATTEMPTS = 2

export interface Transfer {
  from: Store
  to: Store
  /** An existing folder for objects that are too large for memory. */
  directory: string
}

/** An object to copy, with its size and its known content. */
export interface Wanted {
  path: string
  sizeBytes: number
  expected?: Content | undefined
  /** Returns whether the bytes of an object contradict themselves. Called only for objects in memory. */
  isDamaged: (path: string, bytes: Uint8Array) => boolean
  /** Whether the copy has an object of this size. It is then compared before anything is written. */
  isThere: boolean
}

type Transferred = 'copied' | 'same' | 'gone' | 'damaged'

/**
 * Makes the copy hold the object. Repeating the call is harmless.
 *
 * @returns `damaged` if the object does not have its expected content; the copy stays as it was.
 * @throws ServiceError `corrupt` if the copy does not hold the written bytes.
 */
export async function transfer(context: Transfer, wanted: Wanted): Promise<Transferred> {
  const { from, to, directory } = context
  const { path, sizeBytes, isThere } = wanted
  const file = sizeBytes > IN_MEMORY_BYTES ? join(directory, sha256Hex(path)) : undefined
  try {
    for (let attempt = 1; ; attempt++) {
      const read = file === undefined ? await readBytes(from, path) : await readFile(from, path, file)
      if (!read) return 'gone'
      if (!isExpected(read, wanted)) {
        if (attempt < ATTEMPTS) continue
        return 'damaged'
      }
      if (isThere && isSame(await objectContent(to, path), read)) return 'same'
      await put(to, path, read)
      return 'copied'
    }
  } finally {
    if (file !== undefined) await rm(file, { force: true })
  }
}

/** Writes an object and reads it back. @throws ServiceError as `transfer` does. */
export async function put(to: Store, path: string, read: Read): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await to.put(path, read.body)
    if (isSame(await objectContent(to, path), read)) return
    if (attempt < ATTEMPTS) continue
    throw new ServiceError('corrupt', `${to.url} does not return what was written to ${path}`)
  }
}

interface Read extends Required<Content> {
  body: Body
}

async function readBytes(from: Store, path: string): Promise<Read | undefined> {
  const body = await from.get(path)
  return body && readOf(body)
}

/** Bytes with their content. */
export function readOf(body: Uint8Array): Read {
  return { body, sizeBytes: body.byteLength, sha256: sha256Hex(body) }
}

async function readFile(from: Store, path: string, location: string): Promise<Read | undefined> {
  const body = await copyToFile(from, path, location)
  return body && { body, sizeBytes: body.sizeBytes, sha256: body.sha256 }
}

function isExpected({ body, sha256, sizeBytes }: Read, { path, expected, isDamaged }: Wanted): boolean {
  const { sha256: known = '', sizeBytes: size = sizeBytes } = expected ?? {}
  return (
    sha256.startsWith(known) && sizeBytes === size && !(body instanceof Uint8Array && isDamaged(path, body))
  )
}

function isSame(stored: Required<Content> | undefined, { sha256, sizeBytes }: Read): boolean {
  return stored?.sha256 === sha256 && stored.sizeBytes === sizeBytes
}
