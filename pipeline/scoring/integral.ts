// A running integral of a step function.

/**
 * A running integral that also adds up the rounding errors (Neumaier 1974), so that the difference of two readings is
 * exact to the last bit or two even when it is tiny compared with the readings.
 */
export class Integral {
  high = 0
  low = 0

  reset(): void {
    this.high = 0
    this.low = 0
  }

  add(x: number): void {
    const sum = this.high + x
    const part = sum - this.high
    this.low += this.high - (sum - part) + (x - part)
    this.high = sum
  }

  since(high: number, low: number): number {
    return this.high - high + (this.low - low)
  }
}
