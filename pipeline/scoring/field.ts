// The field of one question: running integrals over the standing forecasts. A participant reads how much each
// integral grew while its own forecast stood.

/**
 * The integrals over time. V is the number of voices with a standing forecast, S the sum of their errors |p −
 * o|, m the error of their median, π that of the standing price, all in parts per million. N is the number of
 * all standing forecasts and L the sum of their −ln q̃ in 1e-9. The integrals of the peer score run over the
 * whole life of the question, all others over its judged part.
 */
const FIELD_NAMES = [
  // For all, while N ≥ 2: N/(N − 1) and L/(N − 1).
  'peerOwn',
  'peerAll',
  // With no voice left out, while V ≥ 5: 1, S/V, (S/V)², m and m².
  'allTime',
  'allMean',
  'allSquare',
  'allMedian',
  'allMedianSquare',
  // With one voice left out, while P = V − 1 ≥ 5: 1, S/P, 1/P, (S/P)², S/P², 1/P², m and m².
  'time',
  'mean',
  'share',
  'square',
  'cross',
  'shareSquare',
  'median',
  'medianSquare',
  // The same while no price stands.
  'allUnpricedMean',
  'allUnpricedSquare',
  'unpricedMean',
  'unpricedShare',
  'unpricedSquare',
  'unpricedCross',
  'unpricedShareSquare',
  // While a price stands: 1, π and π². The same while also V < 5, and while also V − 1 < 5.
  'priceTime',
  'price',
  'priceSquare',
  'allAloneTime',
  'allAlonePrice',
  'allAlonePriceSquare',
  'aloneTime',
  'alonePrice',
  'alonePriceSquare',
] as const
export type IntegralName = (typeof FIELD_NAMES)[number]

const INTEGRALS = Object.fromEntries(FIELD_NAMES.map((name, index) => [name, index])) as Record<
  IntegralName,
  number
>

/** The integrals that a question without prices needs come first. */
const UNPRICED = INTEGRALS.allUnpricedMean

/** How many doubles a reading has: for each integral its value and the value's rounding error. */
export const READING_LENGTH = 2 * FIELD_NAMES.length

/** No price stands. */
export const NO_PRICE = -1

export class Field {
  readonly #now = new Float64Array(READING_LENGTH)
  readonly #leastOthers: number
  #length = 0
  #voices = 0
  #errors = 0
  #current = 0
  #nanoNats = 0

  constructor(leastOthers: number) {
    this.#leastOthers = leastOthers
  }

  /** V. */
  get voices(): number {
    return this.#voices
  }

  /** S. */
  get errors(): number {
    return this.#errors
  }

  begin(hasPrices: boolean): void {
    this.#now.fill(0)
    this.#length = 2 * (hasPrices ? FIELD_NAMES.length : UNPRICED)
    this.#voices = this.#errors = this.#current = this.#nanoNats = 0
  }

  add(isVoice: boolean, error: number, nanoNats: number): void {
    this.#current += 1
    this.#nanoNats += nanoNats
    if (!isVoice) return
    this.#voices += 1
    this.#errors += error
  }

  remove(isVoice: boolean, error: number, nanoNats: number): void {
    this.#current -= 1
    this.#nanoNats -= nanoNats
    if (!isVoice) return
    this.#voices -= 1
    this.#errors -= error
  }

  /** Integrates over a span in which the standing forecasts and prices stay the same. */
  advance(spanMs: number): void {
    if (this.#current < 2) return
    const others = this.#current - 1
    this.#integrate(INTEGRALS.peerOwn, (this.#current / others) * spanMs)
    this.#integrate(INTEGRALS.peerAll, (this.#nanoNats / others) * spanMs)
  }

  /** Integrates over a judged span. `median` is m, if it is needed, and `price` is π or `NO_PRICE`. */
  advanceJudged(spanMs: number, median: number, price: number): void {
    const voices = this.#voices
    const isPriced = price !== NO_PRICE
    if (voices >= this.#leastOthers) {
      const mean = this.#errors / voices
      this.#integrate(INTEGRALS.allTime, spanMs)
      this.#integrate(INTEGRALS.allMean, mean * spanMs)
      this.#integrate(INTEGRALS.allSquare, mean * mean * spanMs)
      this.#integrate(INTEGRALS.allMedian, median * spanMs)
      this.#integrate(INTEGRALS.allMedianSquare, median * median * spanMs)
      if (!isPriced && this.#length > 2 * UNPRICED) {
        this.#integrate(INTEGRALS.allUnpricedMean, mean * spanMs)
        this.#integrate(INTEGRALS.allUnpricedSquare, mean * mean * spanMs)
      }
    } else if (isPriced) this.#advancePrice(INTEGRALS.allAloneTime, spanMs, price)
    if (voices > this.#leastOthers) this.#advanceOthers(spanMs, median, isPriced)
    else if (isPriced) this.#advancePrice(INTEGRALS.aloneTime, spanMs, price)
    if (isPriced) this.#advancePrice(INTEGRALS.priceTime, spanMs, price)
  }

  #advanceOthers(spanMs: number, median: number, isPriced: boolean): void {
    const others = this.#voices - 1
    const quotient = this.#errors / others
    this.#integrate(INTEGRALS.time, spanMs)
    this.#integrate(INTEGRALS.mean, quotient * spanMs)
    this.#integrate(INTEGRALS.share, spanMs / others)
    this.#integrate(INTEGRALS.square, quotient * quotient * spanMs)
    this.#integrate(INTEGRALS.cross, (quotient / others) * spanMs)
    this.#integrate(INTEGRALS.shareSquare, spanMs / others / others)
    this.#integrate(INTEGRALS.median, median * spanMs)
    this.#integrate(INTEGRALS.medianSquare, median * median * spanMs)
    if (isPriced || this.#length === 2 * UNPRICED) return
    this.#integrate(INTEGRALS.unpricedMean, quotient * spanMs)
    this.#integrate(INTEGRALS.unpricedShare, spanMs / others)
    this.#integrate(INTEGRALS.unpricedSquare, quotient * quotient * spanMs)
    this.#integrate(INTEGRALS.unpricedCross, (quotient / others) * spanMs)
    this.#integrate(INTEGRALS.unpricedShareSquare, spanMs / others / others)
  }

  /** Adds to the integral `time` and to the next two. */
  #advancePrice(time: number, spanMs: number, price: number): void {
    this.#integrate(time, spanMs)
    this.#integrate(time + 1, price * spanMs)
    this.#integrate(time + 2, price * price * spanMs)
  }

  /**
   * Adds up the rounding errors too (Neumaier 1974), so that the difference of two readings is exact to the
   * last bit or two even when it is tiny compared with the readings.
   */
  #integrate(integral: number, x: number): void {
    const now = this.#now
    const before = now[2 * integral]!
    const sum = before + x
    const part = sum - before
    now[2 * integral] = sum
    now[2 * integral + 1]! += before - (sum - part) + (x - part)
  }

  /** Writes a reading of every integral to `readings` from `offset` on. */
  read(readings: Float64Array, offset: number): void {
    const now = this.#now
    for (let i = 0; i < this.#length; i++) readings[offset + i] = now[i]!
  }

  /** How much an integral has grown since the reading at `offset`. */
  since(integral: IntegralName, readings: Float64Array, offset: number): number {
    const at = 2 * INTEGRALS[integral]
    return this.#now[at]! - readings[offset + at]! + (this.#now[at + 1]! - readings[offset + at + 1]!)
  }
}
