// Follows a table's commit log to find the data files of each version.
import pMap from 'p-map'
import { ServiceError } from '../../schemas/errors.ts'
import { SCORED_TABLES, type ScoredTable, type TableName } from '../../schemas/tables.ts'
import { deltaLogPath, tablePath } from '../store/paths.ts'
import type { LocalFiles } from '../store/local-files.ts'
import { type Store, readChecked } from '../store/store.ts'
import { type DataFile, filesOf } from './delta.ts'

const READS_AT_ONCE = 16

export interface TableVersion {
  table: TableName
  /** -1 before the table's first commit. */
  version: number
  files: readonly DataFile[]
}

export class TableLog {
  readonly table: TableName
  readonly #store: Store
  #version = -1
  #files: DataFile[] = []
  /** Whether the log was listed once: what is committed from then on is found by its number. */
  #listed = false

  constructor(store: Store, table: TableName) {
    this.#store = store
    this.table = table
  }

  get current(): TableVersion {
    return { table: this.table, version: this.#version, files: this.#files }
  }

  /** Reads the commits made since the last call; true if there were any. */
  async refresh(): Promise<boolean> {
    const before = this.#version
    if (!this.#listed) await this.readTo()
    for (;;) {
      const version = this.#version + 1
      const path = deltaLogPath(this.table, version)
      const files = await readChecked(this.#store, path, (commit) => filesOf(commit, path))
      if (!files) return this.#version !== before
      // A concurrent refresh of this log may have added this commit already.
      if (version !== this.#version + 1) continue
      this.#files = [...this.#files, ...files]
      this.#version = version
    }
  }

  /** Reads the log from its start up to `last`, or to its end if it ends earlier: one listing and concurrent reads. */
  async readTo(last = Number.MAX_SAFE_INTEGER): Promise<TableVersion> {
    const paths: string[] = []
    for await (const { path } of this.#store.list(tablePath(this.table, '_delta_log/'))) {
      if (path === deltaLogPath(this.table, paths.length) && paths.length <= last) paths.push(path)
    }
    const read = async (path: string): Promise<DataFile[]> => {
      const files = await readChecked(this.#store, path, (commit) => filesOf(commit, path))
      if (!files) throw new ServiceError('corrupt', `${path} is listed but cannot be read`)
      return files
    }
    this.#files = (await pMap(paths, read, { concurrency: READS_AT_ONCE })).flat()
    this.#version = paths.length - 1
    this.#listed = true
    return this.current
  }
}

/** The current version of every table that scoring reads. */
export async function currentVersions(store: Store): Promise<Record<ScoredTable, TableVersion>> {
  const versions = await Promise.all(
    SCORED_TABLES.map(async (name): Promise<[ScoredTable, TableVersion]> => {
      const log = new TableLog(store, name)
      await log.refresh()
      return [name, log.current]
    }),
  )
  return Object.fromEntries(versions) as Record<ScoredTable, TableVersion>
}

/** @throws ServiceError `corrupt` for a data file that is damaged or missing. */
export function localPaths(local: LocalFiles, { table, files }: TableVersion): Promise<string[]> {
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
