// The form of plain Parquet files: one page to a column of a row group, without compression, dictionaries or statistics. What stands
// around the values: headers of pages, and the footer, whose fields have the numbers of
// https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
import type { ByteWriter } from './byte-writer.ts'
import { ThriftWriter } from './thrift-writer.ts'

/** Numbers that the format has for physical types, for what they mean, and for whether values may be missing. */
export const INT32 = 1
export const INT64 = 2
export const DOUBLE = 5
export const BYTE_ARRAY = 6
export const UTF8 = 0
export const DATE = 6
export const TIMESTAMP_MILLIS = 9
const REQUIRED = 0
const OPTIONAL = 1
/** And for pages, encodings and codecs. */
const DATA_PAGE = 0
const PLAIN = 0
const RLE = 3
const UNCOMPRESSED = 0

/** How a file begins and ends. */
export const MAGIC = Buffer.from('PAR1')

export interface ParquetColumn {
  name: string
  physical: number
  meaning?: number | undefined
  nullable: boolean
}

/** Where the page of a column is in the file, with its header. */
export interface Chunk {
  offset: number
  sizeBytes: number
}

export interface RowGroup {
  rows: number
  /** One for each column. */
  chunks: readonly Chunk[]
}

/** Puts what comes before the `sizeBytes` bytes of a page of this many values, missing ones among them. */
export function putPageHeader(into: ByteWriter, values: number, sizeBytes: number): void {
  const header = new ThriftWriter(into)
  const [pageType, uncompressed, compressed, dataPage] = [1, 2, 3, 5]
  header.i32(pageType, DATA_PAGE).i32(uncompressed, sizeBytes).i32(compressed, sizeBytes)
  const [valueCount, encoding, definitionLevels, repetitionLevels] = [1, 2, 3, 4]
  header.struct(dataPage).i32(valueCount, values).i32(encoding, PLAIN)
  header.i32(definitionLevels, RLE).i32(repetitionLevels, RLE).end()
  header.end()
}

/** Puts what comes after the last page. */
export function putFileEnd(
  into: ByteWriter,
  columns: readonly ParquetColumn[],
  groups: readonly RowGroup[],
): void {
  const start = into.length
  const file = new ThriftWriter(into)
  const [version, schema, rowCount, rowGroups, createdBy] = [1, 2, 3, 4, 6]
  file.i32(version, 1).structs(schema, 1 + columns.length)
  writeSchema(file, columns)
  file.i64(
    rowCount,
    groups.reduce((sum, { rows }) => sum + rows, 0),
  )
  file.structs(rowGroups, groups.length)
  for (const group of groups) writeRowGroup(file, columns, group)
  file.text(createdBy, 'forecast-verification-service').end()
  into.uint32(into.length - start)
  into.bytes(MAGIC)
}

/** The root, and then its children. */
function writeSchema(file: ThriftWriter, columns: readonly ParquetColumn[]): void {
  const [type, repetition, nameField, children, converted, logical] = [1, 3, 4, 5, 6, 10]
  const timestamp = 8
  const [isUtc, unit, milliseconds] = [1, 2, 1]
  file.text(nameField, 'root').i32(children, columns.length).end()
  for (const { name, physical, meaning, nullable } of columns) {
    file.i32(type, physical).i32(repetition, nullable ? OPTIONAL : REQUIRED)
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
  columns: readonly ParquetColumn[],
  { rows, chunks }: RowGroup,
): void {
  const [columnChunks, totalBytes, rowCount] = [1, 2, 3]
  const [fileOffset, metadata] = [2, 3]
  const [type, encodings, path, codec, valueCount, uncompressed, compressed, pageOffset] = [
    1, 2, 3, 4, 5, 6, 7, 9,
  ]
  file.structs(columnChunks, columns.length)
  for (const [index, { name, physical }] of columns.entries()) {
    const { offset, sizeBytes } = chunks[index]!
    file.i64(fileOffset, offset).struct(metadata)
    file.i32(type, physical).i32s(encodings, [PLAIN, RLE]).texts(path, [name])
    file.i32(codec, UNCOMPRESSED).i64(valueCount, rows)
    file.i64(uncompressed, sizeBytes).i64(compressed, sizeBytes).i64(pageOffset, offset)
    file.end().end()
  }
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.sizeBytes, 0)
  file.i64(totalBytes, sizeBytes).i64(rowCount, rows).end()
}
