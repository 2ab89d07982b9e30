// The integrals of squared errors behind B, Y and K for one entity on one question (METHODOLOGY §2), exact.
import { type Fraction, FractionSum } from './fraction.ts'

/** A span in which the entity has a forecast standing. Probabilities are in parts per million. */
export interface HeldSpan {
  spanMs: number
  own: number
  /** The forecasts of the voices that measure the entity. */
  others: readonly number[]
}

/** In milliseconds. */
export interface ErrorIntegrals {
  brier: Fraction
  reference_brier: Fraction
  crowd_brier: Fraction
}

const PPM = 1_000_000

/** With the opposite of the outcome they are those of B′, Y′ and K′. */
export function errorIntegrals(spans: readonly HeldSpan[], outcome: 0 | 1): ErrorIntegrals {
  const [brier, reference, crowd] = [new FractionSum(), new FractionSum(), new FractionSum()]
  for (const { spanMs, own, others } of spans) {
    // Errors are whole parts per million, so their squares are whole 1e-12.
    const errorOf = (ppm: number) => BigInt(ppm - outcome * PPM)
    const errors = (others.length === 0 ? [own] : others).map(errorOf)
    const p = BigInt(errors.length)
    const span = BigInt(spanMs)
    const squares = errors.reduce((added, error) => added + error ** 2n, 0n)
    const total = errors.reduce((added, error) => added + error, 0n)
    brier.add(span * errorOf(own) ** 2n, 1n)
    reference.add(span * squares, p)
    crowd.add(span * total ** 2n, p ** 2n)
  }
  return { brier: picoOf(brier), reference_brier: picoOf(reference), crowd_brier: picoOf(crowd) }
}

function picoOf(integral: FractionSum): Fraction {
  const { over, under } = integral.total()
  return { over, under: under * 10n ** 12n }
}
