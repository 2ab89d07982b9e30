// Compacts and reads tables in a test, as one process would, over a store that it may share with others.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Database, parquet } from '../../pipeline/duckdb.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { inboxPath, tablePath } from '../../pipeline/store/paths.ts'
import { LocalFiles } from '../../pipeline/store/local-files.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { CompactionContext } from '../../pipeline/tables/data-files.ts'
import { encodeRows } from '../../pipeline/tables/inbox.ts'
import { TableLog, localPaths } from '../../pipeline/tables/delta-log.ts'
import type { TableVersion } from '../../pipeline/tables/delta.ts'
import type { ImportId } from '../../pipeline/tables/import-id.ts'
import { undoneImports } from '../../pipeline/tables/left-out.ts'
import type { UndoneImport } from '../../schemas/manifests.ts'
import { type Row, type TableName, tableSpec } from '../../schemas/tables.ts'
import { openSharedDatabase } from './databases.ts'

interface Worker extends CompactionContext, Disposable {}

interface WorkerSettings {
  threads?: number
  now?: () => Date
}

/** The context of a process that compacts, with its own database, cache and directory under `folder`. */
export async function openWorker(
  store: Store,
  folder: string,
  { threads = 1, now }: WorkerSettings = {},
): Promise<Worker> {
  await mkdir(folder, { recursive: true })
  const database = await openSharedDatabase({ threads, memoryLimit: '512MB' })
  const context = await workerOn(database, store, folder, now)
  return { ...context, [Symbol.dispose]: () => database[Symbol.dispose]() }
}

/**
 * A worker on a database that another has used before it and closes: opening one costs more than a
 * compaction.
 */
export async function workerOn(
  database: Database,
  store: Store,
  folder: string,
  now = () => new Date('2026-02-02T00:00:00.000Z'),
): Promise<CompactionContext> {
  const directory = join(folder, 'out')
  await mkdir(directory, { recursive: true })
  return {
    store,
    local: new LocalFiles(store, join(folder, 'cache')),
    database,
    directory,
    now,
    wait: () => Promise.resolve(),
  }
}

/** Puts one object with these rows into a table's inbox, and returns its path. */
export function send(store: Store, table: TableName, id: string, rows: readonly Row[]): Promise<string> {
  return sendBytes(store, table, id, encodeRows(table, rows))
}

/** Puts the record that an import is undone, whatever relies on it, and whether or not it is there yet. */
export async function putUndone(store: Store, id: ImportId): Promise<void> {
  const at = '2026-01-20T00:00:00.000Z'
  const undone: UndoneImport = { ...id, rows: 1, recorded_at: at, undone_at: at, reason: 'a test' }
  await undoneImports(store).replace(id, undone)
}

export async function sendBytes(
  store: Store,
  table: TableName,
  id: string,
  bytes: Uint8Array,
): Promise<string> {
  const path = inboxPath(table, id, bytes)
  await store.putIfAbsent(path, bytes)
  return path
}

/** An object of the inbox that arrived as it was sent and is not Parquet. */
export function sendBroken(store: Store, table: TableName): Promise<string> {
  return sendBytes(store, table, 'broken', new TextEncoder().encode('not Parquet'))
}

export async function pathsOf(store: Store, prefix = ''): Promise<string[]> {
  return (await Array.fromAsync(store.list(prefix))).map(({ path }) => path)
}

/** Every row of a table at `version`, in the order of its data files. */
export async function readRows(
  { store, local, database }: Pick<CompactionContext, 'store' | 'local' | 'database'>,
  table: TableName,
  version = Number.MAX_SAFE_INTEGER,
): Promise<Row[]> {
  const files = await new TableLog(store, table).readTo(version)
  return files.files.length === 0 ? [] : selectRows(database, table, await localPaths(local, files))
}

/** Every row of a table that a reader sees without the log, in all data files of the folder. */
export async function globRows(
  { store, local, database }: Pick<CompactionContext, 'store' | 'local' | 'database'>,
  table: TableName,
): Promise<Row[]> {
  const paths = (await pathsOf(store, tablePath(table, 'recorded_date='))).filter((path) =>
    path.endsWith('.parquet'),
  )
  const localPath = async (path: string) =>
    local.path(path, { sha256: sha256Hex((await store.get(path)) ?? '') })
  return paths.length === 0 ? [] : selectRows(database, table, await Promise.all(paths.map(localPath)))
}

export async function selectRows(database: Database, table: TableName, paths: string[]): Promise<Row[]> {
  // A `Row` holds a count as a number and a day as a text.
  const casts = { count: '::DOUBLE', day: '::VARCHAR' }
  const names = tableSpec(table).columns.map(
    ({ name, type }) => `${name}${type === 'count' || type === 'day' ? casts[type] : ''} AS ${name}`,
  )
  return database.rows<Row>(`SELECT ${names.join(', ')} FROM ${parquet(paths)}`)
}

export async function currentVersion(store: Store, table: TableName): Promise<TableVersion> {
  return new TableLog(store, table).readTo(Number.MAX_SAFE_INTEGER)
}
