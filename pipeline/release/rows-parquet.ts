// Writes a Parquet file, row by row.
import { COMMENTS_KEY, type ColumnComments } from '../../schemas/column-comments.ts'
import { ByteWriter, ParquetWriter, type Writer, schemaFromColumnData } from 'hyparquet-writer'

/** Rows in a row group. The first is small for readers that only look at the beginning. */
const FIRST_GROUP_ROWS = 1_000
const GROUP_ROWS = 100_000

export interface ParquetColumn {
  name: string
  /** An instant is a `Date`. */
  type: 'STRING' | 'BOOLEAN' | 'INT32' | 'DOUBLE' | 'INSTANT'
}

/** The type of an instant, as DuckDB writes one with a time zone. */
const INSTANT_TYPE = {
  type: 'INT64',
  repetition_type: 'OPTIONAL',
  converted_type: 'TIMESTAMP_MICROS',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
} as const

/** A file under way. Holds at most one row group of rows. */
export class ParquetRows {
  readonly #columns: readonly ParquetColumn[]
  readonly #writer: Writer
  readonly #file: ParquetWriter
  #rows: (readonly unknown[])[] = []
  #groupRows = FIRST_GROUP_ROWS

  /**
   * @param comments what each column means, for the metadata of the file.
   * @param writer takes the bytes; without it they are held in memory.
   */
  constructor(
    columns: readonly ParquetColumn[],
    comments?: ColumnComments,
    writer: Writer = new ByteWriter(),
  ) {
    this.#columns = columns
    this.#writer = writer
    const columnData = columns.map(({ name, type }) =>
      type === 'INSTANT' ? { name, data: [] } : { name, type, data: [] },
    )
    const instants = columns.filter(({ type }) => type === 'INSTANT')
    const schemaOverrides = Object.fromEntries(instants.map(({ name }) => [name, { name, ...INSTANT_TYPE }]))
    this.#file = new ParquetWriter({
      writer,
      schema: schemaFromColumnData({ columnData, schemaOverrides }),
      createdBy: 'forecast-verification-service',
      ...(comments && { kvMetadata: [{ key: COMMENTS_KEY, value: JSON.stringify(comments) }] }),
    })
  }

  /** Adds a row with a value for each column, in their order. */
  add(row: readonly unknown[]): void {
    this.#rows.push(row)
    if (this.#rows.length === this.#groupRows) this.#flush()
  }

  /** Returns the bytes that were held in memory. */
  finish(): Uint8Array {
    this.end()
    return new Uint8Array(this.#writer.getBuffer())
  }

  /** Completes the file if a writer takes its bytes. */
  end(): void {
    if (this.#rows.length > 0) this.#flush()
    void this.#file.finish()
  }

  #flush(): void {
    const rows = this.#rows
    const columnData = this.#columns.map(({ name }, index) => ({ name, data: rows.map((row) => row[index]) }))
    // A write to memory is complete when it returns, so nothing awaits it.
    void this.#file.write({ columnData, rowGroupSize: this.#groupRows })
    this.#rows = []
    this.#groupRows = GROUP_ROWS
  }
}
