// Exact sums of any number of integers, at nearly the cost of adding doubles.

/** A double holds every integer below this limit, and the sum of any two of them. */
const LIMIT = 2 ** 52

/** Adds integers of less than 2^52 in magnitude. */
export class ExactSum {
  #low = 0
  #high = 0n

  add(x: number): void {
    this.#low += x
    if (this.#low >= LIMIT || this.#low <= -LIMIT) {
      this.#high += BigInt(this.#low)
      this.#low = 0
    }
  }

  exact(): bigint {
    return this.#high + BigInt(this.#low)
  }

  /** The double nearest to the sum. */
  value(): number {
    return this.#high === 0n ? this.#low : Number(this.exact())
  }
}

const HALF_BITS = 2 ** 26

/** Adds products of integers of less than 2^52 in magnitude. */
export class ExactProductSum {
  readonly #parts = [new ExactSum(), new ExactSum(), new ExactSum()] as const

  add(x: number, y: number): void {
    const xHigh = Math.trunc(x / HALF_BITS)
    const yHigh = Math.trunc(y / HALF_BITS)
    const xLow = x - xHigh * HALF_BITS
    const yLow = y - yHigh * HALF_BITS
    this.#parts[2].add(xHigh * yHigh)
    this.#parts[1].add(xHigh * yLow)
    this.#parts[1].add(xLow * yHigh)
    this.#parts[0].add(xLow * yLow)
  }

  /** The double nearest to the sum. */
  value(): number {
    const [low, middle, high] = this.#parts.map((part) => part.exact())
    return Number((high! << 52n) + (middle! << 26n) + low!)
  }
}
