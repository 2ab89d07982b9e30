// The median of the voices' standing forecasts, updated as they come and go.

/**
 * Counts forecasts by their place among the distinct probabilities of a question, in a tree of partial sums
 * (Fenwick 1994, doi:10.1002/spe.4380240306). Each step takes as many operations as the number of distinct
 * probabilities has bits.
 */
export class Median {
  /** The distinct probabilities, ascending, in parts per million. */
  #values = new Int32Array(0)
  #length = 0
  #sums = new Int32Array(0)
  #highestBit = 0
  #count = 0

  /** Begins a question with the probabilities of its forecasts. Negative numbers are not probabilities. */
  begin(ppms: Int32Array): void {
    if (this.#values.length < ppms.length) {
      this.#values = new Int32Array(2 * ppms.length)
      this.#sums = new Int32Array(2 * ppms.length + 1)
    }
    const values = this.#values
    values.set(ppms)
    values.subarray(0, ppms.length).sort()
    let length = 0
    let last = -1
    for (let i = 0; i < ppms.length; i++) {
      const value = values[i]!
      if (value > last) values[length++] = last = value
    }
    this.#length = length
    this.#sums.fill(0, 0, length + 1)
    this.#highestBit = length === 0 ? 0 : 1 << (31 - Math.clz32(length))
    this.#count = 0
  }

  add(ppm: number): void {
    this.#change(ppm, 1)
  }

  remove(ppm: number): void {
    this.#change(ppm, -1)
  }

  /**
   * The median in parts per million; of an even number the mean of the two in the middle. There must be one.
   */
  get ppm(): number {
    const half = this.#count / 2
    const lower = this.#at(Math.ceil(half))
    return this.#count % 2 === 1 ? lower : (lower + this.#at(half + 1)) / 2
  }

  #change(ppm: number, by: 1 | -1): void {
    this.#count += by
    for (let place = this.#placeOf(ppm) + 1; place <= this.#length; place += place & -place) {
      this.#sums[place]! += by
    }
  }

  #placeOf(ppm: number): number {
    let [low, high] = [0, this.#length - 1]
    while (low < high) {
      const between = (low + high) >> 1
      if (this.#values[between]! < ppm) low = between + 1
      else high = between
    }
    return low
  }

  /** The k-th forecast, counted from 1. */
  #at(k: number): number {
    let place = 0
    let left = k
    for (let step = this.#highestBit; step > 0; step >>= 1) {
      const next = place + step
      if (next > this.#length || this.#sums[next]! >= left) continue
      place = next
      left -= this.#sums[next]!
    }
    return this.#values[place]!
  }
}
