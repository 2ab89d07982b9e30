// Moves rows from the inbox into a table exactly once: lists the objects it takes, writes the data files, commits, and
// only then deletes the objects. After a crash anywhere the next run finishes the same step with the same files.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import pMap from 'p-map'
import { v5 as uuidv5 } from 'uuid'
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { type ColumnType, type TableName, type TableSpec, tableSpec } from '../../schemas/tables.ts'
import { type Database, literal, parquet } from '../duckdb.ts'
import { SQL_TYPES } from './views.ts'
import { dataPath, inboxPrefix, intakePath, isInboxPath, deltaLogPath, tablePath } from '../store/paths.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import type { LocalFiles } from '../store/local-files.ts'
import { readRecord } from '../store/records.ts'
import { type Store, present } from '../store/store.ts'
import { type DataFile, appendCommit, creationCommit } from './delta.ts'
import { TableLog } from './delta-log.ts'

/** The most rows in one data file, because it is uploaded from memory. */
const ROWS_PER_FILE = 4_000_000
const OBJECTS_AT_ONCE = 16
/** The namespace of the tables' ids, an arbitrary UUID. */
const TABLE_IDS = '5b6b2f0e-7a52-4f0b-9a3e-3c1d7f0a9c55'

export interface CompactionContext {
  store: Store
  local: LocalFiles
  /** No other call may use it at the same time. */
  database: Database
  /** For files on their way to the store. No other call may use it at the same time. */
  directory: string
  now: () => Date
}

export interface Compaction {
  table: TableName
  /** The version of the table when the call ended. */
  version: number
  /** The rows and inbox objects that this call took in. */
  rows: number
  objects: number
}

const intake = z.strictObject({ inbox: z.array(z.string()).min(1) })

/**
 * Takes in everything that was in the inbox when the call began. Any number of calls may run at once, on any
 * machines: the first to write a version's intake decides it, and the others help to finish it.
 */
export async function compact(context: CompactionContext, table: TableName): Promise<Compaction> {
  const { store, now } = context
  const log = new TableLog(store, table)
  await log.refresh()
  if (log.current.version < 0) {
    const creation = creationCommit(table, uuidv5(table, TABLE_IDS), now().getTime())
    await store.putIfAbsent(deltaLogPath(table, 0), creation)
  }
  const done: Compaction = { table, version: 0, rows: 0, objects: 0 }
  for (let mine = false; ;) {
    await log.refresh()
    const { version } = log.current
    done.version = version
    const next = await readIntake(store, table, version + 1)
    if (next) {
      done.rows += await take(context, table, version + 1, next)
      done.objects += next.length
      continue
    }
    const waiting = await clear(store, table, version)
    if (mine || waiting.length === 0) return done
    // Whether this write wins or a rival's does, the next round finds an intake for the version and finishes it.
    mine = await store.putIfAbsent(intakePath(table, version + 1), canonical({ inbox: waiting }))
  }
}

async function readIntake(store: Store, table: TableName, version: number): Promise<string[] | undefined> {
  return (await readRecord(store, intakePath(table, version), intake))?.inbox
}

/**
 * Deletes the objects that a committed version took and returns the others. An intake is written only after this, so
 * that no object can be taken twice: a taken one is already deleted, or known to be taken.
 */
async function clear(store: Store, table: TableName, version: number): Promise<string[]> {
  const taken = new Set(await readIntake(store, table, version))
  const waiting: string[] = []
  const left: string[] = []
  for await (const { path } of store.list(inboxPrefix(table))) {
    if (isInboxPath(table, path)) (taken.has(path) ? left : waiting).push(path)
  }
  await pMap(left, (path) => store.delete(path), { concurrency: OBJECTS_AT_ONCE })
  return waiting
}

/** Writes the data files of a version and commits it. Returns its number of rows, or 0 if a rival committed it first. */
async function take(
  context: CompactionContext,
  table: TableName,
  version: number,
  inbox: string[],
): Promise<number> {
  const { store, local, now } = context
  let files: DataFile[]
  try {
    const paths = await pMap(inbox, (path) => local.path(path), { concurrency: OBJECTS_AT_ONCE })
    files = await writeDataFiles(context, tableSpec(table), paths, sha256Hex(inbox.join('\n')).slice(0, 32))
  } catch (error) {
    // Inbox objects are deleted only after the commit: if one is gone, a rival has committed this version.
    if (await store.get(deltaLogPath(table, version))) return 0
    throw error
  }
  const rows = files.reduce((sum, file) => sum + file.rows, 0)
  const commit = appendCommit(files, now().getTime())
  const committed = await store.putIfAbsent(deltaLogPath(table, version), commit)
  await pMap(inbox, (path) => local.forget(path), { concurrency: OBJECTS_AT_ONCE })
  return committed ? rows : 0
}

async function writeDataFiles(
  context: CompactionContext,
  spec: TableSpec,
  paths: string[],
  digest: string,
): Promise<DataFile[]> {
  const { database } = context
  const batch = `batch_${spec.name}`
  const columns = spec.columns.map(({ name, type }) => `${name}::${SQL_TYPES[type]} AS ${name}`)
  const order = new Set(['recorded_date', ...spec.sortedBy, ...spec.columns.map(({ name }) => name)])
  // Grain: one row per row of the inbox, in the order of the table's data files.
  await database.run(
    `CREATE OR REPLACE TEMP TABLE ${batch} AS
     SELECT ${columns.join(', ')}, strftime(recorded_at AT TIME ZONE 'UTC', '%Y-%m-%d') AS recorded_date
     FROM ${parquet(paths)} ORDER BY ${[...order].join(', ')}`,
  )
  const dates = await database.rows<{ recorded_date: string; first: bigint; rows: bigint }>(
    `SELECT recorded_date, min(rowid) AS first, count(*) AS rows FROM ${batch} GROUP BY ALL ORDER BY ALL`,
  )
  const files: DataFile[] = []
  for (const { recorded_date: recordedDate, first, rows } of dates) {
    for (let part = 0, from = Number(first); from < Number(first + rows); part++, from += ROWS_PER_FILE) {
      const slice = `${batch} WHERE recorded_date = ${literal(recordedDate)} AND rowid >= ${from} AND rowid < ${from + ROWS_PER_FILE}`
      const path = dataPath(spec.name, recordedDate, `${digest}-${part}`)
      const sizeBytes = await upload(context, tablePath(spec.name, path), slice)
      files.push({ path, recordedDate, sizeBytes, ...(await statisticsOf(database, spec, slice)) })
    }
  }
  await database.run(`DROP TABLE ${batch}`)
  return files
}

/** Writes a slice of the batch as a data file and returns the size of the stored object. */
async function upload(context: CompactionContext, path: string, slice: string): Promise<number> {
  const { store } = context
  const sorted = `SELECT * EXCLUDE (recorded_date) FROM ${slice} ORDER BY rowid`
  const bytes = await parquetOf(context, sha256Hex(path), sorted)
  if (await store.putIfAbsent(path, bytes)) return bytes.byteLength
  // An earlier attempt may have written the same rows as other bytes, with another version of DuckDB.
  return (await present(store, path)).byteLength
}

/** The rows of a query as a Parquet file. No other call may use `name` at the same time. */
export async function parquetOf(
  { database, directory }: CompactionContext,
  name: string,
  select: string,
): Promise<Uint8Array> {
  const file = join(directory, `${name}.parquet`)
  await database.run(
    `COPY (${select}) TO ${literal(file)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880)`,
  )
  const bytes = await readFile(file)
  await rm(file)
  return bytes
}

/**
 * The statistics of every column. If only some columns had bounds, the reader `deltalake` would find no rows when it
 * filters by another.
 */
async function statisticsOf(
  database: Database,
  { columns }: TableSpec,
  slice: string,
): Promise<Omit<DataFile, 'path' | 'recordedDate' | 'sizeBytes'>> {
  const text = (type: ColumnType, value: string) =>
    type === 'time'
      ? `strftime(${value} AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ')`
      : type === 'day'
        ? `${value}::VARCHAR`
        : value
  const selected = columns.flatMap(({ name, type }) => [
    `${text(type, `min(${name})`)} AS min_${name}`,
    `${text(type, `max(${name})`)} AS max_${name}`,
    `count(*) - count(${name}) AS nulls_${name}`,
  ])
  const [row] = await database.rows<Record<string, string | number | bigint | null>>(
    `SELECT count(*) AS rows, ${selected.join(', ')} FROM ${slice}`,
  )
  if (!row) throw new ServiceError('corrupt', 'DuckDB returned no statistics for a data file')
  const pick = (bound: 'min' | 'max') =>
    Object.fromEntries(
      columns.flatMap(({ name }) => {
        const value = row[`${bound}_${name}`] ?? null
        return value === null ? [] : [[name, typeof value === 'bigint' ? Number(value) : value]]
      }),
    ) as DataFile['minValues']
  const nullCount = Object.fromEntries(columns.map(({ name }) => [name, Number(row[`nulls_${name}`])]))
  return { rows: Number(row['rows']), minValues: pick('min'), maxValues: pick('max'), nullCount }
}
