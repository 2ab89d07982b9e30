// Sample rows for tables, and their texts and digests, with which rows from different readers can be
// compared.
import { createHash } from 'node:crypto'
import { type Row, type TableName, tableSpec } from '../../../schemas/tables.ts'

/** Times on both sides of midnight, up to a millisecond from it. */
const RECORDED_AT = [
  '2026-01-30T00:00:00.000Z',
  '2026-01-30T23:59:59.999Z',
  '2026-01-31T00:00:00.000Z',
  '2026-01-31T12:34:56.789Z',
  '2026-02-01T00:00:00.001Z',
].map((text) => new Date(text))

const TIMES = ['1969-12-31T23:59:59.999Z', '2000-02-29T00:00:00.000Z', '2026-01-15T06:07:08.009Z'].map(
  (text) => new Date(text),
)

const TEXTS = [
  'plain',
  '',
  `quo'ted "twice"`,
  'tab\tand\nline',
  'Übung 問い 🎲',
  'NULL',
  'comma, semicolon; |',
  ' ',
]

/** Longer than the bounds of a data file, and in a unit that is two of UTF-16. */
const LONG = '🎲 long '.repeat(20)

const COUNTS = [0, 1, 3, 1_000_000, Number.MAX_SAFE_INTEGER]

const DAYS = ['1969-12-31', '2000-02-29', '2026-01-30', '2026-02-01']

const PROBABILITIES = [0, 1, 0.5, 0.1, 0.333333, 0.000001, 0.999999]

/** Different rows, the same for the same arguments. `from` is the number of the first. */
export function sampleRows(table: TableName, count: number, from = 0): Row[] {
  return Array.from({ length: count }, (_, offset) => {
    const index = from + offset
    return Object.fromEntries(
      tableSpec(table).columns.map((column, position) => {
        const pick = <T>(values: readonly T[]): T => values[(index * 7 + position * 3) % values.length]!
        if (column.name === 'recorded_at') return [column.name, RECORDED_AT[index % RECORDED_AT.length]!]
        if (column.nullable && index % 3 === 0) return [column.name, null]
        if (column.type === 'uuid') return [column.name, uuidOf(`${column.name} ${index}`)]
        if (column.type === 'time') return [column.name, pick(TIMES)]
        if (column.type === 'probability') return [column.name, pick(PROBABILITIES)]
        if (column.type === 'count') return [column.name, pick(COUNTS)]
        if (column.type === 'day') return [column.name, pick(DAYS)]
        return [column.name, pick(column.type === 'prose' ? [...TEXTS, LONG] : TEXTS)]
      }),
    )
  })
}

/**
 * A text that is the same only for equal rows: the columns in the table's order, separated by U+001F, with
 * null as U+0000, a time as microseconds since 1970, a count in digits and any other number as its eight
 * bytes. test/delta/read_tables.py writes the same texts.
 */
function rowText(table: TableName, row: Row): string {
  return tableSpec(table)
    .columns.map(({ name, type }) => {
      const value = row[name]
      if (value === null || value === undefined) return '\0'
      if (value instanceof Date) return String(value.getTime() * 1000)
      if (typeof value === 'string') return value
      if (type === 'count') return String(value)
      const bytes = Buffer.alloc(8)
      bytes.writeDoubleBE(value)
      return bytes.toString('hex')
    })
    .join('\u001f')
}

/** The texts of rows, sorted so that equal sets of rows give equal arrays. */
export function rowTexts(table: TableName, rows: readonly Row[]): string[] {
  return rows.map((row) => rowText(table, row)).sort()
}

/** A digest of rows that does not depend on their order. */
export function rowsDigest(texts: readonly string[]): string {
  const hashes = texts.map((text) => createHash('sha256').update(text).digest('hex')).sort()
  return createHash('sha256').update(hashes.join('')).digest('hex')
}

function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
