// Encodes and parses Delta Lake's commits: reader version 1, writer version 2 and append only, so that any
// Delta reader can read the tables.
// https://github.com/delta-io/delta/blob/master/PROTOCOL.md
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import type { ErasedPerson, UndoneImport } from '../../schemas/manifests.ts'
import { sha256 } from '../../schemas/values.ts'
import { sha256Hex } from '../proof/canonical.ts'
import { deltaLogPath } from '../store/paths.ts'
import { type Column, type ColumnType, type TableName, tableSpec } from '../../schemas/tables.ts'

/** Marks the commits of this service. */
const ENGINE = 'forecast-verification-service'

const DELTA_TYPES: Record<ColumnType, string> = {
  uuid: 'string',
  text: 'string',
  prose: 'string',
  probability: 'double',
  count: 'long',
  day: 'date',
  time: 'timestamp',
}

const bounds = z.record(z.string(), z.union([z.string(), z.number()])).default({})

const statistics = z.object({
  /** The number of rows. */
  numRecords: z.number(),
  /** The smallest and largest value of each column that has values, for readers that skip files. */
  minValues: bounds,
  maxValues: bounds,
  /** The number of rows without a value, for each column. */
  nullCount: z.record(z.string(), z.number()).default({}),
})

export type Statistics = z.infer<typeof statistics>

/** A data file on its way into a table. */
export interface NewDataFile {
  /** Relative to the table. */
  path: string
  recordedDate: string
  sizeBytes: number
  sha256: string
  /**
   * The statistics as JSON, as in commits and checkpoints. They stay unparsed, because most readers of a log
   * need none.
   */
  stats: string
}

/** @throws ZodError for statistics that this service did not write. */
export function statisticsOf({ stats }: Pick<NewDataFile, 'stats'>): Statistics {
  return statistics.parse(JSON.parse(stats))
}

/** A data file of a table, as described by the commit that adds it. */
export interface DataFile extends NewDataFile {
  /** The version of the table that added it. */
  version: number
  /** When it was added, by the clock of the machine that added it. */
  modifiedMs: number
}

/** A table at a version. */
export interface TableVersion {
  table: TableName
  /** -1 before the table's first commit. */
  version: number
  files: readonly DataFile[]
  /** The files of imports that were undone, which `files` lacks. */
  undone?: readonly UndoneFile[] | undefined
  /** The people whose rows are in `files` but do not count. */
  erased?: readonly ErasedPerson[] | undefined
}

/** The imports and people that a release leaves out, as in its plan and its manifest. */
export interface LeftOut {
  undone_imports?: readonly UndoneImport[] | undefined
  erased_people?: readonly ErasedPerson[] | undefined
}

/** The state of the tables that a release reads, as in its plan and its manifest. */
export interface TablesRead extends LeftOut {
  tables: Readonly<Record<string, number>>
}

export interface UndoneFile extends DataFile {
  by: UndoneImport
}

const ownCommit = z.object({ commitInfo: z.object({ engineInfo: z.literal(ENGINE), operation: z.string() }) })

const action = z.union([
  ownCommit,
  z.strictObject({ protocol: z.unknown() }),
  z.strictObject({ metaData: z.unknown() }),
  z.strictObject({ add: z.unknown() }),
])

/** The description of a data file in a commit. */
const addAction = z.object({
  path: z.string(),
  partitionValues: z.object({ recorded_date: z.string() }),
  size: z.number(),
  modificationTime: z.number(),
  stats: z.string(),
  tags: z.object({ sha256 }),
})

/** The schema of a table as it is now, in Delta's form. */
function schemaString(table: TableName): string {
  const date: Column = {
    name: 'recorded_date',
    type: 'day',
    nullable: false,
    about: 'UTC day of recorded_at',
  }
  const fields = [...tableSpec(table).columns, date].map(({ name, type, nullable, about }) => ({
    name,
    type: DELTA_TYPES[type],
    nullable,
    metadata: { comment: about },
  }))
  return JSON.stringify({ type: 'struct', fields })
}

/** The commit that creates a table: its protocol, schema and partitioning, without rows. */
export function creationCommit(table: TableName, id: string, nowMs: number): Uint8Array {
  return encode(deltaLogPath(table, 0), commitInfo(nowMs, 'CREATE TABLE', {}), [
    { protocol: { minReaderVersion: 1, minWriterVersion: 2 } },
    {
      metaData: {
        id,
        name: table,
        format: { provider: 'parquet', options: {} },
        schemaString: schemaString(table),
        partitionColumns: ['recorded_date'],
        configuration: { 'delta.appendOnly': 'true' },
        createdTime: nowMs,
      },
    },
  ])
}

/** The commit of a version that adds data files. */
export function appendCommit(
  table: TableName,
  version: number,
  files: readonly NewDataFile[],
  nowMs: number,
): Uint8Array {
  const info = commitInfo(nowMs, 'WRITE', { mode: 'Append', partitionBy: '["recorded_date"]' })
  const adds = files.map((file) => {
    return { add: { ...addOf(file, nowMs), dataChange: true, tags: { sha256: file.sha256 } } }
  })
  return encode(deltaLogPath(table, version), info, adds)
}

/** The operation of a commit that adds nothing, because its intake or objects are unreadable. */
const GIVE_UP = 'GIVE UP'

/**
 * Returns the commit of a version that takes in nothing, so that the next version takes in the readable
 * objects.
 */
export function giveUpCommit(table: TableName, version: number, nowMs: number): Uint8Array {
  return encode(deltaLogPath(table, version), commitInfo(nowMs, GIVE_UP, {}), [])
}

/**
 * Whether a commit gives its version up.
 *
 * @throws ServiceError as `filesOf` does.
 */
export function isGivenUp(commit: Uint8Array, table: TableName, version: number): boolean {
  filesOf(commit, table, version)
  const [first] = new TextDecoder().decode(commit).split('\n')
  return ownCommit.parse(JSON.parse(first!)).commitInfo.operation === GIVE_UP
}

/** Describes a data file for a checkpoint. */
export function checkpointAdd(file: DataFile): object {
  const tags = { sha256: file.sha256, version: String(file.version) }
  return { ...addOf(file, file.modifiedMs), dataChange: false, tags }
}

function addOf(file: NewDataFile, modificationTime: number): object {
  const { path, recordedDate, sizeBytes, stats } = file
  return { path, partitionValues: { recorded_date: recordedDate }, size: sizeBytes, modificationTime, stats }
}

/** Returns the data file that an `add` of a commit describes. @throws ZodError if something is missing. */
function dataFileOf(add: unknown, version: number): DataFile {
  const { path, partitionValues, size, modificationTime, stats, tags } = addAction.parse(add)
  return {
    path,
    recordedDate: partitionValues.recorded_date,
    sizeBytes: size,
    sha256: tags.sha256,
    stats,
    version,
    modifiedMs: modificationTime,
  }
}

/**
 * Returns the files that the commit of a version adds.
 *
 * @throws ServiceError `corrupt` for a commit that is damaged, lies at another path, or comes from another
 *   writer. Another writer may have rewritten files, or taken a version that has an intake, so going on could
 *   lose rows or count them twice.
 */
export function filesOf(commit: Uint8Array, table: TableName, version: number): DataFile[] {
  const path = deltaLogPath(table, version)
  const files: DataFile[] = []
  const text = new TextDecoder().decode(commit)
  for (const [index, line] of text.trimEnd().split('\n').entries()) {
    try {
      if (index === 0) assertChecksum(path, text)
      const parsed = (index === 0 ? ownCommit : action).parse(JSON.parse(line))
      if (!('add' in parsed)) continue
      files.push(dataFileOf(parsed.add, version))
    } catch (cause) {
      const reason = cause instanceof z.ZodError || !(cause instanceof Error) ? '' : `${cause.message}: `
      throw new ServiceError(
        'corrupt',
        `${path} is not a whole commit of this service: ${reason}${line.slice(0, 200)}`,
        { cause },
      )
    }
  }
  return files
}

function commitInfo(timestamp: number, operation: string, operationParameters: object): object {
  return { timestamp, operation, operationParameters, engineInfo: ENGINE }
}

/** Encodes a commit. Its first action holds a checksum of the path and of everything else in it. */
function encode(path: string, info: object, actions: readonly object[]): Uint8Array {
  const rest = actions.map(lineOfAction).join('')
  const checksum = checksumOf(path, info, rest)
  return new TextEncoder().encode(lineOfAction({ commitInfo: { ...info, checksum } }) + rest)
}

function checksumOf(path: string, info: object, rest: string): string {
  return sha256Hex(`${path}\n${lineOfAction({ commitInfo: info })}${rest}`)
}

function lineOfAction(entry: object): string {
  return `${JSON.stringify(entry)}\n`
}

function assertChecksum(path: string, commit: string): void {
  const end = commit.indexOf('\n') + 1
  const first = JSON.parse(commit.slice(0, end)) as { commitInfo: Record<string, unknown> }
  const { checksum, ...info } = first.commitInfo
  const expected = checksumOf(path, info, commit.slice(end))
  if (checksum !== expected) throw new Error(`its checksum is ${String(checksum)}, expected ${expected}`)
}
