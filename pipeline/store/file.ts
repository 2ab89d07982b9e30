// A store in a directory. A create is an exclusive link, and every write is synced before it is reported. If
// the directory of an open store vanishes, it is not made again: calls are `unavailable` until the same
// directory is back.
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ServiceError } from '../../schemas/errors.ts'
import { Thread } from './thread.ts'
import type { Body } from './body.ts'
import type { Creation, Outcome } from './creator.ts'
import {
  linkIfAbsent,
  mkdirIfAbsent,
  mkdirInside,
  orUndefined,
  reasonOf,
  syncDirectory,
  writeStaged,
} from './disk.ts'
import { StoreMark } from './mark.ts'
import { assertPath, assertPrefix, isPath } from './paths.ts'
import { type OneByOne, type Store, type StoredObject, everything } from './store.ts'

const CREATOR = new URL('./creator.ts', import.meta.url)
/** The folder of half-written objects. No object's path can begin with its name. */
const STAGING = '.staging'
/** No write takes this long: an older file comes from a writer that died. */
const LEFTOVER_AGE_MS = 24 * 60 * 60 * 1000

export class FileStore implements Store {
  readonly url: string
  /** Whether opening has begun this store. */
  readonly isNew: boolean
  readonly #root: string
  readonly #staging: string
  readonly #mark: StoreMark
  readonly #synced = new Set<string>()
  #swept = false

  private constructor(root: string, mark: StoreMark, isNew: boolean) {
    this.#root = root
    this.#staging = join(root, STAGING)
    this.#mark = mark
    this.isNew = isNew
    this.url = pathToFileURL(root).href
  }

  static isIn(folder: string): Promise<boolean> {
    const root = resolve(folder)
    return reported('open', root, StoreMark.isIn(root))
  }

  /** Opens the store in a directory. @throws ServiceError `unavailable` if there is none. */
  static async open(folder: string): Promise<FileStore> {
    const root = resolve(folder)
    return new FileStore(root, await reported('open', root, StoreMark.read(root)), false)
  }

  /** Opens the store in a directory, and begins one if there is none. */
  static async begin(folder: string): Promise<FileStore> {
    const root = resolve(folder)
    const isNew = await reported('begin', root, StoreMark.make(root, join(root, STAGING)))
    return new FileStore(root, await reported('open', root, StoreMark.read(root)), isNew)
  }

  get mark(): string {
    return this.#mark.id.trim()
  }

  localPath(path: string): string {
    assertPath(path)
    return join(this.#root, ...path.split('/'))
  }

  async get(path: string): Promise<Uint8Array | undefined> {
    return reported(
      'read',
      path,
      this.#found(() => readWhole(this.localPath(path))),
    )
  }

  async range(path: string, offset: number, length: number): Promise<Uint8Array | undefined> {
    return reported(
      'read',
      path,
      this.#found(() => readRange(this.localPath(path), offset, length)),
    )
  }

  async *list(prefix: string, after = '', wanted = everything): AsyncIterable<StoredObject> {
    assertPrefix(prefix)
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    let isEmpty = true
    const isSought = (path: string) => {
      if (path.endsWith('/')) {
        const mayHold = path.startsWith(prefix) || prefix.startsWith(path)
        return mayHold && (path > after || after.startsWith(path))
      }
      if (!path.startsWith(prefix) || path <= after) return false
      isEmpty = false
      return wanted(path)
    }
    yield* this.#walk(folder, isSought)
    if (!isEmpty) return
    await reported('list', prefix, this.#mark.assertThere())
    // The store may just have come back, so look once more.
    yield* this.#walk(folder, isSought)
  }

  /** Yields the sought files of a folder and of its sought subfolders, whose paths end in a slash. */
  async *#walk(folder: string, isSought: (path: string) => boolean): AsyncIterable<StoredObject> {
    const location = join(this.#root, folder)
    const entries = await reported(
      'list',
      folder,
      this.#found(() => readdir(location, { withFileTypes: true })),
    )
    const paths = (entries ?? [])
      .filter((entry) => isPath(entry.name) && (entry.isDirectory() || entry.isFile()))
      .map((entry) => folder + entry.name + (entry.isDirectory() ? '/' : ''))
      .filter(isSought)
      .sort((a, b) => (a < b ? -1 : 1))
    for (const path of paths) {
      if (path.endsWith('/')) {
        yield* this.#walk(path, isSought)
      } else {
        const stats = await reported(
          'list',
          path,
          this.#found(() => stat(join(this.#root, path))),
        )
        if (stats) yield { path, sizeBytes: stats.size, modifiedAt: stats.mtime }
      }
    }
  }

  async putIfAbsent(path: string, body: Body): Promise<boolean> {
    return reported('write', path, this.#write(this.localPath(path), body, linkIfAbsent))
  }

  oneByOne(): OneByOne {
    const thread = new Thread<Creation, Outcome>(CREATOR)
    return {
      putIfAbsent: async (path, bytes) =>
        reported('write', path, this.#createBy(thread, this.localPath(path), bytes)),
      close: () => thread.close(),
    }
  }

  /**
   * Lets the thread create the object. Handles here what the thread does not: a changed mark, a missing
   * folder, an error.
   */
  async #createBy(thread: Thread<Creation, Outcome>, location: string, bytes: Uint8Array): Promise<boolean> {
    const { file: mark, look } = this.#mark
    if (look !== undefined && this.#swept && this.#synced.has(dirname(location))) {
      const outcome = await thread.ask({ mark, look, staging: this.#staging, location, bytes })
      if (outcome !== 'undone') {
        if ('code' in outcome) throw Object.assign(new Error(outcome.message), { code: outcome.code })
        if (!outcome.isMarked) await this.#mark.assertThere()
        return outcome.isNew
      }
    }
    return this.#write(location, bytes, linkIfAbsent)
  }

  async put(path: string, body: Body): Promise<void> {
    await reported('write', path, this.#write(this.localPath(path), body, rename))
  }

  async delete(path: string): Promise<void> {
    await reported('delete', path, this.#delete(this.localPath(path)))
  }

  async #delete(location: string): Promise<void> {
    await this.#mark.assertThere()
    await orUndefined(rm(location, { force: true }))
    await orUndefined(syncDirectory(dirname(location)))
    await this.#mark.assertThere()
  }

  /**
   * Returns undefined if there is no object. It looks again after it has checked that the store itself is
   * there, because the store may just have come back.
   */
  async #found<T>(look: () => Promise<T>): Promise<T | undefined> {
    const found = await orUndefined(look())
    if (found !== undefined) return found
    await this.#mark.assertThere()
    return orUndefined(look())
  }

  /**
   * Checks before and after the write that the store is there. If it vanished in between, nothing counts as
   * written.
   */
  async #write<T>(
    location: string,
    body: Body,
    place: (staged: string, location: string) => Promise<T>,
  ): Promise<T> {
    await this.#mark.assertThere()
    await this.#makeDirectory(dirname(location))
    await mkdirIfAbsent(this.#staging)
    const placed = await writeStaged(this.#staging, location, body, async (staged, target) => {
      if (!this.#swept) await this.#sweep((await stat(staged)).mtimeMs)
      return place(staged, target)
    })
    await this.#mark.assertThere()
    return placed
  }

  /**
   * Makes a directory and its parents so that they survive a power cut. Another writer may have made one of
   * them without having synced it yet, so each process syncs every directory on the way once.
   */
  async #makeDirectory(location: string): Promise<void> {
    const made = await mkdirInside(location, this.#root)
    if (made.length === 0 && this.#synced.has(location)) return
    for (let directory = location; ; directory = dirname(directory)) {
      await syncDirectory(directory)
      if (directory === this.#root) break
    }
    this.#synced.add(location)
  }

  /**
   * Removes the files that dead writers left in the staging folder. `nowMs` is the file system's own time.
   */
  async #sweep(nowMs: number): Promise<void> {
    this.#swept = true
    for (const name of await readdir(this.#staging)) {
      const location = join(this.#staging, name)
      const stats = await orUndefined(stat(location))
      if (stats && nowMs - stats.mtimeMs > LEFTOVER_AGE_MS) await rm(location, { force: true })
    }
  }
}

/**
 * Reads a file in three steps and into one piece of memory. Each step waits for a turn of the event loop, and
 * `readFile` takes three more for a megabyte, and twice the memory.
 */
async function readWhole(location: string): Promise<Uint8Array> {
  const file = await open(location)
  try {
    const bytes = Buffer.allocUnsafeSlow(await sizeOf(file, location))
    let filled = 0
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return bytes.subarray(0, filled)
  } finally {
    closeSoon(file)
  }
}

/** Reads a range in two steps, for the same reason. */
async function readRange(location: string, offset: number, length: number): Promise<Uint8Array> {
  const file = await open(location)
  try {
    if (length === 0) await sizeOf(file, location)
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(length), 0, length, offset)
    return buffer.subarray(0, bytesRead)
  } finally {
    closeSoon(file)
  }
}

/** @throws Error for a directory, because a read of no bytes from it would succeed. */
async function sizeOf(file: FileHandle, location: string): Promise<number> {
  const stats = await file.stat()
  if (stats.isDirectory()) throw Object.assign(new Error(location), { code: 'EISDIR' })
  return stats.size
}

/** Closes a file without waiting. A failure is ignored, because the bytes have been read. */
function closeSoon(file: FileHandle): void {
  void file.close().catch(() => undefined)
}

/**
 * Reports a full or broken disk as `unavailable`: to a caller it is the same as a store that does not answer.
 */
async function reported<T>(action: string, path: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    throw new ServiceError('unavailable', `the store could not ${action} ${path} (${reasonOf(cause)})`, {
      cause,
      retryAfterS: 5,
    })
  }
}
