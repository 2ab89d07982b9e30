// Opens the store at a URL.
import { fileURLToPath } from 'node:url'
import { ServiceError } from '../../schemas/errors.ts'
import { FileStore } from './file.ts'
import { assertPath } from './paths.ts'
import { S3Store } from './s3.ts'
import type { Store } from './store.ts'

export interface StoreSettings {
  /** `file:///…`, a path, or `s3://bucket/prefix`. */
  url: string
  s3Endpoint?: string | undefined
  requestTimeoutMs?: number | undefined
}

/** @throws ServiceError `invalid` for a URL of another kind, or with a prefix that is not a path of the store. */
export function openStore({ url, s3Endpoint, requestTimeoutMs }: StoreSettings): Store {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(url)) return new FileStore(url)
  const parsed = URL.parse(url)
  if (parsed?.protocol === 'file:' && parsed.host === '') return new FileStore(fileURLToPath(parsed))
  if (parsed?.protocol === 's3:' && parsed.host !== '') {
    const path = parsed.pathname.replace(/^\/+|\/+$/g, '')
    if (path !== '') assertPath(path)
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
