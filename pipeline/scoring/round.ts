// Rounding, defined to the bit. Scores of a pair are integers of 1e-12, gains and errors of references
// integers of 1e-9, and published numbers have six decimals (percentiles two). All are rounded half to even.

export const PICO = 1e12
/** Parts of one in the decimals of published numbers. */
export const MICRO = 1e6

/**
 * 1.5·2^52. A double of this size has no bits for a fraction, so adding it makes IEEE 754 round half to even.
 */
const NO_FRACTION = 6755399441055744

/** The nearest integer, ties to even. Exact for |x| < 2^51. */
export function roundHalfEven(x: number): number {
  return x + NO_FRACTION - NO_FRACTION
}

/** A number as it is published: with `decimals` decimals, ties to even, never -0. */
export function rounded(x: number, decimals = 6): number {
  const scale = 10 ** decimals
  return roundHalfEven(x * scale) / scale + 0
}

/** Null without a whole. */
export function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}

/** Converts an integer number of 1e-12 to a number. */
export function fromPico(integer: bigint | number): number {
  return Number(integer) / PICO
}
