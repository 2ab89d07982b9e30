// Local files with the content of immutable objects, for DuckDB to read. Each is checked against the known
// hash of the object before it is handed out.
import { createHash, randomUUID } from 'node:crypto'
import { access, constants, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ServiceError } from '../../schemas/errors.ts'
import type { Content } from './body.ts'
import { codeOf, hasCode } from './disk.ts'
import { assertPath } from './paths.ts'
import { copyToFile } from './object-content.ts'
import type { ReadableStore } from './store.ts'

const READ_BYTES = 1024 * 1024
/** The name of a derived file, with its hash. */
const DERIVED = /-([0-9a-f]{64})\.parquet$/

export interface LocalOptions {
  /** Whether to ask the store for the object even if this machine has a copy. */
  inStore?: boolean
}

/**
 * Gives each object a local file. Objects of a store in a directory are files already; those of other stores
 * are downloaded into `directory`, piece by piece. A file is checked when it is made and when this process
 * first uses it. A copy with other content is replaced by a fresh one, and an object is read twice before it
 * counts as damaged.
 */
export class LocalFiles {
  readonly #store: ReadableStore
  readonly #directory: string
  /** The objects that were checked, with their expected content. */
  readonly #checked = new Map<string, Content>()
  /** The derived files that were checked, by local path. */
  readonly #derived = new Map<string, Content>()

  constructor(store: ReadableStore, directory: string) {
    this.#store = store
    this.#directory = directory
  }

  /**
   * Returns the local path of an object, after downloading it if necessary.
   *
   * @throws ServiceError `notFound` if there is no such object, `corrupt` if its content is not the expected
   *   one.
   */
  async path(object: string, expected: Content, { inStore = false }: LocalOptions = {}): Promise<string> {
    assertPath(object)
    const path = this.#locationOf(object)
    if (inStore && !(await this.#isStored(object, path))) throw absent(object, this.#store)
    if (this.#checked.get(object)?.sha256 === expected.sha256 && (await exists(path))) return path
    if (this.#isInPlace(object)) await this.#checkStored(object, path, expected)
    else if (!(await isIntact(path, expected))) await this.#download(object, path, expected)
    this.#checked.set(object, expected)
    return path
  }

  /**
   * Returns a local file that is derived from others. `make` writes it, unless this machine has it already.
   * The name must determine the content. The hash of the file is appended to the name, and checked when this
   * process first uses the file. Undefined on a machine that keeps nothing, because its cache is not
   * writable.
   */
  async derived(name: string, make: (path: string) => Promise<void>): Promise<string | undefined> {
    assertPath(name)
    const folder = join(this.#directory, 'derived', dirname(name))
    if (!(await isWritable(folder))) return undefined
    for (const found of await readdir(folder)) {
      const path = join(folder, found)
      const sha256 = DERIVED.exec(found)?.[1]
      if (sha256 === undefined || !found.startsWith(`${basename(name)}-`)) continue
      if (this.#derived.has(path) || (await isIntact(path, { sha256 }))) {
        this.#derived.set(path, { sha256 })
        return path
      }
      await rm(path, { force: true })
    }
    const partial = join(folder, `${randomUUID()}.partial`)
    try {
      await make(partial)
      const { sha256 } = (await contentOf(partial))!
      const path = join(folder, `${basename(name)}-${sha256}.parquet`)
      await rename(partial, path)
      this.#derived.set(path, { sha256 })
      return path
    } finally {
      await rm(partial, { force: true })
    }
  }

  /**
   * Does work that reads local files. If it fails as `corrupt`, every file that this process has used is
   * checked again, and the work is done once more if a copy had to be replaced.
   *
   * @throws ServiceError what the work throws, or `corrupt` for an object whose content is not the expected
   *   one.
   */
  async reading<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ServiceError && error.kind === 'corrupt')) throw error
      if (!(await this.#replaceDamaged())) throw error
      return await work()
    }
  }

  /** Replaces damaged copies. Returns whether there were any. */
  async #replaceDamaged(): Promise<boolean> {
    let replaced = false
    for (const [path, expected] of this.#derived) {
      if (await isIntact(path, expected)) continue
      this.#derived.delete(path)
      await rm(path, { force: true })
      replaced = true
    }
    for (const [object, expected] of this.#checked) {
      const path = this.#locationOf(object)
      if (await isIntact(path, expected)) continue
      this.#checked.delete(object)
      await this.path(object, expected)
      replaced = true
    }
    return replaced
  }

  /** Deletes the local copy of an object that will not be read again. */
  async forget(object: string): Promise<void> {
    assertPath(object)
    this.#checked.delete(object)
    if (!this.#isInPlace(object)) await rm(this.#locationOf(object), { force: true })
  }

  /** Returns false if this machine has a copy of an object that the store no longer has. */
  async #isStored(object: string, path: string): Promise<boolean> {
    if (this.#isInPlace(object) || !(await exists(path))) return true
    return (await this.#store.range(object, 0, 1)) !== undefined
  }

  /** Whether the object is a file already, of a store in a directory. */
  #isInPlace(object: string): boolean {
    return this.#store.localPath(object) !== undefined
  }

  #locationOf(object: string): string {
    return this.#store.localPath(object) ?? join(this.#directory, ...object.split('/'))
  }

  async #checkStored(object: string, path: string, expected: Content): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const found = await contentOf(path)
      if (!found) {
        // A store that is gone throws here, and a store that has just come back has the object.
        const isThere = (await this.#store.range(object, 0, 1)) !== undefined
        if (isThere && attempt === 1) continue
        throw absent(object, this.#store)
      }
      if (isExpected(found, expected)) return
      if (attempt > 1) throw damaged(object, expected, found, '')
    }
  }

  async #download(object: string, path: string, expected: Content): Promise<void> {
    await mkdir(dirname(path), { recursive: true })
    const partial = `${path}.${randomUUID()}.partial`
    try {
      for (let attempt = 1; ; attempt++) {
        const found = await copyToFile(this.#store, object, partial)
        if (!found) throw absent(object, this.#store)
        if (isExpected(found, expected)) break
        if (attempt > 1) throw damaged(object, expected, found, `; no copy of it was kept at ${path}`)
      }
      await synced(partial)
      await rename(partial, path)
    } finally {
      await rm(partial, { force: true })
    }
  }
}

/** The cache outlives the process: after a power cut a file must not be there without its bytes. */
async function synced(path: string): Promise<void> {
  await using file = await open(path, 'r+')
  await file.sync()
}

/** Makes a folder if necessary, and returns whether it is writable. */
async function isWritable(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true })
    await access(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Whether there is a file at a local path. */
export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/**
 * Returns the content of a local file; undefined if there is none. The file is read into one buffer, since a
 * stream would leave one behind for each piece.
 */
async function contentOf(path: string): Promise<Required<Content> | undefined> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  try {
    await using file = await open(path)
    const buffer = Buffer.allocUnsafe(READ_BYTES)
    for (;;) {
      const { bytesRead } = await file.read(buffer)
      if (bytesRead === 0) break
      hash.update(buffer.subarray(0, bytesRead))
      sizeBytes += bytesRead
    }
  } catch (cause) {
    if (hasCode(cause, 'ENOENT', 'ENOTDIR')) return undefined
    throw new ServiceError('unavailable', `${path} cannot be read (${codeOf(cause)})`, {
      cause,
      retryAfterS: 5,
    })
  }
  return { sha256: hash.digest('hex'), sizeBytes }
}

async function isIntact(path: string, expected: Content): Promise<boolean> {
  const found = await contentOf(path)
  return found !== undefined && isExpected(found, expected)
}

function isExpected(found: Required<Content>, { sha256, sizeBytes = found.sizeBytes }: Content): boolean {
  return found.sizeBytes === sizeBytes && found.sha256.startsWith(sha256)
}

function absent(object: string, store: ReadableStore): ServiceError {
  return new ServiceError('notFound', `${object} is not in ${store.url}`)
}

function damaged(object: string, expected: Content, found: Required<Content>, rest: string): ServiceError {
  const size = expected.sizeBytes === undefined ? '' : ` and ${expected.sizeBytes} bytes`
  return new ServiceError(
    'corrupt',
    `${object} is damaged: expected the SHA-256 ${expected.sha256}${size}, found ${found.sha256} and ${found.sizeBytes} bytes${rest}`,
  )
}
