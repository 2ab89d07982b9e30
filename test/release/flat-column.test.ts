// Columns as they are decoded for pages of scores: the same as DuckDB reads them from the same files.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parquetMetadata } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { beforeAll, describe, expect, test } from 'vitest'
import { Database, literal, parquet } from '../../pipeline/duckdb.ts'
import { flatColumn } from '../../pipeline/release/flat-column.ts'
import { suiteFolder } from '../support/folder.ts'

const ROWS = 5_000
const ROW_GROUP = 2_048
/**
 * As DuckDB encodes them: with a dictionary or without, with values missing here and there, everywhere, or
 * nowhere.
 */
const COLUMNS: Record<string, string> = {
  doubles: 'n / 7',
  'doubles, some missing': 'CASE WHEN n % 3 = 0 THEN NULL ELSE n / 7 END',
  'doubles, the first missing': `CASE WHEN n % ${ROW_GROUP} < 100 THEN NULL ELSE n / 7 END`,
  'doubles, the last missing': `CASE WHEN n % ${ROW_GROUP} >= 100 THEN NULL ELSE n / 7 END`,
  'doubles, all missing': 'NULL::DOUBLE',
  'doubles that are alike': '(n % 4) / 7',
  'doubles that are one': '0.25::DOUBLE',
  integers: '(n * 97)::INTEGER',
  'long integers': '(n * 10000000019)::BIGINT',
  'long integers, some missing': 'CASE WHEN n % 5 = 0 THEN NULL ELSE (n * 10000000019)::BIGINT END',
  texts: `'text ' || n`,
  'texts that are alike': `'text ' || n % 9`,
  'texts that are alike, some missing': `CASE WHEN n % 4 = 1 THEN NULL ELSE 'text ' || n % 9 END`,
  times: `TIMESTAMPTZ '2026-01-01 00:00:00Z' + n * INTERVAL 1 MINUTE`,
  truths: 'n % 3 = 0',
  'truths, some missing': 'CASE WHEN n % 2 = 0 THEN NULL ELSE n % 3 = 0 END',
}

const folder = await suiteFolder()
const location = join(folder, 'columns.parquet')
let bytes: Uint8Array
/** As DuckDB reads them. */
let expected: Record<string, unknown>[]
beforeAll(async () => {
  bytes = await written(Object.keys(COLUMNS), location)
  using database = await open()
  expected = await database.rows(`SELECT * FROM ${parquet([location])}`)
})

const open = () => Database.open({ threads: 1, memoryLimit: '256MB', directory: folder })

async function written(names: readonly string[], path: string): Promise<Uint8Array> {
  const columns = names.map((name) => `${COLUMNS[name]} AS "${name}"`)
  using database = await open()
  await database.run(
    `COPY (SELECT ${columns.join(', ')} FROM range(${ROWS}) AS numbers(n)) TO ${literal(path)}
     (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP})`,
  )
  return new Uint8Array(await readFile(path))
}

/** Row group by row group. */
function decoded(file: Uint8Array, name: string): unknown[] {
  const metadata = parquetMetadata(file)
  return metadata.row_groups.flatMap((_, nth) =>
    Array.from<unknown>(flatColumn(metadata, nth, name, { offset: 0, bytes: file })),
  )
}

describe('a column of DuckDB', () => {
  test.for(Object.keys(COLUMNS))('of %s', (name) => {
    expect(expected).toHaveLength(ROWS)
    expect(decoded(bytes, name)).toEqual(expected.map((row) => row[name]))
  })
})

test('numbers of which none is missing are a typed array, which is no work for the garbage collector', () => {
  const values = flatColumn(parquetMetadata(bytes), 0, 'doubles', { offset: 0, bytes })
  expect(values).toBeInstanceOf(Float64Array)
})

test('a column that must have values has no levels: what looks like them is a value', () => {
  const file = { offset: 0, bytes }
  const metadata = parquetMetadata(bytes)
  expect(flatColumn(metadata, 0, 'doubles', file)[0]).toBe(0)
  metadata.schema.find(({ name }) => name === 'doubles')!.repetition_type = 'REQUIRED'
  expect(flatColumn(metadata, 0, 'doubles', file)[0]).not.toBe(0)
})

test.for(['doubles', 'doubles, some missing'])(
  '%s of several pages are those of all of them',
  async (name) => {
    const file = await written([name], join(folder, 'one-column.parquet'))
    const metadata = parquetMetadata(file)
    // The only column of a row group is followed by that of the next one.
    const [first, ...others] = metadata.row_groups.map(({ columns }) => columns[0]!.meta_data!)
    for (const { total_compressed_size } of others) first!.total_compressed_size += total_compressed_size
    const values = flatColumn(metadata, 0, name, { offset: 0, bytes: file })
    expect(Array.from<unknown>(values)).toEqual(decoded(bytes, name))
  },
)

test('a page of another kind than DuckDB writes is refused', () => {
  const columnData = [{ name: 'value', data: [1, 2], type: 'DOUBLE' as const }]
  const file = new Uint8Array(parquetWriteBuffer({ columnData }))
  expect(() => decoded(file, 'value')).toThrow('a page of type DATA_PAGE_V2 in value')
})

test('what the footer says of another file is told', () => {
  const metadata = parquetMetadata(bytes)
  const ofStart = { offset: 0, bytes: bytes.subarray(0, 100) }
  expect(() => flatColumn(metadata, 1, 'doubles', ofStart)).toThrow('its footer is of another file')
  metadata.row_groups[0]!.columns[0]!.meta_data!.codec = 'LZO'
  expect(() => flatColumn(metadata, 0, 'doubles', { offset: 0, bytes })).toThrow('codec: LZO')
})

test('a column that is missing or has members is refused', () => {
  const columnData = [{ name: 'list', data: [[1], [2, 3]] }]
  const schema = [
    { name: 'root', num_children: 1 },
    { name: 'list', repetition_type: 'OPTIONAL' as const, num_children: 1, converted_type: 'LIST' as const },
    { name: 'list', repetition_type: 'REPEATED' as const, num_children: 1 },
    { name: 'element', repetition_type: 'OPTIONAL' as const, type: 'DOUBLE' as const },
  ]
  const file = new Uint8Array(parquetWriteBuffer({ columnData, schema }))
  for (const name of ['list', 'missing']) {
    expect(() => decoded(file, name)).toThrow(`no column ${name} without lists`)
  }
})
