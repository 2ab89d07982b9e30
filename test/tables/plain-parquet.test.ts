// Plain Parquet files, as two readers find them that know nothing of their writer: DuckDB and hyparquet.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { beforeAll, describe, expect, test } from 'vitest'
import { Database, literal } from '../../pipeline/duckdb.ts'
import { SQL_TYPES } from '../../pipeline/tables/columns.ts'
import { plainParquet } from '../../pipeline/tables/plain-parquet.ts'
import { type Column, type ColumnType, type Row, TABLE_NAMES, tableSpec } from '../../schemas/tables.ts'
import { suiteFolder } from '../support/folder.ts'
import { rowTexts, sampleRows } from '../support/worlds/table-rows.ts'

const folder = await suiteFolder()
const location = join(folder, 'plain.parquet')
let database: Database
beforeAll(async () => {
  database = await Database.open({ threads: 1, memoryLimit: '256MB', directory: folder })
  return () => database[Symbol.dispose]()
})

function column(name: string, type: ColumnType, nullable = false): Column {
  return { name, type, nullable, about: '' }
}

const ONE_OF_EACH = [
  column('text', 'text'),
  column('other text', 'prose', true),
  column('probability', 'probability'),
  column('probability or none', 'probability', true),
  column('time', 'time'),
  column('count', 'count', true),
  column('day', 'day'),
]

/** A row as a test compares it: all numbers of 64 bits as `bigint`. */
type Read = Record<string, unknown>

async function byHyparquet(bytes: Uint8Array): Promise<Read[]> {
  const rows = await parquetReadObjects({ file: bytes.slice().buffer })
  return rows.map((row) => mapped(row, (value) => (value instanceof Date ? BigInt(value.getTime()) : value)))
}

async function byDuckDb(bytes: Uint8Array, columns: readonly Column[]): Promise<Read[]> {
  await writeFile(location, bytes)
  const selected = columns.map(({ name, type }) => {
    if (type === 'time') return `epoch_ms("${name}") AS "${name}"`
    return type === 'day' ? `epoch_ms("${name}"::TIMESTAMP) AS "${name}"` : `"${name}"`
  })
  return database.rows(`SELECT ${selected.join(', ')} FROM read_parquet(${literal(location)})`)
}

function asWritten(columns: readonly Column[], rows: readonly Row[]): Read[] {
  return rows.map((row) =>
    Object.fromEntries(
      columns.map(({ name, type }) => {
        const value = row[name] ?? null
        if (value === null) return [name, null]
        if (value instanceof Date) return [name, BigInt(value.getTime())]
        if (type === 'day') return [name, BigInt(Date.parse(value as string))]
        return [name, type === 'count' ? BigInt(value) : value]
      }),
    ),
  )
}

function mapped(row: Read, by: (value: unknown) => unknown): Read {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, by(value)]))
}

describe('what is read is what was written', () => {
  test.for(TABLE_NAMES.flatMap((table) => [1, 7, 8, 9, 300].map((count) => ({ table, count }))))(
    '$count rows of $table',
    async ({ table, count }) => {
      const { columns } = tableSpec(table)
      const rows = sampleRows(table, count)
      expect(rowTexts(table, rows)).toHaveLength(count)
      const bytes = plainParquet(columns, rows)
      expect(await byHyparquet(bytes)).toEqual(asWritten(columns, rows))
      expect(await byDuckDb(bytes, columns)).toEqual(asWritten(columns, rows))
    },
  )

  test.for(TABLE_NAMES)('by DuckDB in the same types as in the table %s', async (table) => {
    const { columns } = tableSpec(table)
    await writeFile(location, plainParquet(columns, sampleRows(table, 3)))
    const described = await database.rows<{ column_name: string; column_type: string }>(
      `DESCRIBE FROM read_parquet(${literal(location)})`,
    )
    const types = columns.map(({ name, type }) => [name, SQL_TYPES[type]])
    expect(
      described.map(({ column_name, column_type }) => [
        column_name,
        column_type.replace('TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ'),
      ]),
    ).toEqual(types)
  })

  test('whatever the texts, numbers and times are', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 300 })
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true })
    const earliest = Date.UTC(1, 0, 1)
    const latest = Date.UTC(9999, 11, 31)
    const row = fc.record({
      text,
      'other text': fc.option(text),
      probability: finite,
      'probability or none': fc.option(finite),
      time: fc.date({ min: new Date(earliest), max: new Date(latest), noInvalidDate: true }),
      count: fc.option(fc.maxSafeNat()),
      day: fc
        .date({ min: new Date(0), max: new Date(latest), noInvalidDate: true })
        .map((date) => date.toISOString().slice(0, 10)),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
        const bytes = plainParquet(ONE_OF_EACH, rows)
        expect(await byHyparquet(bytes)).toEqual(asWritten(ONE_OF_EACH, rows))
        expect(await byDuckDb(bytes, ONE_OF_EACH)).toEqual(asWritten(ONE_OF_EACH, rows))
      }),
      { numRuns: 50 },
    )
  })

  test.for([0, 1, 126, 127, 128, 129, 255, 256, 65_536])('texts of %i characters', async (length) => {
    const columns = [column('text', 'text')]
    const rows = ['a', 'é', '\u{7f}', '\u{80}', '\0'].map((one) => ({ text: one.repeat(length) }))
    for (const written of [rows, ...rows.map((row) => [row])]) {
      const bytes = plainParquet(columns, written)
      expect(await byHyparquet(bytes)).toEqual(written)
      expect(await byDuckDb(bytes, columns)).toEqual(written)
    }
  })

  test('half of a surrogate pair, which is no character, as U+FFFD', async () => {
    const bytes = plainParquet([column('text', 'text')], [{ text: 'a\ud83c' }])
    expect(await byHyparquet(bytes)).toEqual([{ text: 'a\ufffd' }])
  })

  test('more columns than a short list of Thrift holds', async () => {
    const columns = Array.from({ length: 200 }, (_, nth) => column(`column ${nth}`, 'count'))
    const rows = [Object.fromEntries(columns.map(({ name }, nth) => [name, nth]))]
    const bytes = plainParquet(columns, rows)
    expect(await byHyparquet(bytes)).toEqual(asWritten(columns, rows))
    expect(await byDuckDb(bytes, columns)).toEqual(asWritten(columns, rows))
  })
})

describe('the form of a file', () => {
  const rows = sampleRows('questions', 5)
  const { columns } = tableSpec('questions')
  const bytes = plainParquet(columns, rows)
  const { schema, row_groups, num_rows } = parquetMetadata(bytes.slice().buffer)

  test('the schema says of each column its type, what it means, and whether values may be missing', () => {
    const said = schema.map(({ name, type, converted_type, repetition_type }) =>
      [name, type, converted_type, repetition_type].join(' '),
    )
    expect(said).toEqual([
      'root   ',
      'question_id BYTE_ARRAY UTF8 REQUIRED',
      'title BYTE_ARRAY UTF8 REQUIRED',
      'resolution_criteria BYTE_ARRAY UTF8 OPTIONAL',
      'background BYTE_ARRAY UTF8 OPTIONAL',
      'category BYTE_ARRAY UTF8 OPTIONAL',
      'url BYTE_ARRAY UTF8 OPTIONAL',
      'event_id BYTE_ARRAY UTF8 OPTIONAL',
      'position INT64  OPTIONAL',
      'option BYTE_ARRAY UTF8 OPTIONAL',
      'source BYTE_ARRAY UTF8 OPTIONAL',
      'source_id BYTE_ARRAY UTF8 OPTIONAL',
      'opened_at INT64 TIMESTAMP_MILLIS REQUIRED',
      'closes_at INT64 TIMESTAMP_MILLIS REQUIRED',
      'reason BYTE_ARRAY UTF8 OPTIONAL',
      'recorded_at INT64 TIMESTAMP_MILLIS REQUIRED',
    ])
  })

  test('the pages follow one another from the beginning to the footer, without gaps', () => {
    expect(num_rows).toBe(5n)
    const [group] = row_groups
    expect(row_groups).toHaveLength(1)
    let offset = 4n
    for (const { meta_data } of group!.columns) {
      expect(meta_data!.data_page_offset).toBe(offset)
      offset += meta_data!.total_compressed_size
    }
    expect(group!.total_byte_size).toBe(offset - 4n)
    const footerBytes = new DataView(bytes.buffer).getUint32(bytes.length - 8, true)
    expect(offset).toBe(BigInt(bytes.length - 8 - footerBytes))
  })

  test('the same rows are the same bytes, in memory of their own', () => {
    expect(plainParquet(columns, sampleRows('questions', 5))).toEqual(bytes)
    expect(bytes.buffer.byteLength).toBe(bytes.length)
  })
})

test.for<[string, Column, Row, string]>([
  ['a missing value', column('text', 'text'), {}, 'a row has no text'],
  ['null', column('time', 'time'), { time: null }, 'a row has no time'],
  ['NaN', column('probability', 'probability'), { probability: NaN }, 'NaN is not a number'],
  ['infinity', column('probability', 'probability'), { probability: Infinity }, 'Infinity is not a number'],
  ['half a call', column('count', 'count'), { count: 0.5 }, '0.5 is not a whole number'],
  ['2^53 calls', column('count', 'count'), { count: 2 ** 53 }, '9007199254740992 is not a whole number'],
  ['no time', column('time', 'time'), { time: new Date(NaN) }, 'NaN is not a whole number'],
  ['no day', column('day', 'day'), { day: '2026-13-01' }, 'NaN is not a whole number'],
  ['part of a day', column('day', 'day'), { day: '2026-01-01T12:00Z' }, '20454.5 is not a whole number'],
])('%s is refused', ([, spec, row, message]) => {
  expect(() => plainParquet([spec], [row])).toThrow(message)
})
