// Parquet files in the plainest form that there is: one row group, one page to a column, without compression, dictionaries or
// statistics. The API writes such a file for a few rows at a time, many times a second, where a general writer takes longer for the
// form of the file than for the rows. https://parquet.apache.org/docs/file-format/
import type { Column, ColumnType, Row } from '../../schemas/tables.ts'
import { ThriftWriter } from './thrift-writer.ts'

type Value = NonNullable<Row[string]>

/** Numbers that the format has for physical types, for what they mean, and for whether values may be missing. */
const INT32 = 1
const INT64 = 2
const DOUBLE = 5
const BYTE_ARRAY = 6
const UTF8 = 0
const DATE = 6
const TIMESTAMP_MILLIS = 9
const REQUIRED = 0
const OPTIONAL = 1
/** And for pages, encodings and codecs. */
const DATA_PAGE = 0
const PLAIN = 0
const RLE = 3
const UNCOMPRESSED = 0

const MAGIC = Buffer.from('PAR1')
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

/** Where the page of a column is in the file, with its header. */
interface Chunk {
  offset: number
  sizeBytes: number
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
  const footer = footerOf(columns, chunks, rows.length)
  parts.push(footer, uint32(footer.length), MAGIC)
  return joined(parts)
}

/** Its header, for each row whether there is a value, and the values that there are. */
function pageOf(column: Column, rows: readonly Row[]): Uint8Array[] {
  const { name, type, nullable } = column
  const all = rows.map((row) => row[name] ?? null)
  const values = all.includes(null) ? all.filter((value) => value !== null) : (all as Value[])
  if (!nullable && values.length < all.length) throw new Error(`a row has no ${name}`)
  const body = [...(nullable ? levels(all) : []), TYPES[type].encode(values)]
  const sizeBytes = sizeOf(body)
  const header = new ThriftWriter()
  const [pageType, uncompressed, compressed, dataPage] = [1, 2, 3, 5]
  header.i32(pageType, DATA_PAGE).i32(uncompressed, sizeBytes).i32(compressed, sizeBytes)
  const [valueCount, encoding, definitionLevels, repetitionLevels] = [1, 2, 3, 4]
  header.struct(dataPage).i32(valueCount, all.length).i32(encoding, PLAIN)
  header.i32(definitionLevels, RLE).i32(repetitionLevels, RLE).end()
  return [header.end().bytes(), ...body]
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

/** Each text after the number of its bytes. */
function texts(values: readonly Value[]): Uint8Array {
  const lengths = (values as readonly string[]).map(({ length }) => length)
  const bytes = Buffer.allocUnsafe(sum(lengths.map((length) => 4 + MOST_BYTES * length)))
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

/** The numbers of fields are those of https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift */
function footerOf(columns: readonly Column[], chunks: readonly Chunk[], rows: number): Uint8Array {
  const file = new ThriftWriter()
  const [version, schema, rowCount, rowGroups, createdBy] = [1, 2, 3, 4, 6]
  file.i32(version, 1).structs(schema, 1 + columns.length)
  writeSchema(file, columns)
  file.i64(rowCount, rows).structs(rowGroups, 1)
  writeRowGroup(file, columns, chunks, rows)
  return file.text(createdBy, 'forecast-verification-service').end().bytes()
}

/** The root, and then its children. */
function writeSchema(file: ThriftWriter, columns: readonly Column[]): void {
  const [type, repetition, nameField, children, converted, logical] = [1, 3, 4, 5, 6, 10]
  const timestamp = 8
  const [isUtc, unit, milliseconds] = [1, 2, 1]
  file.text(nameField, 'root').i32(children, columns.length).end()
  for (const { name, ...column } of columns) {
    const { physical, meaning } = TYPES[column.type]
    file.i32(type, physical).i32(repetition, column.nullable ? OPTIONAL : REQUIRED)
    file.text(nameField, name)
    if (meaning !== undefined) file.i32(converted, meaning)
    if (meaning === TIMESTAMP_MILLIS) {
      // Without this some readers take it for a time in no time zone.
      file.struct(logical).struct(timestamp).true(isUtc)
      file.struct(unit).struct(milliseconds).end().end().end().end()
    }
    file.end()
  }
}

function writeRowGroup(
  file: ThriftWriter,
  columns: readonly Column[],
  chunks: readonly Chunk[],
  rows: number,
): void {
  const [columnChunks, totalBytes, rowCount] = [1, 2, 3]
  const [fileOffset, metadata] = [2, 3]
  const [type, encodings, path, codec, valueCount, uncompressed, compressed, pageOffset] = [
    1, 2, 3, 4, 5, 6, 7, 9,
  ]
  file.structs(columnChunks, columns.length)
  for (const [index, column] of columns.entries()) {
    const { offset, sizeBytes } = chunks[index]!
    file.i64(fileOffset, offset).struct(metadata)
    file.i32(type, TYPES[column.type].physical).i32s(encodings, [PLAIN, RLE]).texts(path, [column.name])
    file.i32(codec, UNCOMPRESSED).i64(valueCount, rows)
    file.i64(uncompressed, sizeBytes).i64(compressed, sizeBytes).i64(pageOffset, offset)
    file.end().end()
  }
  const sizeBytes = sum(chunks.map((chunk) => chunk.sizeBytes))
  file.i64(totalBytes, sizeBytes).i64(rowCount, rows).end()
}

function finite(value: Value): number {
  if (Number.isFinite(value)) return value as number
  throw new Error(`${String(value)} is not a number`)
}

function whole(value: number): number {
  if (Number.isSafeInteger(value)) return value
  throw new Error(`${value} is not a whole number below 2^53`)
}

function uint32(value: number): Uint8Array {
  return Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24)
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
