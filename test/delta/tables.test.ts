import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { FileStore } from '../../pipeline/store/file.ts'
import { deltaLogPath, tablePath } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { isReplaced } from '../../pipeline/tables/views.ts'
import { writeCheckpoint } from '../../pipeline/tables/checkpoint.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { giveUp } from '../../pipeline/tables/give-up.ts'
import { type NewDataFile, type Statistics, statisticsOf } from '../../pipeline/tables/delta.ts'
import { type Row, TABLE_NAMES, type TableName, tableSpec } from '../../schemas/tables.ts'
import { bucketStore, freshBucket, s3Server } from '../support/buckets.ts'
import { makeFolder } from '../support/folder.ts'
import { askPython, python } from '../support/python-reader.ts'
import { rowTexts, rowsDigest, sampleRows } from '../support/worlds/table-rows.ts'
import { currentVersion, openWorker, readRows, send } from '../support/tables.ts'

/** The rows of each version after the table's creation. One without rows was given up. */
const ROWS_PER_VERSION = [500, 1, 0, 2_000]
const VERSIONS = ROWS_PER_VERSION.length

interface Seen {
  rows: number
  digest: string
  days: string[]
  misplaced: number
}

interface Described
  extends Pick<NewDataFile, 'path' | 'recordedDate' | 'sizeBytes'>, Omit<Statistics, 'numRecords'> {
  rows: number
}

interface Answer {
  version: number
  schema: [name: string, type: string, nullable: boolean][]
  partitioned_by: string[]
  files: Described[]
  deltalake: Seen
  polars: Seen
  polars_types: Record<string, string>
  equal: Record<string, { deltalake: number; polars: number }>
}

interface Place {
  store: Store
  url: (table: TableName) => string
  options: Record<string, string>
}

describe.skipIf(!python)('on disk', () => {
  readersAgree(async (folder) => {
    const store = await FileStore.begin(join(folder, 'store'))
    return {
      store,
      url: (table) => pathToFileURL(store.localPath(tablePath(table, 'x').slice(0, -2))).href,
      options: {},
    }
  })
})

describe.skipIf(!python || !s3Server)('in a bucket of an S3 server', () => {
  readersAgree(async () => {
    const bucket = await freshBucket()
    return {
      store: bucketStore(bucket, 'some/prefix/'),
      url: (table) => `s3://${bucket}/some/prefix/tables/${table}`,
      options: {
        AWS_ENDPOINT_URL: s3Server!.S3_ENDPOINT,
        AWS_ALLOW_HTTP: 'true',
        AWS_ACCESS_KEY_ID: s3Server!.AWS_ACCESS_KEY_ID,
        AWS_SECRET_ACCESS_KEY: s3Server!.AWS_SECRET_ACCESS_KEY,
        AWS_REGION: s3Server!.AWS_REGION,
      },
    }
  })
})

function readersAgree(open: (folder: string) => Promise<Place>): void {
  let place: Place
  let worker: Awaited<ReturnType<typeof openWorker>>

  beforeAll(async () => {
    const { path: folder, remove } = await makeFolder()
    place = await open(folder)
    worker = await openWorker(place.store, folder)
    for (const table of TABLE_NAMES) {
      let sent = 0
      for (const [index, count] of ROWS_PER_VERSION.entries()) {
        if (count === 0) {
          await giveUp(worker, table, index + 1)
          continue
        }
        await send(place.store, table, `object-${index}`, sampleRows(table, count, sent))
        await compact(worker, table)
        sent += count
      }
    }
    return async () => {
      worker[Symbol.dispose]()
      await remove()
    }
  })

  describe.for([...TABLE_NAMES])('the table %s', (table) => {
    test('has the same rows for deltalake, polars and DuckDB', async () => {
      const answer = await ask(place, table)
      const read = await readRows(worker, table)
      expect(unrecorded(table, read)).toEqual(unrecorded(table, sampleRows(table, total(VERSIONS))))
      const rows = rowTexts(table, read)
      const expected = {
        rows: rows.length,
        digest: rowsDigest(rows),
        days: isReplaced(table) ? expect.any(Array) : ['2026-01-30', '2026-01-31', '2026-02-01'],
        misplaced: 0,
      }
      expect(answer.version).toBe(VERSIONS)
      expect(answer.deltalake).toEqual(expected)
      expect(answer.polars).toEqual(expected)
    })

    test('has the same rows at each older version', async () => {
      for (let version = 0; version < VERSIONS; version++) {
        const answer = await ask(place, table, { version })
        const rows = rowTexts(table, await readRows(worker, table, version))
        expect(rows).toHaveLength(total(version))
        const expected = { rows: rows.length, digest: rowsDigest(rows) }
        expect(answer.version).toBe(version)
        expect(answer.deltalake).toMatchObject(expected)
        expect(answer.polars).toMatchObject(expected)
      }
    })

    test('has the columns of its specification, and the day of recording as partition', async () => {
      const types = {
        uuid: 'string',
        text: 'string',
        prose: 'string',
        probability: 'double',
        count: 'long',
        day: 'date',
        time: 'timestamp',
      }
      const polarsTypes = {
        string: 'String',
        double: 'Float64',
        long: 'Int64',
        timestamp: "Datetime(time_unit='us', time_zone='UTC')",
        date: 'Date',
      }
      const fields: Answer['schema'] = tableSpec(table).columns.map(({ name, type, nullable }) => [
        name,
        types[type],
        nullable,
      ])
      fields.push(['recorded_date', 'date', false])
      const answer = await ask(place, table)
      expect(answer.schema).toEqual(fields)
      expect(answer.partitioned_by).toEqual(['recorded_date'])
      expect(answer.polars_types).toEqual(
        Object.fromEntries(
          fields.map(([name, type]) => [name, polarsTypes[type as keyof typeof polarsTypes]]),
        ),
      )
    })

    test('gives the bounds of each file, and readers that skip files by them find every row', async () => {
      const { columns } = tableSpec(table)
      const rows = await readRows(worker, table)
      const { files } = await currentVersion(place.store, table)
      // The first sample has nulls in every column that may have them, and the second has none.
      for (const row of sampleRows(table, 2)) {
        const equal = Object.fromEntries(columns.map(({ name }) => [name, asText(row[name]!)]))
        const answer = await ask(place, table, { equal })
        const known = files.map((file): Described => {
          const { path, recordedDate, sizeBytes } = file
          const { numRecords, ...bounds } = statisticsOf(file)
          return { path, recordedDate, sizeBytes, rows: numRecords, ...bounds }
        })
        expect(answer.files).toEqual(known.toSorted((a, b) => (a.path < b.path ? -1 : 1)))
        for (const [name, value] of Object.entries(equal)) {
          const matching = rows.filter((other) => asText(other[name]!) === value).length
          expect(matching).toBeGreaterThan(0)
          expect(answer.equal[name], name).toEqual({ deltalake: matching, polars: matching })
        }
      }
    })

    test('is read from its checkpoint, with statistics and tags, once the older commits are taken away', async () => {
      await writeCheckpoint(worker, await currentVersion(place.store, table))
      for (let version = 0; version < VERSIONS; version++) {
        await place.store.delete(deltaLogPath(table, version))
      }
      const rows = rowTexts(table, await readRows(worker, table))
      expect(rows).toHaveLength(total(VERSIONS))
      const answer = await ask(place, table)
      const expected = { rows: rows.length, digest: rowsDigest(rows) }
      expect(answer.deltalake).toMatchObject(expected)
      expect(answer.polars).toMatchObject(expected)
      const { files } = await currentVersion(place.store, table)
      expect(answer.files.map(({ path }) => path)).toEqual(files.map(({ path }) => path).sort())
    })
  })
}

/** Without the time of recording, which is moved where rows replace each other. */
function unrecorded(table: TableName, rows: readonly Row[]): string[] {
  return rowTexts(
    table,
    rows.map((row) => ({ ...row, recorded_at: null })),
  )
}

function asText(value: Row[string]): string | null {
  return value instanceof Date ? value.toISOString() : value === null ? null : String(value)
}

function total(version: number): number {
  return ROWS_PER_VERSION.slice(0, version).reduce((sum, count) => sum + count, 0)
}

function ask(
  { url, options }: Place,
  table: TableName,
  { version = null, equal = {} }: { version?: number | null; equal?: Record<string, string | null> } = {},
): Promise<Answer> {
  const columns = tableSpec(table).columns.map(({ name, type }) => ({ name, type }))
  return askPython('read_tables.py', { url: url(table), storage_options: options, version, equal, columns })
}
