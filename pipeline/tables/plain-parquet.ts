// Inbox objects: rows in a plain Parquet file of one row group. The API writes such a file for a few rows at a time, many times a
// second, where a general writer takes longer for the form of the file than for the rows.
import type { Column, ColumnType, Row } from '../../schemas/tables.ts'
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
  fileEnd,
  pageHeader,
  uint32,
} from './parquet-form.ts'
import { ThriftWriter } from './thrift-writer.ts'

type Value = NonNullable<Row[string]>

const DAY_MS = 86_400_000

interface ParquetType {
  physical: number
  meaning?: number
  encode: (values: readonly Value[]) => Uint8Array
}

const TEXT: ParquetType = { physical: BYTE_ARRAY, meaning: UTF8, encode: texts }
const TYPES: Record<ColumnType, ParquetType> = {
  uuid: TEXT,
  text: TEXT,
  prose: TEXT,
  probability: { physical: DOUBLE, encode: doubles },
  count: { physical: INT64, encode: (values) => int64s(values as readonly number[]) },
  day: { physical: INT32, meaning: DATE, encode: days },
  time: { physical: INT64, meaning: TIMESTAMP_MILLIS, encode: times },
}

/** @throws Error for a value that is missing or that its column cannot hold. */
export function plainParquet(columns: readonly Column[], rows: readonly Row[]): Uint8Array {
  const parts: Uint8Array[] = [MAGIC]
  let offset = MAGIC.length
  const chunks = columns.map((column): Chunk => {
    const page = pageOf(column, rows)
    const chunk = { offset, sizeBytes: sizeOf(page) }
    parts.push(...page)
    offset += chunk.sizeBytes
    return chunk
  })
  parts.push(fileEnd(columns.map(parquetColumn), [{ rows: rows.length, chunks }]))
  return joined(parts)
}

function parquetColumn({ name, type, nullable }: Column): ParquetColumn {
  const { physical, meaning } = TYPES[type]
  return { name, physical, meaning, nullable }
}

/** Its header, for each row whether there is a value, and the values that there are. */
function pageOf(column: Column, rows: readonly Row[]): Uint8Array[] {
  const { name, type, nullable } = column
  const all = rows.map((row) => row[name] ?? null)
  const values = all.includes(null) ? all.filter((value) => value !== null) : (all as Value[])
  if (!nullable && values.length < all.length) throw new Error(`a row has no ${name}`)
  const body = [...(nullable ? levels(all) : []), TYPES[type].encode(values)]
  return [pageHeader(all.length, sizeOf(body)), ...body]
}

/** One bit for each row, after the size of all and the number of bytes that they fill. */
function levels(values: readonly unknown[]): Uint8Array[] {
  const bits = new Uint8Array(Math.ceil(values.length / 8))
  for (const [row, value] of values.entries()) if (value !== null) bits[row >> 3]! |= 1 << (row & 7)
  const run = new ThriftWriter().varint(bits.length * 2 + 1).bytes()
  return [uint32(run.length + bits.length), run, bits]
}

/** No character of UTF-16 takes more in UTF-8. */
const MOST_BYTES = 3
/** Below this length a character is the first of the four bytes in which a text has its length. */
const ASCII = 128

/** Each text after the number of its bytes. */
function texts(values: readonly Value[]): Uint8Array {
  const lengths = (values as readonly string[]).map(({ length }) => length)
  const [length] = lengths
  if (length !== undefined && length < ASCII && lengths.every((other) => other === length)) {
    // Such as ids, which are written at once, unless they are not what they seem.
    const start = `${String.fromCharCode(length)}\0\0\0`
    const all = start + values.join(start)
    const bytes = Buffer.from(all)
    if (bytes.length === all.length) return bytes
  }
  const bytes = Buffer.allocUnsafe(sum(lengths.map((own) => 4 + MOST_BYTES * own)))
  let end = 0
  for (const value of values) {
    const sizeBytes = bytes.write(value as string, end + 4)
    bytes.writeUInt32LE(sizeBytes, end)
    end += 4 + sizeBytes
  }
  return bytes.subarray(0, end)
}

function doubles(values: readonly Value[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(8 * values.length))
  for (const [index, value] of values.entries()) view.setFloat64(8 * index, finite(value), true)
  return bytesOf(view)
}

/** How much one of the upper half stands for. */
const UPPER = 2 ** 32

/** The lower half of each number, and then the upper one. */
function int64s(values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(8 * values.length))
  for (const [index, value] of values.entries()) {
    // It takes the lower half of a longer number by itself.
    view.setUint32(8 * index, whole(value), true)
    view.setInt32(8 * index + 4, Math.floor(value / UPPER), true)
  }
  return bytesOf(view)
}

/** Milliseconds since 1970. */
function times(values: readonly Value[]): Uint8Array {
  return int64s((values as readonly Date[]).map((value) => value.getTime()))
}

/** Days since 1970. */
function days(values: readonly Value[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(4 * values.length))
  for (const [index, value] of values.entries()) {
    view.setInt32(4 * index, whole(Date.parse(value as string) / DAY_MS), true)
  }
  return bytesOf(view)
}

function finite(value: Value): number {
  if (Number.isFinite(value)) return value as number
  throw new Error(`${String(value)} is not a number`)
}

function whole(value: number): number {
  if (Number.isSafeInteger(value)) return value
  throw new Error(`${value} is not a whole number below 2^53`)
}

function bytesOf({ buffer }: DataView<ArrayBuffer>): Uint8Array {
  return new Uint8Array(buffer)
}

function sizeOf(parts: readonly Uint8Array[]): number {
  return sum(parts.map(({ length }) => length))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** In memory of its own, which can be handed to a thread. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(sizeOf(parts))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
