// The field of one question: running integrals over the current forecasts, of which each participant reads
// how much they grew while its own forecast stood.

/**
 * The integrals over time. M is the number of voices whose forecasts stand, S the sum of their errors |p
 * − o|, and S₂ that of their squared errors, in parts per million. N is the number of all current forecasts
 * and L the sum of their −ln q̃ in 1e-9. Where one of the voices is left out P = M − 1, else P = M.
 */
export const INTEGRALS = {
  /** With one voice left out: S₂/P, 1/P, S²/P², S/P², 1/P² and S/P while P ≥ 1, and 1 while P = 0. */
  squares: 0,
  share: 1,
  squaredSum: 2,
  sum: 3,
  squaredShare: 4,
  alone: 5,
  errors: 6,
  /** With no voice left out: S₂/P, S²/P² and S/P while P ≥ 1, and 1 while P = 0. */
  allSquares: 7,
  allSquaredSum: 8,
  allErrors: 9,
  allAlone: 10,
  /** For all: N/(N − 1) and L/(N − 1) while N ≥ 2. */
  peerOwn: 11,
  peerAll: 12,
} as const
export type IntegralName = keyof typeof INTEGRALS

/** The doubles of a reading: for each integral its value, and the rounding errors that the value lacks. */
export const READING_LENGTH = 2 * Object.keys(INTEGRALS).length

export class Field {
  readonly #now = new Float64Array(READING_LENGTH)
  #voices = 0
  #errors = 0
  /** In 1e-12: exact for up to 9,007 voices. */
  #squaredErrors = 0
  #current = 0
  #nanoNats = 0
  #voicedMs = 0

  /** M. */
  get voices(): number {
    return this.#voices
  }

  /** S. */
  get errors(): number {
    return this.#errors
  }

  /** The time in which the forecast of at least one voice stood. */
  get voicedMs(): number {
    return this.#voicedMs
  }

  reset(): void {
    this.#now.fill(0)
    this.#voices = this.#errors = this.#squaredErrors = this.#current = this.#nanoNats = this.#voicedMs = 0
  }

  add(isVoice: boolean, error: number, nanoNats: number): void {
    this.#current += 1
    this.#nanoNats += nanoNats
    if (!isVoice) return
    this.#voices += 1
    this.#errors += error
    this.#squaredErrors += error * error
  }

  remove(isVoice: boolean, error: number, nanoNats: number): void {
    this.#current -= 1
    this.#nanoNats -= nanoNats
    if (!isVoice) return
    this.#voices -= 1
    this.#errors -= error
    this.#squaredErrors -= error * error
  }

  /** Integrates over a span of time in which the current forecasts do not change. */
  advance(spanMs: number): void {
    if (this.#current === 0) return
    this.#advanceVoices(spanMs)
    if (this.#current === 1) return
    const others = this.#current - 1
    this.#integrate(INTEGRALS.peerOwn, (this.#current / others) * spanMs)
    this.#integrate(INTEGRALS.peerAll, (this.#nanoNats / others) * spanMs)
  }

  #advanceVoices(spanMs: number): void {
    const voices = this.#voices
    if (voices === 0) {
      this.#integrate(INTEGRALS.allAlone, spanMs)
      return
    }
    this.#voicedMs += spanMs
    const mean = this.#errors / voices
    this.#integrate(INTEGRALS.allSquares, (this.#squaredErrors / voices) * spanMs)
    this.#integrate(INTEGRALS.allSquaredSum, mean * mean * spanMs)
    this.#integrate(INTEGRALS.allErrors, mean * spanMs)
    if (voices === 1) {
      this.#integrate(INTEGRALS.alone, spanMs)
      return
    }
    const others = voices - 1
    const quotient = this.#errors / others
    this.#integrate(INTEGRALS.squares, (this.#squaredErrors / others) * spanMs)
    this.#integrate(INTEGRALS.share, spanMs / others)
    this.#integrate(INTEGRALS.squaredSum, quotient * quotient * spanMs)
    this.#integrate(INTEGRALS.sum, (quotient / others) * spanMs)
    this.#integrate(INTEGRALS.squaredShare, spanMs / others / others)
    this.#integrate(INTEGRALS.errors, quotient * spanMs)
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
    for (let i = 0; i < READING_LENGTH; i++) readings[offset + i] = now[i]!
  }

  /** How much an integral has grown since the reading at `offset`. */
  since(integral: IntegralName, readings: Float64Array, offset: number): number {
    const at = 2 * INTEGRALS[integral]
    return this.#now[at]! - readings[offset + at]! + (this.#now[at + 1]! - readings[offset + at + 1]!)
  }

  /** The value of an integral. */
  total(integral: IntegralName): number {
    const at = 2 * INTEGRALS[integral]
    return this.#now[at]! + this.#now[at + 1]!
  }
}
