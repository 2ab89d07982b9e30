// Writes the rows of inbox objects as data files of a table: one or more for each day, with the statistics
// for the log.
import type { PipelineComponents } from '../components.ts'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '../../schemas/errors.ts'
import type { ColumnType, TableName, TableSpec } from '../../schemas/tables.ts'
import { type Database, literal, parquet } from '../duckdb.ts'
import { sha256Hex } from '../proof/canonical.ts'
import { dataPath, tablePath } from '../store/paths.ts'
import { present } from '../store/store.ts'
import type { NewDataFile, Statistics } from './delta.ts'
import { SQL_TYPES, columnsOf } from './columns.ts'

/** The most rows in one data file, because it is uploaded from memory. */
const ROWS_PER_FILE = 4_000_000

export type DataFileContext = Pick<PipelineComponents, 'store' | 'database' | 'directory'>

export type CompactionContext = DataFileContext & Pick<PipelineComponents, 'local' | 'now' | 'wait'>

/** Rows of the inbox on their way into a table. */
interface InboxRows {
  spec: TableSpec
  /** Local files. */
  paths: readonly string[]
  /** No row may be recorded before this instant; undefined if any may. */
  earliest: Date | undefined
}

/** The rows to write, and where to. */
interface Batch extends InboxRows {
  version: number
  /** Names the data files, so that every attempt gives them the same paths. */
  digest: string
}

/** Returns the query of the rows as the table has them, each with its local file. */
export function inboxRows({ spec, paths, earliest }: InboxRows): string {
  const columns = spec.columns.map(({ name, type }) => {
    const value = `${name}::${SQL_TYPES[type]}`
    const isMoved = name === 'recorded_at' && earliest !== undefined
    return `${isMoved ? notBefore(earliest, spec.name, value) : value} AS ${name}`
  })
  return `SELECT ${columns.join(', ')}, filename FROM ${parquet(paths)}`
}

/**
 * Moves `recordedAt` up to `earliest`, except in a registration. A repeated call or a restored object may
 * bring a registration a second time, and it must not replace later statements about the agent.
 */
export function notBefore(earliest: Date, table: TableName, recordedAt: string): string {
  const moved = `greatest(${recordedAt}, ${literal(earliest.toISOString())}::TIMESTAMPTZ)`
  return table === 'agents' ? `if(recorded_at = registered_at, ${recordedAt}, ${moved})` : moved
}

export async function writeDataFiles(
  context: DataFileContext,
  { version, digest, ...rows }: Batch,
): Promise<NewDataFile[]> {
  const { database } = context
  const { spec } = rows
  const batch = `batch_${spec.name}`
  const order = new Set(['recorded_date', ...spec.sortedBy, ...spec.columns.map(({ name }) => name)])
  // Grain: one row per row of the inbox, in the order of the table's data files.
  await database.run(
    `CREATE OR REPLACE TEMP TABLE ${batch} AS
     SELECT *, strftime(recorded_at AT TIME ZONE 'UTC', '%Y-%m-%d') AS recorded_date
     FROM (SELECT * EXCLUDE (filename) FROM (${inboxRows(rows)})) ORDER BY ${[...order].join(', ')}`,
  )
  const dates = await database.rows<{ recorded_date: string; first: bigint; rows: bigint }>(
    `SELECT recorded_date, min(rowid) AS first, count(*) AS rows FROM ${batch} GROUP BY ALL ORDER BY ALL`,
  )
  const files: NewDataFile[] = []
  for (const { recorded_date: recordedDate, first, rows: count } of dates) {
    for (let part = 0, from = Number(first); from < Number(first + count); part++, from += ROWS_PER_FILE) {
      const slice = `${batch} WHERE recorded_date = ${literal(recordedDate)} AND rowid >= ${from} AND rowid < ${from + ROWS_PER_FILE}`
      const path = dataPath(spec.name, version, recordedDate, digest, part)
      const stored = await upload(context, tablePath(spec.name, path), spec, slice)
      files.push({
        path,
        recordedDate,
        sizeBytes: stored.byteLength,
        sha256: sha256Hex(stored),
        stats: JSON.stringify(await statisticsIn(database, spec, slice)),
      })
    }
  }
  await database.run(`DROP TABLE ${batch}`)
  return files
}

/**
 * Writes a slice of the batch as a data file and returns the stored bytes. An earlier attempt by another
 * version of DuckDB may have written the same rows as other bytes: then those stay.
 *
 * @throws ServiceError `corrupt` if the object is there with other rows.
 */
async function upload(
  context: DataFileContext,
  path: string,
  spec: TableSpec,
  slice: string,
): Promise<Uint8Array> {
  const { store, database, directory } = context
  // DuckDB keeps the order of a table's rows through WHERE and COPY.
  const sorted = `SELECT * EXCLUDE (recorded_date) FROM ${slice}`
  const bytes = await parquetOf(context, sha256Hex(path), sorted, spec.rowsPerGroup)
  if (await store.putIfAbsent(path, bytes)) return bytes
  const stored = await present(store, path)
  if (Buffer.compare(stored, bytes) === 0) return stored
  const file = join(directory, `${sha256Hex(path)}-stored.parquet`)
  await writeFile(file, stored)
  try {
    if (await haveSameRows(database, `(${sorted})`, `(SELECT ${columnsOf(spec)} FROM ${parquet([file])})`)) {
      return stored
    }
  } catch (error) {
    if (!(error instanceof ServiceError && error.kind === 'corrupt')) throw error
  } finally {
    await rm(file)
  }
  throw new ServiceError(
    'corrupt',
    `${path} holds other rows than the inbox objects that it was made from; no commit names it yet, so move it out of the bucket and run again`,
  )
}

async function haveSameRows(database: Database, one: string, other: string): Promise<boolean> {
  const [row] = await database.rows(
    `(FROM ${one} EXCEPT ALL FROM ${other}) UNION ALL (FROM ${other} EXCEPT ALL FROM ${one}) LIMIT 1`,
  )
  return row === undefined
}

/** The levels of zstd: a table is read for years, the inbox is read once and soon. */
const COMPRESSION_LEVEL = { table: 3, inbox: 1 }

/** The rows of a query as a Parquet file. No other call may use `name` at the same time. */
export async function parquetOf(
  { database, directory }: Pick<DataFileContext, 'database' | 'directory'>,
  name: string,
  select: string,
  rowsPerGroup: number,
  use: keyof typeof COMPRESSION_LEVEL = 'table',
): Promise<Uint8Array> {
  const file = join(directory, `${name}.parquet`)
  await database.run(
    `COPY (${select}) TO ${literal(file)}
     (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL ${COMPRESSION_LEVEL[use]}, ROW_GROUP_SIZE ${rowsPerGroup})`,
  )
  const bytes = await readFile(file)
  await rm(file)
  return bytes
}

/**
 * Bounds of prose are cut to this many characters. A cut upper bound ends in U+10FFFF, which sorts after
 * every character and is in no text.
 */
const BOUND_CHARACTERS = 32

/**
 * Returns the statistics of every column. If only some columns had bounds, the reader `deltalake` would find
 * no rows when it filters by another.
 */
async function statisticsIn(database: Database, { columns }: TableSpec, slice: string): Promise<Statistics> {
  const text = (type: ColumnType, value: string) =>
    type === 'time'
      ? `strftime(${value} AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ')`
      : type === 'day'
        ? `${value}::VARCHAR`
        : value
  const least = (name: string, type: ColumnType) =>
    type === 'prose' ? `min(left(${name}, ${BOUND_CHARACTERS}))` : text(type, `min(${name})`)
  const greatest = (name: string, type: ColumnType) =>
    type === 'prose'
      ? `max(left(${name}, ${BOUND_CHARACTERS}) || if(length(${name}) > ${BOUND_CHARACTERS}, chr(1114111), ''))`
      : text(type, `max(${name})`)
  const selected = columns.flatMap(({ name, type }) => [
    `${least(name, type)} AS min_${name}`,
    `${greatest(name, type)} AS max_${name}`,
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
    ) as Statistics['minValues']
  const nullCount = Object.fromEntries(columns.map(({ name }) => [name, Number(row[`nulls_${name}`])]))
  return { numRecords: Number(row['rows']), minValues: pick('min'), maxValues: pick('max'), nullCount }
}
