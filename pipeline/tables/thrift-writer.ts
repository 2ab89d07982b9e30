// Writes structs in Thrift's compact protocol, as far as the headers and footers of Parquet files need it.
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
import type { ByteWriter } from './byte-writer.ts'

const TRUE = 1
const I32 = 5
const I64 = 6
const BINARY = 8
const LIST = 9
const STRUCT = 12

/**
 * A writer begins inside the outermost struct. Fields of a struct must come in the order of their ids, and
 * `end` closes the innermost struct.
 */
export class ThriftWriter {
  readonly #into: ByteWriter
  /** The last ids in the structs around this one. */
  readonly #around: number[] = []
  #last = 0

  constructor(into: ByteWriter) {
    this.#into = into
  }

  i32(id: number, value: number): this {
    return this.#field(id, I32).#varint(2 * value)
  }

  /** Writes a whole number from 0 to 2^52. */
  i64(id: number, value: number): this {
    return this.#field(id, I64).#varint(2 * value)
  }

  true(id: number): this {
    return this.#field(id, TRUE)
  }

  /** Writes a text of ASCII characters. */
  text(id: number, value: string): this {
    return this.#field(id, BINARY).#text(value)
  }

  i32s(id: number, values: readonly number[]): this {
    this.#list(id, I32, values.length)
    for (const value of values) this.#varint(2 * value)
    return this
  }

  texts(id: number, values: readonly string[]): this {
    this.#list(id, BINARY, values.length)
    for (const value of values) this.#text(value)
    return this
  }

  struct(id: number): this {
    this.#field(id, STRUCT)
    return this.#begin()
  }

  /** Begins a list of this many structs, each of which must be ended. */
  structs(id: number, count: number): this {
    this.#list(id, STRUCT, count)
    for (let nth = 0; nth < count; nth++) this.#begin()
    return this
  }

  end(): this {
    this.#into.byte(0)
    this.#last = this.#around.pop() ?? 0
    return this
  }

  #begin(): this {
    this.#around.push(this.#last)
    this.#last = 0
    return this
  }

  #field(id: number, type: number): this {
    this.#into.byte(((id - this.#last) << 4) | type)
    this.#last = id
    return this
  }

  #list(id: number, type: number, length: number): void {
    this.#field(id, LIST)
    if (length < 15) this.#into.byte((length << 4) | type)
    else {
      this.#into.byte(0xf0 | type)
      this.#varint(length)
    }
  }

  #text(value: string): this {
    this.#into.varint(value.length)
    this.#into.text(value)
    return this
  }

  #varint(value: number): this {
    this.#into.varint(value)
    return this
  }
}
