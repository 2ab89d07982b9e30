// Follows a table's commit log to find the data files of each version.
import pMap from 'p-map'
import { ServiceError } from '../../schemas/errors.ts'
import { SCORED_TABLES, type ScoredTable, type TableName } from '../../schemas/tables.ts'
import { deltaLogPath, tablePath } from '../store/paths.ts'
import type { LocalFiles } from '../store/local-files.ts'
import { READS_AT_ONCE, type Store, readChecked } from '../store/store.ts'
import { readCheckpoint } from './checkpoint.ts'
import { type DataFile, type TableVersion, type TablesRead, filesOf } from './delta.ts'
import { readLeftOut, without } from './left-out.ts'

export class TableLog {
  readonly table: TableName
  readonly #store: Store
  /** The version of the checkpoint from which the log was read; -1 without one. */
  checkpoint = -1
  #version = -1
  #files: DataFile[] = []
  /** Whether the log was listed once. Later commits are found by their number. */
  #listed = false

  constructor(store: Store, table: TableName) {
    this.#store = store
    this.table = table
  }

  get current(): TableVersion {
    return { table: this.table, version: this.#version, files: this.#files }
  }

  /** Reads the commits made since the last call. Returns whether there were any. */
  async refresh(): Promise<boolean> {
    const before = this.#version
    if (!this.#listed) await this.readTo()
    for (;;) {
      const version = this.#version + 1
      const files = await this.#commit(version)
      if (!files) return this.#version !== before
      // A concurrent refresh of this log may have added this commit already.
      if (version !== this.#version + 1) continue
      this.#files = [...this.#files, ...files]
      this.#version = version
    }
  }

  /**
   * Reads the log up to `last`, or to its end if it ends earlier: the last checkpoint, and the commits after
   * it with one listing and concurrent reads. Without a whole checkpoint it reads all commits, because none
   * is ever deleted.
   */
  async readTo(last = Number.MAX_SAFE_INTEGER): Promise<TableVersion> {
    const checkpoint = await lastCheckpoint(this.#store, this.table)
    const known = checkpoint?.version ?? -1
    this.checkpoint = known
    const versions: number[] = []
    const after = known < 0 ? '' : deltaLogPath(this.table, known)
    for await (const { path } of this.#store.list(tablePath(this.table, '_delta_log/'), after)) {
      const version = known + 1 + versions.length
      if (version > last) break
      if (path === deltaLogPath(this.table, version)) versions.push(version)
    }
    const read = async (version: number): Promise<DataFile[]> => {
      const files = await this.#commit(version)
      if (files) return files
      const path = deltaLogPath(this.table, version)
      throw new ServiceError('corrupt', `${path} is listed but cannot be read`)
    }
    const added = await pMap(versions, read, { concurrency: READS_AT_ONCE })
    this.#files = [...(checkpoint?.files ?? []), ...added.flat()]
    this.#version = known + versions.length
    this.#listed = true
    return versionAt(this.current, Math.min(last, this.#version))
  }

  /** The files of a commit; undefined if it has not been made. */
  async #commit(version: number): Promise<DataFile[] | undefined> {
    const path = deltaLogPath(this.table, version)
    return readChecked(this.#store, path, (commit) => filesOf(commit, this.table, version))
  }
}

/** A checkpoint only saves time, so a damaged one is ignored. */
async function lastCheckpoint(store: Store, table: TableName): Promise<TableVersion | undefined> {
  try {
    return await readCheckpoint(store, table)
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'corrupt') return undefined
    throw error
  }
}

/** Returns an earlier version of a table, given a later one. */
export function versionAt({ files, undone, ...rest }: TableVersion, version: number): TableVersion {
  const known = <File extends DataFile>(all: readonly File[]) => all.filter((file) => file.version <= version)
  return { ...rest, version, files: known(files), ...(undone && { undone: known(undone) }) }
}

/** Returns the number of the first data file after version `last`; of the first of all without `last`. */
export function firstFileAfter({ files }: Pick<TableVersion, 'files'>, last = -1): number {
  const first = files.findIndex(({ version }) => version > last)
  return first < 0 ? files.length : first
}

/** Returns a table as a release read it, given a later version. */
export function versionIn(read: TablesRead, later: TableVersion): TableVersion {
  return without(versionAt(later, read.tables[later.table] ?? -1), read)
}

/**
 * Refuses versions older than those of a release: the store then shows an earlier state, and decisions by it
 * would be wrong.
 *
 * @throws ServiceError `unavailable`.
 */
export function assertNotBehind(
  versions: Partial<Record<ScoredTable, TableVersion>>,
  released: Partial<Record<string, number>>,
): void {
  for (const { table, version } of Object.values(versions)) {
    const known = released[table] ?? -1
    if (version >= known) continue
    throw new ServiceError(
      'unavailable',
      `the store shows table ${table} at version ${version}, although a release was made from version ${known}; run again`,
      { retryAfterS: 5 },
    )
  }
}

/** Returns the current version of every table that scoring reads, without the rows left out. */
export async function currentVersions(store: Store): Promise<Record<ScoredTable, TableVersion>> {
  const leftOut = await readLeftOut(store)
  const versions = await Promise.all(
    SCORED_TABLES.map(async (name): Promise<[ScoredTable, TableVersion]> => {
      const log = new TableLog(store, name)
      await log.refresh()
      return [name, without(log.current, leftOut)]
    }),
  )
  return Object.fromEntries(versions) as Record<ScoredTable, TableVersion>
}

/** @throws ServiceError `corrupt` for a data file that is damaged or missing. */
export function localPaths(
  local: LocalFiles,
  { table, files }: Pick<TableVersion, 'table' | 'files'>,
): Promise<string[]> {
  return pMap(files, (file) => localPath(local, table, file), { concurrency: READS_AT_ONCE })
}

/** @throws ServiceError `corrupt` for a data file that is damaged or missing. */
export async function localPath(local: LocalFiles, table: TableName, file: DataFile): Promise<string> {
  const path = tablePath(table, file.path)
  try {
    return await local.path(path, file)
  } catch (cause) {
    if (!(cause instanceof ServiceError && cause.kind === 'notFound')) throw cause
    throw new ServiceError('corrupt', `${path} is in the log of its table and not in the store`, { cause })
  }
}
