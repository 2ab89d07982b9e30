// Decodes a column of a row group with parts of hyparquet. Its own readers treat a column that may have nulls
// as a list, value by value. That took most of the time, and turned typed arrays into arrays whose numbers
// the garbage collector copies.
import type { ColumnMetaData, DataPageHeader, DecodedArray, FileMetaData } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { DEFAULT_PARSERS, convert, convertWithDictionary } from 'hyparquet/src/convert.js'
import { decompressPage, readDataPage } from 'hyparquet/src/datapage.js'
import { readPlain } from 'hyparquet/src/plain.js'
import { getSchemaPath } from 'hyparquet/src/schema.js'
import { readVarInt } from 'hyparquet/src/thrift.js'
import { COMPRESSORS } from '../tables/compressors.ts'

type ColumnDecoder = Parameters<typeof readDataPage>[2]

/** Some bytes of a file. */
export interface PieceInFile {
  offset: number
  bytes: Uint8Array
}

/**
 * Returns all values of a column without lists, with null for a missing value.
 *
 * @param metadata describes the file; `nth` is the row group to decode.
 * @param piece holds the row group.
 * @throws Error if metadata and piece do not belong together, for a file that DuckDB would not write, or for
 *   a column of a list or a struct.
 */
export function flatColumn(
  { schema, row_groups }: FileMetaData,
  nth: number,
  name: string,
  piece: PieceInFile,
): DecodedArray {
  const column = row_groups[nth]!.columns.find(
    ({ meta_data: one }) => one!.path_in_schema[0] === name,
  )?.meta_data
  if (column?.path_in_schema.length !== 1) throw new Error(`no column ${name} without lists`)
  const { type, codec, path_in_schema: pathInSchema } = column
  const schemaPath = getSchemaPath(schema, pathInSchema)
  const { element } = schemaPath.at(-1)!
  const decoder = { pathInSchema, type, element, schemaPath, codec, parsers: DEFAULT_PARSERS }
  const reader = { view: viewOf(bytesOf(column, piece)), offset: 0 }
  let dictionary: DecodedArray | undefined
  const pages: DecodedArray[] = []
  while (reader.offset < reader.view.byteLength) {
    const { type: pageType, ...header } = parquetHeader(reader)
    const { dictionary_page_header: ofDictionary, data_page_header: ofData } = header
    if (!ofDictionary && !ofData) throw new Error(`a page of type ${pageType} in ${name}`)
    const start = reader.view.byteOffset + reader.offset
    const packed = new Uint8Array(reader.view.buffer, start, header.compressed_page_size)
    const page = decompressPage(packed, header.uncompressed_page_size, codec, COMPRESSORS)
    reader.offset += header.compressed_page_size
    if (ofDictionary) {
      const inPage = { view: viewOf(page), offset: 0 }
      dictionary = convert(readPlain(inPage, type, ofDictionary.num_values, element.type_length), decoder)
    } else {
      pages.push(valuesIn(page, ofData!, dictionary, decoder))
    }
  }
  return pages.length === 1 ? pages[0]! : pages.flatMap((page) => Array.from<unknown>(page))
}

function bytesOf(column: ColumnMetaData, { offset, bytes }: PieceInFile): Uint8Array {
  const from = Number(column.dictionary_page_offset ?? column.data_page_offset) - offset
  const to = from + Number(column.total_compressed_size)
  if (from < 0 || to > bytes.byteLength) throw new Error('its footer is of another file')
  return bytes.subarray(from, to)
}

/** Returns the values of a decompressed page, with null for a missing value. */
function valuesIn(
  page: Uint8Array,
  header: DataPageHeader,
  dictionary: DecodedArray | undefined,
  decoder: ColumnDecoder,
): DecodedArray {
  const skipped = levelsOfAll(page, header.num_values, decoder)
  // Without a schema path, hyparquet takes the column for a required one, and reads no levels.
  const decoderOfRest = skipped > 0 ? { ...decoder, schemaPath: [] } : decoder
  const { definitionLevels, dataPage } = readDataPage(page.subarray(skipped), header, decoderOfRest)
  const values = convertWithDictionary(dataPage, dictionary, header.encoding, decoder)
  // hyparquet returns no levels if no value is missing.
  return definitionLevels?.length ? withNulls(values, definitionLevels) : values
}

/**
 * Returns how many bytes the levels of a page take if they are one run of ones: then no value is missing, and
 * the levels need no reading row by row. Otherwise returns 0.
 */
function levelsOfAll(page: Uint8Array, rows: number, { element }: ColumnDecoder): number {
  if (element.repetition_type !== 'OPTIONAL') return 0
  const view = viewOf(page)
  const run = { view, offset: 4 }
  // The encoding is the length of the rest, twice the number of rows, and the level.
  const isOfAll = readVarInt(run) === 2 * rows && view.getUint8(run.offset) === 1
  return isOfAll ? 4 + view.getUint32(0, true) : 0
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView<ArrayBuffer> {
  return new DataView(buffer as ArrayBuffer, byteOffset, byteLength)
}

/** @param levels one for each row, 0 if it has no value. */
function withNulls(values: DecodedArray, levels: readonly number[]): unknown[] {
  let next = 0
  return levels.map((level): unknown => (level === 0 ? null : values[next++]))
}
