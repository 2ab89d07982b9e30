// Columns of plain numbers in a plain Parquet file: how the sweep hands its pairs to DuckDB. Appending them to a table takes a twentieth
// of a release longer, and memory for all of them.
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { type ColumnKinds, type Columns, type RowSink, newColumns } from '../../schemas/columns.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { codeOf } from '../store/disk.ts'
import { ByteWriter } from '../tables/byte-writer.ts'
import {
  type Chunk,
  DOUBLE,
  INT32,
  MAGIC,
  type ParquetColumn,
  type RowGroup,
  putFileEnd,
  putPageHeader,
} from '../tables/parquet-form.ts'

/** A multiple of DuckDB's vectors. All columns of a row group are in memory. */
const ROW_GROUP = 20 * 2048

/** The bytes of the file follow from its rows alone. It has a row group as soon as that is full, and its end once it is closed. */
export class ColumnFile<Kinds extends ColumnKinds> implements RowSink<Kinds>, Disposable {
  readonly columns: Columns<Kinds>
  row = 0
  readonly #location: string
  readonly #form: ParquetColumn[]
  readonly #groups: RowGroup[] = []
  #file: number | undefined
  #sizeBytes = 0

  /** Replaces what is at the location. @throws ServiceError `unavailable`, as every write does, where the disk is full or broken. */
  constructor(location: string, kinds: Kinds) {
    this.columns = newColumns(kinds, ROW_GROUP)
    this.#location = location
    this.#form = Object.entries(kinds).map(([name, kind]) => {
      return { name, physical: kind === 'int32' ? INT32 : DOUBLE, nullable: false }
    })
    this.#file = this.#reported(() => openSync(location, 'w'))
    this.#write(MAGIC)
  }

  next(): void {
    this.row += 1
    if (this.row === ROW_GROUP) this.#endGroup()
  }

  /** Ends the file. */
  close(): void {
    if (this.row > 0) this.#endGroup()
    this.#writeForm((into) => putFileEnd(into, this.#form, this.#groups))
    this[Symbol.dispose]()
  }

  /** Leaves a file as it is that has not been closed. A write that fails does so too. */
  [Symbol.dispose](): void {
    if (this.#file === undefined) return
    closeSync(this.#file)
    this.#file = undefined
  }

  #endGroup(): void {
    const chunks = Object.values(this.columns).map(({ buffer, BYTES_PER_ELEMENT }): Chunk => {
      const offset = this.#sizeBytes
      const sizeBytes = this.row * BYTES_PER_ELEMENT
      this.#writeForm((into) => putPageHeader(into, this.row, sizeBytes))
      // Little-endian, as in Parquet, on every machine that DuckDB's client is built for.
      this.#write(new Uint8Array(buffer, 0, sizeBytes))
      return { offset, sizeBytes: this.#sizeBytes - offset }
    })
    this.#groups.push({ rows: this.row, chunks })
    this.row = 0
  }

  #writeForm(put: (into: ByteWriter) => void): void {
    const bytes = new ByteWriter()
    put(bytes)
    this.#write(bytes.copy())
  }

  #write(bytes: Uint8Array): void {
    this.#reported(() => writeFileSync(this.#file!, bytes))
    this.#sizeBytes += bytes.byteLength
  }

  #reported<T>(work: () => T): T {
    try {
      return work()
    } catch (cause) {
      this[Symbol.dispose]()
      throw new ServiceError('unavailable', `${this.#location} cannot be written (${codeOf(cause)})`, {
        cause,
        retryAfterS: 5,
      })
    }
  }
}
