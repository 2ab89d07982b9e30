// Encodes and parses Delta Lake's commits: reader version 1, writer version 2 and append only, so that any Delta reader
// can read the tables.
// https://github.com/delta-io/delta/blob/master/PROTOCOL.md
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { type Column, type ColumnType, type TableName, tableSpec } from '../../schemas/tables.ts'

/** Marks the commits of this service. */
const ENGINE = 'forecast-verification-service'

const DELTA_TYPES: Record<ColumnType, string> = {
  uuid: 'string',
  text: 'string',
  probability: 'double',
  count: 'long',
  day: 'date',
  time: 'timestamp',
}

const bounds = z.record(z.string(), z.union([z.string(), z.number()])).default({})

const statistics = z.object({
  numRecords: z.number(),
  /** The smallest and largest value of each column that has values, for readers that skip files. */
  minValues: bounds,
  maxValues: bounds,
  /** The number of rows without a value, for each column. */
  nullCount: z.record(z.string(), z.number()).default({}),
})

/** A data file of a table, with what the commit that adds it says about it. */
export interface DataFile extends Omit<z.infer<typeof statistics>, 'numRecords'> {
  /** Relative to the table. */
  path: string
  recordedDate: string
  sizeBytes: number
  rows: number
}

const ownCommit = z.object({ commitInfo: z.object({ engineInfo: z.literal(ENGINE) }) })

const action = z.union([
  ownCommit,
  z.strictObject({ protocol: z.unknown() }),
  z.strictObject({ metaData: z.unknown() }),
  z.strictObject({
    add: z.object({
      path: z.string(),
      partitionValues: z.object({ recorded_date: z.string() }),
      size: z.number(),
      stats: z.string(),
    }),
  }),
])

/** The commit that creates a table: its protocol, schema and partitioning, without rows. */
export function creationCommit(table: TableName, id: string, nowMs: number): Uint8Array {
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
  return encode([
    commitInfo(nowMs, 'CREATE TABLE', {}),
    { protocol: { minReaderVersion: 1, minWriterVersion: 2 } },
    {
      metaData: {
        id,
        name: table,
        format: { provider: 'parquet', options: {} },
        schemaString: JSON.stringify({ type: 'struct', fields }),
        partitionColumns: ['recorded_date'],
        configuration: { 'delta.appendOnly': 'true' },
        createdTime: nowMs,
      },
    },
  ])
}

export function appendCommit(files: readonly DataFile[], nowMs: number): Uint8Array {
  return encode([
    commitInfo(nowMs, 'WRITE', { mode: 'Append', partitionBy: '["recorded_date"]' }),
    ...files.map(({ path, recordedDate, sizeBytes, rows, minValues, maxValues, nullCount }) => ({
      add: {
        path,
        partitionValues: { recorded_date: recordedDate },
        size: sizeBytes,
        modificationTime: nowMs,
        dataChange: true,
        stats: JSON.stringify({ numRecords: rows, minValues, maxValues, nullCount }),
      },
    })),
  ])
}

/**
 * The files that a commit adds. `path` is the commit's, for the message.
 *
 * @throws ServiceError `corrupt` for a commit that this service did not write. Another writer may have rewritten files,
 *   or taken a version that has an intake, so going on could lose rows or count them twice.
 */
export function filesOf(commit: Uint8Array, path: string): DataFile[] {
  const files: DataFile[] = []
  for (const [index, line] of new TextDecoder().decode(commit).trimEnd().split('\n').entries()) {
    try {
      const parsed = (index === 0 ? ownCommit : action).parse(JSON.parse(line))
      if (!('add' in parsed)) continue
      const { add } = parsed
      const { numRecords, ...columns } = statistics.parse(JSON.parse(add.stats))
      files.push({
        path: add.path,
        recordedDate: add.partitionValues.recorded_date,
        sizeBytes: add.size,
        rows: numRecords,
        ...columns,
      })
    } catch (cause) {
      throw new ServiceError('corrupt', `${path} is not a commit of this service: ${line.slice(0, 200)}`, {
        cause,
      })
    }
  }
  return files
}

function commitInfo(timestamp: number, operation: string, operationParameters: object): object {
  return { commitInfo: { timestamp, operation, operationParameters, engineInfo: ENGINE } }
}

function encode(actions: readonly object[]): Uint8Array {
  return new TextEncoder().encode(actions.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
}
