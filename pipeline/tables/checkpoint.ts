// Delta checkpoints: the state of a table at a version in one Parquet file, so that a reader who comes late need not read
// every commit. https://github.com/delta-io/delta/blob/master/PROTOCOL.md#checkpoints
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import type { TableName } from '../../schemas/tables.ts'
import { literal } from '../duckdb.ts'
import { sha256Hex } from '../proof/canonical.ts'
import { checkpointPath, deltaLogPath, lastCheckpointPath } from '../store/paths.ts'
import { type Store, present } from '../store/store.ts'
import type { DataFileContext } from './data-files.ts'
import { type DataFile, type TableVersion, checkpointAdd, dataFileOf } from './delta.ts'

/** The key of the checksum in the metadata of the file. */
const CHECKSUM = 'checksum'

const COLUMNS = {
  protocol: 'STRUCT(minReaderVersion INTEGER, minWriterVersion INTEGER)',
  metaData: `STRUCT(id VARCHAR, name VARCHAR, format STRUCT(provider VARCHAR, options MAP(VARCHAR, VARCHAR)),
    schemaString VARCHAR, partitionColumns VARCHAR[], configuration MAP(VARCHAR, VARCHAR), createdTime BIGINT)`,
  add: `STRUCT(path VARCHAR, partitionValues MAP(VARCHAR, VARCHAR), size BIGINT, modificationTime BIGINT,
    dataChange BOOLEAN, stats VARCHAR, tags MAP(VARCHAR, VARCHAR))`,
}

/** Writes the checkpoint of a version. Repeating it is harmless. */
export async function writeCheckpoint(
  { store, database, directory }: DataFileContext,
  { table, version, files }: TableVersion,
): Promise<void> {
  const creation = new TextDecoder().decode(await present(store, deltaLogPath(table, 0)))
  const [, protocol, metaData] = creation.split('\n')
  const adds = files.map((file) => JSON.stringify({ add: checkpointAdd(file) }))
  const path = checkpointPath(table, version)
  const [actions, parquet] = ['json', 'parquet'].map((format) => join(directory, `checkpoint.${format}`))
  await writeFile(actions!, [protocol, metaData, ...adds, ''].join('\n'))
  const columns = Object.entries(COLUMNS).map(([name, type]) => `${literal(name)}: ${literal(type)}`)
  await database.run(
    `COPY (FROM read_json(${literal(actions!)}, format = 'newline_delimited', columns = {${columns.join(', ')}}))
     TO ${literal(parquet!)} (FORMAT parquet, KV_METADATA {${CHECKSUM}: ${literal(checksumOf(path, files))}})`,
  )
  const bytes = await readFile(parquet!)
  await Promise.all([rm(actions!), rm(parquet!)])
  // One that is damaged is replaced.
  await store.put(path, bytes)
  const hint = { version, size: adds.length + 2, sizeInBytes: bytes.byteLength, numOfAddFiles: adds.length }
  await store.put(lastCheckpointPath(table), new TextEncoder().encode(JSON.stringify(hint)))
}

/** Over all that this service reads from a checkpoint. */
function checksumOf(path: string, files: readonly DataFile[]): string {
  return sha256Hex([path, ...files.map((file) => JSON.stringify(checkpointAdd(file)))].join('\n'))
}

const lastCheckpoint = z.object({ version: z.number().int().min(0) })
const addRow = z.object({ add: z.record(z.string(), z.unknown()).nullish() })

/**
 * The table as of its last checkpoint; undefined if it has none.
 *
 * @throws ServiceError `corrupt` if the checkpoint, or what names it, is not whole.
 */
export async function readCheckpoint(store: Store, table: TableName): Promise<TableVersion | undefined> {
  const hint = await store.get(lastCheckpointPath(table))
  if (!hint) return undefined
  const version = readVersion(table, hint)
  const path = checkpointPath(table, version)
  const bytes = await store.get(path)
  if (!bytes) throw damaged(path, new Error('it is not in the store'))
  try {
    return { table, version, files: await filesOf(path, bytes) }
  } catch (cause) {
    throw damaged(path, cause)
  }
}

function readVersion(table: TableName, hint: Uint8Array): number {
  try {
    return lastCheckpoint.parse(JSON.parse(new TextDecoder().decode(hint))).version
  } catch (cause) {
    throw damaged(lastCheckpointPath(table), cause)
  }
}

function damaged(path: string, cause: unknown): ServiceError {
  const reason = cause instanceof Error ? cause.message.slice(0, 200) : String(cause)
  return new ServiceError('corrupt', `${path} is not a whole checkpoint of this service: ${reason}`, {
    cause,
  })
}

async function filesOf(path: string, bytes: Uint8Array): Promise<DataFile[]> {
  const file = bytes.slice().buffer
  const metadata = parquetMetadata(file)
  const rows = await parquetReadObjects({ file, metadata, columns: ['add'] })
  const files: DataFile[] = []
  for (const row of rows) {
    const { add } = addRow.parse(row)
    if (add) files.push(dataFileOf(numbered(add), 0))
  }
  const stored = metadata.key_value_metadata?.find(({ key }) => key === CHECKSUM)?.value
  const expected = checksumOf(path, files)
  if (stored !== expected) throw new Error(`its checksum is ${stored}, expected ${expected}`)
  return files
}

/** Parquet's 64-bit integers as numbers. */
function numbered(add: Record<string, unknown>): object {
  return Object.fromEntries(
    Object.entries(add).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  )
}
