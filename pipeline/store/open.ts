// Opens the store at a URL.
import { opendir } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ServiceError } from '../../schemas/errors.ts'
import { orUndefined } from './disk.ts'
import { FileStore } from './file.ts'
import { MemoryStore } from './memory.ts'
import { assertPath, isPath } from './paths.ts'
import type { Store } from './store.ts'

export interface StoreSettings {
  /** `file:///…`, a path, or `s3://bucket/prefix`. */
  url: string
  s3Endpoint?: string | undefined
  /** The profile in the AWS client's files that gives the credentials, whatever its variables say. */
  s3Profile?: string | undefined
  requestTimeoutMs?: number | undefined
}

/**
 * For a folder without a store, opening begins one, fails, or returns an empty store in memory and leaves the
 * folder as it is.
 */
export type WhereNone = 'begin' | 'fail' | 'imagine'

/**
 * Opens a store. `whereNone` applies to folders only, because no bucket is ever begun.
 *
 * @throws ServiceError `invalid` for a URL of another kind, or with a prefix that is not a path of the store;
 *   `unavailable` for a folder without a store.
 */
export async function openStore(
  { url, s3Endpoint, s3Profile, requestTimeoutMs }: StoreSettings,
  whereNone: WhereNone,
): Promise<Store> {
  const folder = folderOf(url)
  if (folder !== undefined) {
    if (whereNone === 'begin') return FileStore.begin(folder)
    const isImagined = whereNone === 'imagine' && !(await FileStore.isIn(folder))
    return isImagined ? new MemoryStore() : FileStore.open(folder)
  }
  const { host, pathname } = new URL(url)
  const path = pathname.replace(/^\/+|\/+$/g, '')
  if (path !== '') assertPath(path)
  const prefix = path === '' ? '' : `${path}/`
  // The SDK is large, so it is loaded only if it is used.
  const { S3Store } = await import('./s3.ts')
  return new S3Store({
    bucket: host,
    prefix,
    endpoint: s3Endpoint,
    profile: s3Profile,
    requestTimeoutMs,
  })
}

/**
 * Returns a path that is taken in a store, or in a folder where no store has been begun; undefined if it is
 * empty.
 */
export async function firstPathIn(settings: StoreSettings): Promise<string | undefined> {
  const folder = folderOf(settings.url)
  if (folder === undefined) {
    const store = await openStore(settings, 'fail')
    for await (const { path } of store.list('')) return path
    return undefined
  }
  const directory = await orUndefined(opendir(folder, { recursive: true }))
  for await (const entry of directory ?? []) {
    const path = relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/')
    if (entry.isFile() && isPath(path)) return path
  }
  return undefined
}

/** Whether one store lies in the other, or both are one. */
export function areNested(one: string, other: string): boolean {
  const [first, second] = [one, other].map((url) => {
    const folder = folderOf(url)
    return `${folder === undefined ? url.replace(/\/+$/, '') : pathToFileURL(resolve(folder)).href}/`
  }) as [string, string]
  return first.startsWith(second) || second.startsWith(first)
}

/**
 * Returns the folder of a store; undefined for the URL of a bucket. An empty text, as from an unset variable,
 * must not name the current folder: it names none.
 */
function folderOf(url: string): string | undefined {
  if (url.trim() !== '' && !/^[a-z][a-z0-9+.-]*:/i.test(url)) return url
  const parsed = URL.parse(url)
  if (parsed?.protocol === 'file:' && parsed.host === '') return fileURLToPath(parsed)
  if (parsed?.protocol === 's3:' && parsed.host !== '') return undefined
  throw new ServiceError(
    'invalid',
    `not a store: ${JSON.stringify(url)}; use file:///folder or s3://bucket/prefix`,
  )
}
