// A running integral of a step function whose differences stay exact.

/**
 * A running integral that keeps what addition rounds off (Neumaier 1974), so that the difference of two
 * readings is exact to the last bit or two even when it is tiny beside the readings.
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
