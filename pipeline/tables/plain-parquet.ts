// Inbox objects: rows in a plain Parquet file of one row group. The API writes such a file for a few rows at a time, many times a
// second, where a general writer takes longer for the form of the file than for the rows.
import type { Column, ColumnType, Row } from '../../schemas/tables.ts'
import { ByteWriter } from './byte-writer.ts'
import {
  BYTE_ARRAY,
  type Chunk,
  DATE,
  DOUBLE,
  INT32,
  INT64,
  MAGIC,
  type ParquetColumn,
  TIMESTAMP_MILLIS,
  UTF8,
  putFileEnd,
  putPageHeader,
} from './parquet-form.ts'

type Value = NonNullable<Row[string]>

const DAY_MS = 86_400_000

interface ParquetType {
  physical: number
  meaning?: number
  put: (into: ByteWriter, values: readonly Value[]) => void
}

const TEXT: ParquetType = { physical: BYTE_ARRAY, meaning: UTF8, put: putTexts }
const TYPES: Record<ColumnType, ParquetType> = {
  uuid: TEXT,
  text: TEXT,
  prose: TEXT,
  probability: {
    physical: DOUBLE,
    put: (into, values) => {
      for (const value of values) into.double(finite(value))
    },
  },
  count: {
    physical: INT64,
    put: (into, values) => {
      for (const value of values) into.int64(whole(value as number))
    },
  },
  day: {
    physical: INT32,
    meaning: DATE,
    // Since 1970.
    put: (into, values) => {
      for (const value of values) into.int32(whole(Date.parse(value as string) / DAY_MS))
    },
  },
  time: {
    physical: INT64,
    meaning: TIMESTAMP_MILLIS,
    // Since 1970.
    put: (into, values) => {
      for (const value of values) into.int64(whole((value as Date).getTime()))
    },
  },
}

/** What is being written: a file, and the values of one of its pages. */
const file = new ByteWriter()
const page = new ByteWriter()

/** @throws Error for a value that is missing or that its column cannot hold. */
export function plainParquet(columns: readonly Column[], rows: readonly Row[]): Uint8Array {
  file.clear()
  file.bytes(MAGIC)
  const chunks = columns.map((column): Chunk => {
    const offset = file.length
    putPage(column, rows)
    return { offset, sizeBytes: file.length - offset }
  })
  putFileEnd(file, columns.map(parquetColumn), [{ rows: rows.length, chunks }])
  return file.copy()
}

function parquetColumn({ name, type, nullable }: Column): ParquetColumn {
  const { physical, meaning } = TYPES[type]
  return { name, physical, meaning, nullable }
}

/** Its header, for each row whether there is a value, and the values that there are. */
function putPage({ name, type, nullable }: Column, rows: readonly Row[]): void {
  const all = rows.map((row) => row[name] ?? null)
  const values = all.includes(null) ? all.filter((value) => value !== null) : (all as Value[])
  if (!nullable && values.length < all.length) throw new Error(`a row has no ${name}`)
  page.clear()
  if (nullable) putLevels(page, all)
  TYPES[type].put(page, values)
  putPageHeader(file, all.length, page.length)
  file.all(page)
}

/** One bit for each row, after the size of all and the number of bytes that they fill. */
function putLevels(into: ByteWriter, values: readonly unknown[]): void {
  const bits = new Uint8Array(Math.ceil(values.length / 8))
  for (const [row, value] of values.entries()) if (value !== null) bits[row >> 3]! |= 1 << (row & 7)
  const run = bits.length * 2 + 1
  into.uint32(varintBytes(run) + bits.length)
  into.varint(run)
  into.bytes(bits)
}

function varintBytes(value: number): number {
  return value < 128 ? 1 : 1 + varintBytes(Math.floor(value / 128))
}

/** Below this length a character is the first of the four bytes in which a text has its length. */
const ASCII = 128

/** Each text after the number of its bytes. */
function putTexts(into: ByteWriter, values: readonly Value[]): void {
  const texts = values as readonly string[]
  const length = texts[0]?.length ?? ASCII
  if (length < ASCII && texts.every((other) => other.length === length)) {
    // Such as ids, which are written at once, unless they are not what they seem.
    const start = `${String.fromCharCode(length)}\0\0\0`
    const all = start + texts.join(start)
    if (Buffer.byteLength(all) === all.length) {
      into.text(all)
      return
    }
  }
  for (const text of texts) {
    into.uint32(Buffer.byteLength(text))
    into.text(text)
  }
}

function finite(value: Value): number {
  if (Number.isFinite(value)) return value as number
  throw new Error(`${String(value)} is not a number`)
}

function whole(value: number): number {
  if (Number.isSafeInteger(value)) return value
  throw new Error(`${value} is not a whole number below 2^53`)
}
