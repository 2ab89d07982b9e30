// Writes rows as a plain Parquet file for the inbox: one row group, one page to a column, without
// compression, dictionaries or statistics. The API writes such a file for a few rows at a time, many times a
// second, and a general writer takes longer for the form of the file than for the rows. Fields have the
// numbers of
// https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
import type { Column, ColumnType, Row } from '../../schemas/tables.ts'
import { ByteWriter } from './byte-writer.ts'
import { ThriftWriter } from './thrift-writer.ts'
import { DAY_MS } from '../../schemas/values.ts'

/** The format's numbers for physical types, for their meanings, and for whether values may be missing. */
const INT32 = 1
const INT64 = 2
const DOUBLE = 5
const BYTE_ARRAY = 6
const UTF8 = 0
const DATE = 6
const TIMESTAMP_MILLIS = 9
const REQUIRED = 0
const OPTIONAL = 1
/** The format's numbers for pages, encodings and codecs. */
const DATA_PAGE = 0
const PLAIN = 0
const RLE = 3
const UNCOMPRESSED = 0

/** The first and the last bytes of a file. */
const MAGIC = Buffer.from('PAR1')

type Value = NonNullable<Row[string]>

interface ParquetType {
  physical: number
  meaning?: number
  put: (into: ByteWriter, values: readonly Value[]) => void
}

const TEXT: ParquetType = { physical: BYTE_ARRAY, meaning: UTF8, put: putTexts }
const PARQUET_TYPES: Record<ColumnType, ParquetType> = {
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
    // Days since 1970.
    put: (into, values) => {
      for (const value of values) into.int32(whole(Date.parse(value as string) / DAY_MS))
    },
  },
  time: {
    physical: INT64,
    meaning: TIMESTAMP_MILLIS,
    // Milliseconds since 1970.
    put: (into, values) => {
      for (const value of values) into.int64(whole((value as Date).getTime()))
    },
  },
}

/** The place of the page of a column in the file, header included. */
interface Chunk {
  offset: number
  sizeBytes: number
}

/** @throws Error for a value that is missing or that its column cannot hold. */
export function plainParquet(columns: readonly Column[], rows: readonly Row[]): Uint8Array {
  const file = new ByteWriter()
  file.bytes(MAGIC)
  const chunks = columns.map((column): Chunk => {
    const offset = file.length
    putPage(file, column, rows)
    return { offset, sizeBytes: file.length - offset }
  })
  putFooter(file, columns, chunks, rows.length)
  return file.copy()
}

/**
 * Writes the page of a column: its header, for each row of a nullable column whether it has a value, and the
 * values.
 */
function putPage(into: ByteWriter, { name, type, nullable }: Column, rows: readonly Row[]): void {
  const all = rows.map((row) => row[name] ?? null)
  const values = all.includes(null) ? all.filter((value) => value !== null) : (all as Value[])
  if (!nullable && values.length < all.length) throw new Error(`a row has no ${name}`)
  const page = new ByteWriter()
  if (nullable) putLevels(page, all)
  PARQUET_TYPES[type].put(page, values)
  putPageHeader(into, all.length, page.length)
  into.bytes(page.copy())
}

/** Writes one bit for each row, after the size of the whole and the header of the bits. */
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

/** Writes each text after the number of its bytes. */
function putTexts(into: ByteWriter, values: readonly Value[]): void {
  for (const text of values as readonly string[]) {
    into.uint32(Buffer.byteLength(text))
    into.text(text)
  }
}

/** Writes the header of a page of `sizeBytes` bytes. `values` counts missing values too. */
function putPageHeader(into: ByteWriter, values: number, sizeBytes: number): void {
  const header = new ThriftWriter(into)
  const [pageType, uncompressed, compressed, dataPage] = [1, 2, 3, 5]
  header.i32(pageType, DATA_PAGE).i32(uncompressed, sizeBytes).i32(compressed, sizeBytes)
  const [valueCount, encoding, definitionLevels, repetitionLevels] = [1, 2, 3, 4]
  header.struct(dataPage).i32(valueCount, values).i32(encoding, PLAIN)
  header.i32(definitionLevels, RLE).i32(repetitionLevels, RLE).end()
  header.end()
}

/** Writes the footer, which follows the last page. */
function putFooter(
  into: ByteWriter,
  columns: readonly Column[],
  chunks: readonly Chunk[],
  rows: number,
): void {
  const start = into.length
  const footer = new ThriftWriter(into)
  const [version, schema, rowCount, rowGroups, createdBy] = [1, 2, 3, 4, 6]
  footer.i32(version, 1).structs(schema, 1 + columns.length)
  writeSchema(footer, columns)
  footer.i64(rowCount, rows).structs(rowGroups, 1)
  writeRowGroup(footer, columns, chunks, rows)
  footer.text(createdBy, 'forecast-verification-service').end()
  into.uint32(into.length - start)
  into.bytes(MAGIC)
}

/** Writes the root, and then its children. */
function writeSchema(footer: ThriftWriter, columns: readonly Column[]): void {
  const [type, repetition, nameField, children, converted, logical] = [1, 3, 4, 5, 6, 10]
  const timestamp = 8
  const [isUtc, unit, milliseconds] = [1, 2, 1]
  footer.text(nameField, 'root').i32(children, columns.length).end()
  for (const { name, type: columnType, nullable } of columns) {
    const { physical, meaning } = PARQUET_TYPES[columnType]
    footer.i32(type, physical).i32(repetition, nullable ? OPTIONAL : REQUIRED)
    footer.text(nameField, name)
    if (meaning !== undefined) footer.i32(converted, meaning)
    if (meaning === TIMESTAMP_MILLIS) {
      // Say that it is UTC: some readers would take it for a time without a zone.
      footer.struct(logical).struct(timestamp).true(isUtc)
      footer.struct(unit).struct(milliseconds).end().end().end().end()
    }
    footer.end()
  }
}

function writeRowGroup(
  footer: ThriftWriter,
  columns: readonly Column[],
  chunks: readonly Chunk[],
  rows: number,
): void {
  const [columnChunks, totalBytes, rowCount] = [1, 2, 3]
  const [fileOffset, metadata] = [2, 3]
  const [type, encodings, path, codec, valueCount, uncompressed, compressed, pageOffset] = [
    1, 2, 3, 4, 5, 6, 7, 9,
  ]
  footer.structs(columnChunks, columns.length)
  for (const [index, column] of columns.entries()) {
    const { offset, sizeBytes } = chunks[index]!
    footer.i64(fileOffset, offset).struct(metadata)
    footer
      .i32(type, PARQUET_TYPES[column.type].physical)
      .i32s(encodings, [PLAIN, RLE])
      .texts(path, [column.name])
    footer.i32(codec, UNCOMPRESSED).i64(valueCount, rows)
    footer.i64(uncompressed, sizeBytes).i64(compressed, sizeBytes).i64(pageOffset, offset)
    footer.end().end()
  }
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.sizeBytes, 0)
  footer.i64(totalBytes, sizeBytes).i64(rowCount, rows).end()
}

function finite(value: Value): number {
  if (Number.isFinite(value)) return value as number
  throw new Error(`${String(value)} is not a number`)
}

function whole(value: number): number {
  if (Number.isSafeInteger(value)) return value
  throw new Error(`${value} is not a whole number below 2^53`)
}
