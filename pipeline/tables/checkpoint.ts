// Delta checkpoints: the state of a table at a version in one Parquet file, so that a late reader need not
// read every commit.
// https://github.com/delta-io/delta/blob/master/PROTOCOL.md#checkpoints
import { createHash } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parquetReadObjects } from 'hyparquet'
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import type { TableName } from '../../schemas/tables.ts'
import { literal } from '../duckdb.ts'
import { sha256 } from '../../schemas/values.ts'
import { checkpointPath, deltaLogPath, lastCheckpointPath } from '../store/paths.ts'
import { type Store, present } from '../store/store.ts'
import type { DataFileContext } from './data-files.ts'
import { COMPRESSORS } from './compressors.ts'
import { type DataFile, type TableVersion, checkpointAdd } from './delta.ts'

const CHECKPOINT_COLUMNS = {
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
  const creation = await present(store, deltaLogPath(table, 0))
  const [, protocol, metaData] = new TextDecoder().decode(creation).split('\n')
  const adds = files.map((file) => JSON.stringify({ add: checkpointAdd(file) }))
  const path = checkpointPath(table, version)
  const [actions, parquet] = ['json', 'parquet'].map((format) => join(directory, `checkpoint.${format}`))
  await writeFile(actions!, [protocol, metaData, ...adds, ''].join('\n'))
  const columns = Object.entries(CHECKPOINT_COLUMNS).map(
    ([name, type]) => `${literal(name)}: ${literal(type)}`,
  )
  await database.run(
    `COPY (FROM read_json(${literal(actions!)}, format = 'newline_delimited', columns = {${columns.join(', ')}}))
     TO ${literal(parquet!)} (FORMAT parquet, COMPRESSION zstd)`,
  )
  const bytes = await readFile(parquet!)
  await Promise.all([rm(actions!), rm(parquet!)])
  // This replaces a damaged checkpoint.
  await store.put(path, bytes)
  const hint: LastCheckpoint = {
    version,
    size: adds.length + 2,
    sizeInBytes: bytes.byteLength,
    numOfAddFiles: adds.length,
    tags: { sha256: hashOf(path, bytes) },
  }
  await store.put(lastCheckpointPath(table), new TextEncoder().encode(JSON.stringify(hint)))
}

/** Hashes the path too, so that a checkpoint at the path of another one is detected. */
function hashOf(path: string, bytes: Uint8Array): string {
  return createHash('sha256').update(`${path}\n`).update(bytes).digest('hex')
}

const lastCheckpoint = z.object({
  version: z.number().int().min(0),
  /** The number of actions. */
  size: z.number(),
  sizeInBytes: z.number(),
  numOfAddFiles: z.number(),
  tags: z.object({ sha256 }),
})
type LastCheckpoint = z.infer<typeof lastCheckpoint>

/** An `add` as the Parquet reader returns it. */
interface AddRow {
  path: string
  partitionValues: { recorded_date: string }
  size: bigint
  modificationTime: bigint
  stats: string
  tags: { sha256: string; version: string }
}

/**
 * Returns the table as of its last checkpoint; undefined if it has none.
 *
 * @throws ServiceError `corrupt` if the checkpoint, or the file that names it, is not whole.
 */
export async function readCheckpoint(store: Store, table: TableName): Promise<TableVersion | undefined> {
  const hint = await store.get(lastCheckpointPath(table))
  if (!hint) return undefined
  const { version, tags } = readHint(table, hint)
  const path = checkpointPath(table, version)
  const bytes = await store.get(path)
  if (!bytes) throw damaged(path, 'it is not in the store')
  // The hash is checked before the file is parsed, because a damaged one may need any amount of memory.
  const found = hashOf(path, bytes)
  if (found !== tags.sha256) throw damaged(path, `its hash is ${found}, expected ${tags.sha256}`)
  return { table, version, files: await filesOf(bytes) }
}

function readHint(table: TableName, hint: Uint8Array): LastCheckpoint {
  try {
    return lastCheckpoint.parse(JSON.parse(new TextDecoder().decode(hint)))
  } catch (cause) {
    throw damaged(lastCheckpointPath(table), 'it does not name one', cause)
  }
}

function damaged(path: string, reason: string, cause?: unknown): ServiceError {
  return new ServiceError('corrupt', `${path} is not a whole checkpoint of this service: ${reason}`, {
    cause,
  })
}

async function filesOf(bytes: Uint8Array): Promise<DataFile[]> {
  const file = new Uint8Array(bytes).buffer
  const rows = await parquetReadObjects({ file, columns: ['add'], compressors: COMPRESSORS })
  return (rows as { add: AddRow | null }[]).flatMap(({ add }): DataFile[] =>
    add
      ? [
          {
            path: add.path,
            recordedDate: add.partitionValues.recorded_date,
            sizeBytes: Number(add.size),
            sha256: add.tags.sha256,
            stats: add.stats,
            version: Number(add.tags.version),
            modifiedMs: Number(add.modificationTime),
          },
        ]
      : [],
  )
}
