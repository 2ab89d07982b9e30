// A store in a directory: a create is an exclusive link, and everything is synced before it is reported.
import { randomUUID } from 'node:crypto'
import { type FileHandle, link, mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ServiceError } from '../../schemas/errors.ts'
import { assertKey, assertPrefix, isKey } from './keys.ts'
import type { Store, StoredObject } from './store.ts'

/** Half-written objects wait here, under a name that no key has. */
const STAGING = '.staging'
/** No write takes this long: what is older was left by a writer that died. */
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

  localPath(key: string): string {
    assertKey(key)
    return join(this.#root, ...key.split('/'))
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const path = this.localPath(key)
    return reported('read', key, () => orUndefined(readFile(path)))
  }

  async range(key: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    const path = this.localPath(key)
    return reported('read', key, () => orUndefined(readRange(path, offset, length)))
  }

  async *list(prefix: string, after = ''): AsyncIterable<StoredObject> {
    assertPrefix(prefix)
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    yield* this.#walk(folder, prefix, after)
  }

  async *#walk(folder: string, prefix: string, after: string): AsyncIterable<StoredObject> {
    const path = join(this.#root, folder)
    const entries = await reported('list', folder, () => orUndefined(readdir(path, { withFileTypes: true })))
    const keys = (entries ?? [])
      .filter((entry) => isKey(entry.name) && (entry.isDirectory() || entry.isFile()))
      .map((entry) => folder + entry.name + (entry.isDirectory() ? '/' : ''))
      .sort((a, b) => (a < b ? -1 : 1))
    for (const key of keys) {
      if (key.endsWith('/')) {
        const mayHold = key.startsWith(prefix) || prefix.startsWith(key)
        const mayFollow = key > after || after.startsWith(key)
        if (mayHold && mayFollow) yield* this.#walk(key, prefix, after)
      } else if (key.startsWith(prefix) && key > after) {
        const stats = await reported('list', key, () => orUndefined(stat(join(this.#root, key))))
        if (stats) yield { key, sizeBytes: stats.size, modifiedAt: stats.mtime }
      }
    }
  }

  async putIfAbsent(key: string, bytes: Uint8Array): Promise<boolean> {
    return this.#write(key, bytes, async (staged, path) => {
      try {
        await link(staged, path)
        return true
      } catch (error) {
        if (hasCode(error, 'EEXIST')) return false
        throw error
      } finally {
        await rm(staged, { force: true })
      }
    })
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#write(key, bytes, rename)
  }

  async delete(key: string): Promise<void> {
    const path = this.localPath(key)
    await reported('delete', key, async () => {
      await orUndefined(rm(path, { force: true }))
      await orUndefined(syncDirectory(dirname(path)))
    })
  }

  /** Writes and syncs a staged copy, lets `place` put it under its name, and syncs the directory. */
  async #write<T>(
    key: string,
    bytes: Uint8Array,
    place: (staged: string, path: string) => Promise<T>,
  ): Promise<T> {
    const path = this.localPath(key)
    return reported('write', key, async () => {
      await this.#makeDirectory(dirname(path))
      await mkdir(this.#staging, { recursive: true })
      const staged = join(this.#staging, randomUUID())
      try {
        const writtenMs = await withFile(staged, 'wx', async (file) => {
          await file.writeFile(bytes)
          await file.sync()
          return (await file.stat()).mtimeMs
        })
        if (!this.#swept) await this.#sweep(writtenMs)
        const placed = await place(staged, path)
        await syncDirectory(dirname(path))
        return placed
      } catch (error) {
        await rm(staged, { force: true })
        throw error
      }
    })
  }

  /**
   * Makes a directory whose name, and whose parents' names, survive a power cut. Another writer may have made it
   * and not have synced it yet, so each store syncs the way to it once itself.
   */
  async #makeDirectory(path: string): Promise<void> {
    const first = await mkdir(path, { recursive: true })
    if (first === undefined && this.#synced.has(path)) return
    const inside = first === undefined || first.startsWith(this.#root + sep)
    const top = inside ? this.#root : dirname(first)
    for (let directory = path; ; directory = dirname(directory)) {
      await syncDirectory(directory)
      if (directory === top) break
    }
    this.#synced.add(path)
  }

  /** Removes what dead writers left in the staging folder; `nowMs` is the file system's own time. */
  async #sweep(nowMs: number): Promise<void> {
    this.#swept = true
    for (const name of await readdir(this.#staging)) {
      const path = join(this.#staging, name)
      const stats = await orUndefined(stat(path))
      if (stats && nowMs - stats.mtimeMs > LEFTOVER_AGE_MS) await rm(path, { force: true })
    }
  }
}

function readRange(path: string, offset: number, length: number): Promise<Uint8Array> {
  return withFile(path, 'r', async (file) => {
    // Unlike a read, this fails for a directory even where no bytes are asked for.
    if ((await file.stat()).isDirectory()) throw Object.assign(new Error(path), { code: 'EISDIR' })
    const { bytesRead, buffer } = await file.read(new Uint8Array(length), 0, length, offset)
    return buffer.subarray(0, bytesRead)
  })
}

/** Works with an open file and closes it, whatever comes of the work. */
export async function withFile<T>(
  path: string,
  flags: string,
  work: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await open(path, flags)
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}

async function syncDirectory(path: string): Promise<void> {
  let directory: FileHandle
  try {
    directory = await open(path)
  } catch (error) {
    // Windows opens no directories; its file system journals names by itself.
    if (process.platform === 'win32') return
    throw error
  }
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}

/** A folder is no object, and neither is anything beneath a file. */
async function orUndefined<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'ERR_FS_EISDIR')) return undefined
    throw error
  }
}

/** A full or broken disk is the same to a caller as a store that does not answer. */
async function reported<T>(action: string, key: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason'
    throw new ServiceError('unavailable', `the store could not ${action} ${key} (${reason})`, {
      cause,
      retryAfterS: 5,
    })
  }
}
