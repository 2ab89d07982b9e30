// The standing price of a question over time (METHODOLOGY §1).
import { NO_PRICE } from './field.ts'

/** The prices of one question, in the order of time; rows 0..count-1 are filled. */
export interface PriceColumns {
  count: number
  atMs: Float64Array
  /** Probability of yes in parts per million; −1 where no market stands from then on. */
  ppm: Int32Array
}

export const NO_PRICES: PriceColumns = { count: 0, atMs: new Float64Array(0), ppm: new Int32Array(0) }

export class StandingPrice {
  readonly #longestMs: number
  #prices = NO_PRICES
  #next = 0
  /** The standing price in parts per million, or `NO_PRICE`. */
  ppm = NO_PRICE
  /** The time of the next change of the price; Infinity if there is none. */
  changesAtMs = Infinity
  #until = Infinity

  constructor(hours: number) {
    this.#longestMs = hours * 3_600_000
  }

  begin(prices: PriceColumns, openedAtMs: number): void {
    this.#prices = prices
    this.#next = 0
    this.ppm = NO_PRICE
    this.#until = Infinity
    this.#plan()
    while (this.changesAtMs <= openedAtMs) this.change()
  }

  /** Takes the change at `changesAtMs`. */
  change(): void {
    const nowMs = this.changesAtMs
    if (this.#until === nowMs) {
      this.ppm = NO_PRICE
      this.#until = Infinity
    }
    const { count, atMs, ppm } = this.#prices
    for (; this.#next < count && atMs[this.#next]! <= nowMs; this.#next++) {
      const price = ppm[this.#next]!
      this.ppm = price < 0 ? NO_PRICE : price
      this.#until = price < 0 ? Infinity : atMs[this.#next]! + this.#longestMs
    }
    this.#plan()
  }

  #plan(): void {
    const { count, atMs } = this.#prices
    this.changesAtMs = Math.min(this.#until, this.#next < count ? atMs[this.#next]! : Infinity)
  }
}
