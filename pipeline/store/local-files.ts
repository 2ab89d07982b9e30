// Local files with the content of immutable objects, for DuckDB to read.
import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ServiceError } from '../../schemas/errors.ts'
import { assertPath } from './paths.ts'
import type { Store } from './store.ts'

const DOWNLOAD_BYTES = 8 * 1024 * 1024

/**
 * Gives each object a local file. Objects of a store in a directory are files already; those of other stores are
 * downloaded once into `directory`, piece by piece. A copy never goes stale, because the objects are immutable.
 */
export class LocalFiles {
  readonly #store: Store
  readonly #directory: string

  constructor(store: Store, directory: string) {
    this.#store = store
    this.#directory = directory
  }

  /**
   * The local path of an object, which is downloaded first if necessary.
   *
   * @throws ServiceError `notFound` if there is no such object.
   */
  async path(object: string): Promise<string> {
    assertPath(object)
    if (this.#store.localPath) {
      const path = this.#store.localPath(object)
      if (await exists(path)) return path
      throw new ServiceError('notFound', `${object} is not in ${this.#store.url}`)
    }
    const path = join(this.#directory, ...object.split('/'))
    if (!(await exists(path))) await this.#download(object, path)
    return path
  }

  async #download(object: string, path: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true })
    const partial = `${path}.${randomUUID()}.partial`
    const file = await open(partial, 'wx')
    try {
      for (let offset = 0; ;) {
        const bytes = await this.#store.range(object, offset, DOWNLOAD_BYTES)
        if (!bytes) throw new ServiceError('notFound', `${object} is not in ${this.#store.url}`)
        await file.writeFile(bytes)
        offset += bytes.byteLength
        if (bytes.byteLength < DOWNLOAD_BYTES) break
      }
      // The cache outlives the process: after a power cut a file must not be there without its bytes.
      await file.sync()
      await file.close()
      await rename(partial, path)
    } catch (error) {
      await file.close()
      await rm(partial, { force: true })
      throw error
    }
  }

  /** Deletes the local copy of an object that will not be read again. */
  async forget(object: string): Promise<void> {
    assertPath(object)
    if (!this.#store.localPath) await rm(join(this.#directory, ...object.split('/')), { force: true })
  }
}

/** Whether there is a file at a local path. */
export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
