// Writes structs of Thrift in its compact protocol, as far as the headers and footers of Parquet files need it.
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md

const TRUE = 1
const I32 = 5
const I64 = 6
const BINARY = 8
const LIST = 9
const STRUCT = 12

/** Fields of a struct come in the order of their ids; `end` closes the struct that was begun last, at first the outermost one. */
export class ThriftWriter {
  readonly #bytes: number[] = []
  /** The last ids in the structs around this one. */
  readonly #around: number[] = []
  #last = 0

  i32(id: number, value: number): this {
    return this.#field(id, I32).varint(2 * value)
  }

  /** Of a whole number from 0 to 2^52. */
  i64(id: number, value: number): this {
    return this.#field(id, I64).varint(2 * value)
  }

  true(id: number): this {
    return this.#field(id, TRUE)
  }

  /** Of ASCII characters. */
  text(id: number, value: string): this {
    return this.#field(id, BINARY).#text(value)
  }

  i32s(id: number, values: readonly number[]): this {
    this.#list(id, I32, values.length)
    for (const value of values) this.varint(2 * value)
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

  /** A list of this many structs. Each of them has to be ended. */
  structs(id: number, count: number): this {
    this.#list(id, STRUCT, count)
    for (let nth = 0; nth < count; nth++) this.#begin()
    return this
  }

  end(): this {
    this.#bytes.push(0)
    this.#last = this.#around.pop() ?? 0
    return this
  }

  /** Seven bits to a byte, the lowest first. */
  varint(value: number): this {
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes.push((rest % 128) + 128)
    this.#bytes.push(rest)
    return this
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes)
  }

  #begin(): this {
    this.#around.push(this.#last)
    this.#last = 0
    return this
  }

  #field(id: number, type: number): this {
    this.#bytes.push(((id - this.#last) << 4) | type)
    this.#last = id
    return this
  }

  #list(id: number, type: number, length: number): void {
    this.#field(id, LIST)
    if (length < 15) this.#bytes.push((length << 4) | type)
    else {
      this.#bytes.push(0xf0 | type)
      this.varint(length)
    }
  }

  #text(value: string): this {
    this.varint(value.length)
    for (let index = 0; index < value.length; index++) this.#bytes.push(value.charCodeAt(index))
    return this
  }
}
