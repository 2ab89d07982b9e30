// A store in a directory: a create is an exclusive link, and everything is synced before it is reported.
import { randomUUID } from 'node:crypto'
import { type FileHandle, link, mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ServiceError } from '../../schemas/errors.ts'
import { assertKey } from './keys.ts'
import type { Store, StoredObject } from './store.ts'

/** Half-written objects wait here, outside every prefix that readers look at. */
const STAGING = '.staging'

export class FileStore implements Store {
  readonly url: string
  readonly #root: string

  constructor(root: string) {
    this.#root = root
    this.url = pathToFileURL(root).href
  }

  localPath(key: string): string {
    assertKey(key)
    return join(this.#root, ...key.split('/'))
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    return orUndefined(readFile(this.localPath(key)))
  }

  async range(key: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    const file = await orUndefined(open(this.localPath(key)))
    if (!file) return undefined
    try {
      const { bytesRead, buffer } = await file.read(new Uint8Array(length), 0, length, offset)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  }

  async *list(prefix: string, after = ''): AsyncIterable<StoredObject> {
    assertKey(prefix)
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    yield* this.#walk(folder, prefix, after)
  }

  async *#walk(folder: string, prefix: string, after: string): AsyncIterable<StoredObject> {
    const entries = (await orUndefined(readdir(join(this.#root, folder), { withFileTypes: true }))) ?? []
    const keys = entries
      .filter((entry) => entry.isDirectory() || entry.isFile())
      .map((entry) => folder + entry.name + (entry.isDirectory() ? '/' : ''))
      .filter((key) => key !== `${STAGING}/`)
      .sort((a, b) => (a < b ? -1 : 1))
    for (const key of keys) {
      if (key.endsWith('/')) {
        const mayHold = key.startsWith(prefix) || prefix.startsWith(key)
        const mayFollow = key > after || after.startsWith(key)
        if (mayHold && mayFollow) yield* this.#walk(key, prefix, after)
      } else if (key.startsWith(prefix) && key > after) {
        const stats = await orUndefined(stat(join(this.#root, key)))
        if (stats) yield { key, sizeBytes: stats.size }
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
    await reported(key, async () => {
      await rm(path, { force: true })
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
    return reported(key, async () => {
      await this.#makeDirectory(dirname(path))
      const staging = join(this.#root, STAGING)
      await mkdir(staging, { recursive: true })
      const staged = join(staging, randomUUID())
      await using file = await open(staged, 'wx')
      try {
        await file.writeFile(bytes)
        await file.sync()
        const placed = await place(staged, path)
        await syncDirectory(dirname(path))
        return placed
      } catch (error) {
        await rm(staged, { force: true })
        throw error
      }
    })
  }

  /** Makes a directory whose name, and whose new parents' names, survive a power cut. */
  async #makeDirectory(path: string): Promise<void> {
    const first = await mkdir(path, { recursive: true })
    if (first === undefined) return
    const made = path.slice(dirname(first).length).split(sep).filter(Boolean)
    let parent = dirname(first)
    for (const name of made) {
      await syncDirectory(parent)
      parent = join(parent, name)
    }
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

async function orUndefined<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

/** A full or broken disk is the same to a caller as a store that does not answer. */
async function reported<T>(key: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason'
    throw new ServiceError('unavailable', `the store could not write ${key} (${reason})`, {
      cause,
      retryAfterS: 5,
    })
  }
}
