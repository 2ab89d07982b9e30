// Finds the content that an object must have: from its own name, from the object that names it, or from its
// own checksum.
import { TABLE_NAMES } from '../../schemas/tables.ts'
import { makeOf, readIssue } from '../credentials/read.ts'
import { decoded } from '../proof/canonical.ts'
import { readManifest, readSnapshotManifest } from '../release/read.ts'
import type { Content } from '../store/body.ts'
import { credentialsPrefix, inboxHash, releasePrefix, snapshotPrefix } from '../store/paths.ts'
import { checksumOf } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { placeOf } from './place.ts'
import { filesOf } from '../tables/delta.ts'
import type { DataFiles } from './finished.ts'

type Contents = ReadonlyMap<string, Content>

/** The contents that objects of a store name. Holds those of one folder at a time. */
export class ExpectedContents {
  readonly #store: Store
  readonly #dataFiles: DataFiles
  #folder = ''
  #contents: Promise<Contents> = Promise.resolve(new Map())

  constructor(store: Store, dataFiles: DataFiles) {
    this.#store = store
    this.#dataFiles = dataFiles
  }

  /**
   * Returns the content of an object; undefined if nothing names it.
   *
   * @throws ServiceError `corrupt` if the object that names it is damaged.
   */
  async of(path: string): Promise<Content | undefined> {
    if (path.startsWith('inbox/')) return { sha256: inboxHash(path) ?? '' }
    if (path.startsWith('tables/')) return this.#dataFiles.get(path)
    const folder = /^(?:releases|snapshots|credentials)\/[^/]+\//.exec(path)?.[0]
    if (folder === undefined) return undefined
    if (folder !== this.#folder) {
      this.#folder = folder
      this.#contents = contentsOf(this.#store, folder)
    }
    return (await this.#contents).get(path)
  }
}

async function contentsOf(store: Store, folder: string): Promise<Contents> {
  const [kind, name] = folder.split('/') as [string, string]
  if (kind === 'releases') {
    const release = Number(name)
    const manifest = await readManifest(store, release)
    // Public files from earlier releases lie under those releases.
    const listed = manifest?.public ?? []
    const own = listed.filter((file) => file.release === release)
    return namedFiles(releasePrefix(release), [...(manifest?.files ?? []), ...own])
  }
  if (kind === 'snapshots') {
    return namedFiles(snapshotPrefix(name), (await readSnapshotManifest(store, name))?.files ?? [])
  }
  const record = await readIssue(store, Number(name))
  if (!record) return new Map()
  return namedFiles(credentialsPrefix(Number(name), makeOf(record)), [
    ...record.files,
    ...record.status_lists,
  ])
}

function namedFiles(
  prefix: string,
  files: readonly { path: string; sha256: string; size_bytes: number }[],
): Contents {
  return new Map(
    files.map(({ path, sha256, size_bytes }) => [prefix + path, { sha256, sizeBytes: size_bytes }]),
  )
}

/** Whether bytes of up to 8 MB contradict themselves: a commit, or a record whose checksum does not hold. */
export function isDamaged(path: string, bytes: Uint8Array): boolean {
  if (!path.endsWith('.json')) return false
  const [, name, version] = /^tables\/(\w+)\/_delta_log\/(\d{20})\.json$/.exec(path) ?? []
  const table = TABLE_NAMES.find((known) => known === name)
  try {
    if (table !== undefined) {
      filesOf(bytes, table, Number(version))
      return false
    }
    const { checksum, ...record } = JSON.parse(decoded(bytes)) as Record<string, unknown>
    return typeof checksum === 'string' && checksum !== checksumOf(path, record)
  } catch {
    return placeOf(path) !== 'fact'
  }
}
