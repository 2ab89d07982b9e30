// Files of plain numbers, as two readers find them that know nothing of their writer: DuckDB and hyparquet.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { beforeAll, expect, test } from 'vitest'
import { Database, parquet } from '../../pipeline/duckdb.ts'
import { ColumnFile } from '../../pipeline/engine/column-file.ts'
import { suiteFolder } from '../support/folder.ts'

const KINDS = { entity: 'int32', score: 'double', place: 'int32' } as const
type Numbers = Record<keyof typeof KINDS, number>

const folder = await suiteFolder()
const location = join(folder, 'numbers.parquet')
let database: Database
beforeAll(async () => {
  database = await Database.open({ threads: 2, memoryLimit: '256MB', directory: folder })
  return () => database[Symbol.dispose]()
})

function write(rows: Iterable<Numbers>, path = location): void {
  using file = new ColumnFile(path, KINDS)
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) file.columns[name as keyof Numbers][file.row] = value
    file.next()
  }
  file.close()
}

async function bytesOf(rows: Iterable<Numbers>): Promise<Buffer> {
  write(rows)
  return readFile(location)
}

const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })
const numbers = fc.record({ entity: int32, score: fc.double({ noNaN: true }), place: int32 })

test('any numbers come back as they are, to the bit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(numbers), async (rows) => {
      const bytes = await bytesOf(rows)
      const plain = rows.map((row) => ({ ...row }))
      expect(await database.rows(`FROM ${parquet([location])}`)).toEqual(plain)
      expect(await parquetReadObjects({ file: new Uint8Array(bytes).buffer })).toEqual(plain)
    }),
    { numRuns: 50 },
  )
})

test('many rows are in row groups that end on whole vectors of DuckDB, and the rest in one more', async () => {
  const rows = Array.from({ length: 100_000 }, (_, at) => ({ entity: at, score: at / 3, place: 1 - at }))
  const bytes = await bytesOf(rows)
  const groups = parquetMetadata(new Uint8Array(bytes).buffer).row_groups.map(({ num_rows }) =>
    Number(num_rows),
  )
  expect(groups).toEqual([40_960, 40_960, 18_080])
  const blocks = database.columns(`FROM ${parquet([location])}`, KINDS)
  let at = 0
  for await (const { rowCount, columns } of blocks) {
    for (let row = 0; row < rowCount; row++, at++) {
      const found = { entity: columns.entity[row], score: columns.score[row], place: columns.place[row] }
      expect(found).toEqual(rows[at])
    }
  }
  expect(at).toBe(rows.length)
})

test('no rows are a file with the columns', async () => {
  write([])
  expect(
    await database.rows(`SELECT column_name, column_type FROM (DESCRIBE FROM ${parquet([location])})`),
  ).toEqual([
    { column_name: 'entity', column_type: 'INTEGER' },
    { column_name: 'score', column_type: 'DOUBLE' },
    { column_name: 'place', column_type: 'INTEGER' },
  ])
  expect(await database.rows(`FROM ${parquet([location])}`)).toEqual([])
})

test('a file replaces a longer one that was there before', async () => {
  await bytesOf(Array.from({ length: 1_000 }, () => ({ entity: 1, score: 2, place: 3 })))
  const row = { entity: 4, score: 5, place: 6 }
  await bytesOf([row])
  expect(await database.rows(`FROM ${parquet([location])}`)).toEqual([row])
})

test('a disk that is full, and a folder that is gone, are unavailable, with the location', () => {
  expect(() => write([], '/dev/full')).toThrow(
    expect.objectContaining({ kind: 'unavailable', message: '/dev/full cannot be written (ENOSPC)' }),
  )
  const gone = join(folder, 'gone', 'numbers.parquet')
  expect(() => write([], gone)).toThrow(
    expect.objectContaining({ kind: 'unavailable', message: `${gone} cannot be written (ENOENT)` }),
  )
})
