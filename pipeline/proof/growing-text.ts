// A long text that is put together from parts. It holds UTF-8 bytes, so that each part is encoded once and
// kept nowhere else.

export class GrowingText {
  #bytes: Buffer
  #size = 0

  /** @param capacity the bytes that it has room for before it must copy them to a larger place. */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity)
  }

  /** Adds a part, and returns its bytes, which are valid until the text is cleared. */
  add(part: string): Uint8Array {
    const start = this.#size
    // A code unit of UTF-16 takes at most three bytes.
    const least = start + 3 * part.length
    if (least > this.#bytes.byteLength) this.#grow(least)
    this.#size += this.#bytes.write(part, start)
    return this.#bytes.subarray(start, this.#size)
  }

  /** A copy of all that was added. */
  bytes(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(0, this.#size))
  }

  clear(): void {
    this.#size = 0
  }

  #grow(least: number): void {
    const larger = Buffer.allocUnsafe(2 * least)
    larger.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = larger
  }
}
