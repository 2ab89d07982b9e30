// A store in a directory. A create is an exclusive link, and every write is synced before it is reported.
import { randomUUID } from 'node:crypto'
import { type FileHandle, link, mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ServiceError } from '../../schemas/errors.ts'
import { assertPath, assertPrefix, isPath } from './paths.ts'
import type { Store, StoredObject } from './store.ts'

/** The folder of half-written objects. No object's path can begin with its name. */
const STAGING = '.staging'
/** No write takes this long, so a writer that died must have left anything older. */
const LEFTOVER_AGE_MS = 24 * 60 * 60 * 1000

export class FileStore implements Store {
  readonly url: string
  readonly #root: string
  readonly #staging: string
  readonly #synced = new Set<string>()
  #swept = false

  constructor(root: string) {
    this.#root = resolve(root)
    this.#staging = join(this.#root, STAGING)
    this.url = pathToFileURL(this.#root).href
  }

  localPath(path: string): string {
    assertPath(path)
    return join(this.#root, ...path.split('/'))
  }

  async get(path: string): Promise<Uint8Array | undefined> {
    return reported('read', path, orUndefined(readFile(this.localPath(path))))
  }

  async range(path: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    return reported('read', path, orUndefined(readRange(this.localPath(path), offset, length)))
  }

  async *list(prefix: string, after = ''): AsyncIterable<StoredObject> {
    assertPrefix(prefix)
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    yield* this.#walk(folder, prefix, after)
  }

  async *#walk(folder: string, prefix: string, after: string): AsyncIterable<StoredObject> {
    const location = join(this.#root, folder)
    const entries = await reported('list', folder, orUndefined(readdir(location, { withFileTypes: true })))
    const paths = (entries ?? [])
      .filter((entry) => isPath(entry.name) && (entry.isDirectory() || entry.isFile()))
      .map((entry) => folder + entry.name + (entry.isDirectory() ? '/' : ''))
      .sort((a, b) => (a < b ? -1 : 1))
    for (const path of paths) {
      if (path.endsWith('/')) {
        const mayHold = path.startsWith(prefix) || prefix.startsWith(path)
        const mayFollow = path > after || after.startsWith(path)
        if (mayHold && mayFollow) yield* this.#walk(path, prefix, after)
      } else if (path.startsWith(prefix) && path > after) {
        const stats = await reported('list', path, orUndefined(stat(join(this.#root, path))))
        if (stats) yield { path, sizeBytes: stats.size, modifiedAt: stats.mtime }
      }
    }
  }

  async putIfAbsent(path: string, bytes: Uint8Array): Promise<boolean> {
    return reported('write', path, this.#write(this.localPath(path), bytes, linkIfAbsent))
  }

  async put(path: string, bytes: Uint8Array): Promise<void> {
    await reported('write', path, this.#write(this.localPath(path), bytes, rename))
  }

  async delete(path: string): Promise<void> {
    const location = this.localPath(path)
    await reported('delete', path, orUndefined(rm(location, { force: true })))
    await reported('delete', path, orUndefined(syncDirectory(dirname(location))))
  }

  /** Writes and syncs a staged copy, lets `place` move it to its location, and syncs the directory. */
  async #write<T>(
    location: string,
    bytes: Uint8Array,
    place: (staged: string, location: string) => Promise<T>,
  ): Promise<T> {
    await this.#makeDirectory(dirname(location))
    await mkdir(this.#staging, { recursive: true })
    const staged = join(this.#staging, randomUUID())
    try {
      const writtenMs = await writeSynced(staged, bytes)
      if (!this.#swept) await this.#sweep(writtenMs)
      const placed = await place(staged, location)
      await syncDirectory(dirname(location))
      return placed
    } finally {
      await rm(staged, { force: true })
    }
  }

  /**
   * Makes a directory that survives a power cut, as do its parents. Another writer may have made one of them without
   * having synced it yet, so each store syncs every directory on the way once itself.
   */
  async #makeDirectory(location: string): Promise<void> {
    const first = await mkdir(location, { recursive: true })
    if (first === undefined && this.#synced.has(location)) return
    const inside = first === undefined || first.startsWith(this.#root + sep)
    const top = inside ? this.#root : dirname(first)
    for (let directory = location; ; directory = dirname(directory)) {
      await syncDirectory(directory)
      if (directory === top) break
    }
    this.#synced.add(location)
  }

  /** Removes the files that dead writers left in the staging folder. `nowMs` is the file system's own time. */
  async #sweep(nowMs: number): Promise<void> {
    this.#swept = true
    for (const name of await readdir(this.#staging)) {
      const location = join(this.#staging, name)
      const stats = await orUndefined(stat(location))
      if (stats && nowMs - stats.mtimeMs > LEFTOVER_AGE_MS) await rm(location, { force: true })
    }
  }
}

/** Works with an open file and closes it, whatever happens. */
export async function withFile<T>(
  location: string,
  flags: string,
  work: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await open(location, flags)
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}

function readRange(location: string, offset: number, length: number): Promise<Uint8Array> {
  return withFile(location, 'r', async (file) => {
    // A read of no bytes would succeed for a directory.
    if ((await file.stat()).isDirectory()) throw Object.assign(new Error(location), { code: 'EISDIR' })
    const { bytesRead, buffer } = await file.read(new Uint8Array(length), 0, length, offset)
    return buffer.subarray(0, bytesRead)
  })
}

/** Returns the time of the write by the file system's own clock. */
function writeSynced(location: string, bytes: Uint8Array): Promise<number> {
  return withFile(location, 'wx', async (file) => {
    await file.writeFile(bytes)
    await file.sync()
    return (await file.stat()).mtimeMs
  })
}

async function linkIfAbsent(staged: string, location: string): Promise<boolean> {
  try {
    await link(staged, location)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

async function syncDirectory(location: string): Promise<void> {
  // Windows cannot open directories. Its file system journals names by itself.
  if (process.platform === 'win32') return
  await withFile(location, 'r', (directory) => directory.sync())
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}

/** Undefined for a location where there is no object: nothing, a folder, or a location beneath a file. */
async function orUndefined<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'ERR_FS_EISDIR')) return undefined
    throw error
  }
}

/** Reports a full or broken disk as `unavailable`: to a caller it is the same as a store that does not answer. */
async function reported<T>(action: string, path: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason'
    throw new ServiceError('unavailable', `the store could not ${action} ${path} (${reason})`, {
      cause,
      retryAfterS: 5,
    })
  }
}
