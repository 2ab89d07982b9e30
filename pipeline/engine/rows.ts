// Rows of numbers in memory: a growing buffer, and runs of rows with the same number in a column.
import {
  type Block,
  type ColumnKinds,
  type Columns,
  type RowSink,
  newColumns,
} from '../../schemas/columns.ts'
import { ServiceError } from '../../schemas/errors.ts'

const FIRST_CAPACITY = 64

/** A buffer of rows that grows as needed. */
export class Rows<Kinds extends ColumnKinds> implements RowSink<Kinds>, Block<Kinds> {
  readonly #kinds: Kinds
  columns: Columns<Kinds>
  #capacity = FIRST_CAPACITY
  row = 0

  constructor(kinds: Kinds) {
    this.#kinds = kinds
    this.columns = newColumns(kinds, this.#capacity)
  }

  get rowCount(): number {
    return this.row
  }

  next(): void {
    this.row += 1
    if (this.row === this.#capacity) this.#grow(this.row + 1)
  }

  /** Adds the rows of a block from `start` up to `end`. */
  append(block: Block<Kinds>, start: number, end: number): void {
    const size = this.row + end - start
    if (size >= this.#capacity) this.#grow(size + 1)
    for (const name of Object.keys(this.#kinds)) {
      this.columns[name]!.set(block.columns[name]!.subarray(start, end), this.row)
    }
    this.row = size
  }

  clear(): void {
    this.row = 0
  }

  #grow(size: number): void {
    this.#capacity = Math.max(2 * this.#capacity, size)
    const columns = newColumns(this.#kinds, this.#capacity)
    for (const name of Object.keys(this.#kinds)) {
      columns[name]!.set(this.columns[name]!.subarray(0, this.row))
    }
    this.columns = columns
  }
}

/**
 * Divides rows into runs with the same number in the column `by`. The runs share one buffer, so each is valid
 * only until the next is requested.
 *
 * @throws ServiceError `corrupt` if a number is lower than the one before it.
 */
export async function* runsOf<Kinds extends ColumnKinds>(
  blocks: AsyncIterable<Block<Kinds>>,
  kinds: Kinds,
  by: keyof Kinds & string,
): AsyncIterable<{ number: number; rows: Rows<Kinds> }> {
  const rows = new Rows(kinds)
  let number = -1
  for await (const block of blocks) {
    const numbers = block.columns[by]
    for (let start = 0; start < block.rowCount;) {
      const next = numbers[start]!
      if (next !== number) {
        if (next < number) {
          throw new ServiceError('corrupt', `rows out of order: ${by} ${next} after ${number}`)
        }
        if (rows.row > 0) yield { number, rows }
        rows.clear()
        number = next
      }
      let end = start + 1
      while (end < block.rowCount && numbers[end] === number) end += 1
      rows.append(block, start, end)
      start = end
    }
  }
  if (rows.row > 0) yield { number, rows }
}
