// Opens the store that a URL names, and makes its objects readable as local files.
import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '../../schemas/errors.ts'
import { FileStore } from './file.ts'
import { assertKey } from './keys.ts'
import { S3Store } from './s3.ts'
import type { Store } from './store.ts'

export interface StoreSettings {
  /** `file:///…`, a path, or `s3://bucket/prefix`. */
  url: string
  s3Endpoint?: string | undefined
  requestTimeoutMs?: number | undefined
}

/** @throws ServiceError `invalid` for a URL that names no kind of store. */
export function openStore({ url, s3Endpoint, requestTimeoutMs }: StoreSettings): Store {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(url)) return new FileStore(resolve(url))
  const parsed = URL.parse(url)
  if (parsed?.protocol === 'file:' && parsed.host === '') return new FileStore(fileURLToPath(parsed))
  if (parsed?.protocol === 's3:' && parsed.host !== '') {
    const path = parsed.pathname.replace(/^\/+|\/+$/g, '')
    if (path !== '') assertKey(path)
    return new S3Store({
      bucket: parsed.host,
      prefix: path === '' ? '' : `${path}/`,
      endpoint: s3Endpoint,
      requestTimeoutMs,
    })
  }
  throw new ServiceError(
    'invalid',
    `not a store: ${JSON.stringify(url)}; use file:///folder or s3://bucket/prefix`,
  )
}

const DOWNLOAD_BYTES = 8 * 1024 * 1024

/**
 * Makes immutable objects readable as local files, for DuckDB. A store of files gives its own; others are
 * downloaded once into `directory`, piece by piece. Immutable keys make the copies exact.
 */
export class LocalFiles {
  readonly #store: Store
  readonly #directory: string

  constructor(store: Store, directory: string) {
    this.#store = store
    this.#directory = directory
  }

  /** @throws ServiceError `notFound` where there is no such object. */
  async path(key: string): Promise<string> {
    assertKey(key)
    if (this.#store.localPath) {
      const path = this.#store.localPath(key)
      if (await exists(path)) return path
      throw new ServiceError('notFound', `${key} is not in ${this.#store.url}`)
    }
    const path = join(this.#directory, ...key.split('/'))
    if (!(await exists(path))) await this.#download(key, path)
    return path
  }

  async #download(key: string, path: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true })
    const partial = `${path}.${randomUUID()}.partial`
    const file = await open(partial, 'wx')
    try {
      for (let offset = 0; ;) {
        const bytes = await this.#store.range(key, offset, DOWNLOAD_BYTES)
        if (!bytes) throw new ServiceError('notFound', `${key} is not in ${this.#store.url}`)
        await file.writeFile(bytes)
        offset += bytes.byteLength
        if (bytes.byteLength < DOWNLOAD_BYTES) break
      }
      // The cache outlives the process, and a name must not outlive the bytes.
      await file.sync()
      await file.close()
      await rename(partial, path)
    } catch (error) {
      await file.close()
      await rm(partial, { force: true })
      throw error
    }
  }

  /** Drops the local copy of an object that will not be read again. */
  async forget(key: string): Promise<void> {
    assertKey(key)
    if (!this.#store.localPath) await rm(join(this.#directory, ...key.split('/')), { force: true })
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
