// Appends bytes to memory that grows.

const FIRST_BYTES = 1024
/** The value of 1 in the upper half of a 64-bit number. */
const UPPER = 2 ** 32

/** Writes numbers with their lowest byte first. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES)
  #view = viewOf(this.#bytes)
  #length = 0

  get length(): number {
    return this.#length
  }

  byte(value: number): void {
    const at = this.#room(1)
    this.#bytes[at] = value
  }

  uint32(value: number): void {
    const at = this.#room(4)
    this.#view.setUint32(at, value, true)
  }

  /** Writes a whole number from -2^53 to 2^53. */
  int64(value: number): void {
    const at = this.#room(8)
    // `setUint32` itself takes the lower half of a longer number.
    this.#view.setUint32(at, value, true)
    this.#view.setInt32(at + 4, Math.floor(value / UPPER), true)
  }

  int32(value: number): void {
    const at = this.#room(4)
    this.#view.setInt32(at, value, true)
  }

  double(value: number): void {
    const at = this.#room(8)
    this.#view.setFloat64(at, value, true)
  }

  /** Writes a whole number from 0 to 2^53, seven bits to a byte, the lowest first. */
  varint(value: number): void {
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.byte((rest % 128) + 128)
    this.byte(rest)
  }

  /** Writes a text in UTF-8. */
  text(value: string): void {
    const at = this.#room(Buffer.byteLength(value))
    this.#bytes.write(value, at)
  }

  bytes(value: Uint8Array): void {
    const at = this.#room(value.length)
    this.#bytes.set(value, at)
  }

  /** Returns a copy in separate memory, which can be handed to a thread. */
  copy(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(0, this.#length))
  }

  /** Makes room for this many bytes, and returns the offset at which they go. Growing replaces the memory. */
  #room(sizeBytes: number): number {
    const at = this.#length
    this.#length += sizeBytes
    if (this.#length > this.#bytes.length) this.#grow()
    return at
  }

  #grow(): void {
    const bytes = Buffer.allocUnsafe(2 * this.#length)
    this.#bytes.copy(bytes)
    this.#bytes = bytes
    this.#view = viewOf(bytes)
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length)
}
