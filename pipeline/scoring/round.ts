// Rounding, fixed to the bit: what leaves a question is an integer number of 1e-12, what is published has
// six decimals (percentiles two), both rounded half to even.

export const PICO = 1e12

/** Adding and taking away 1.5·2^52 leaves no room for a fraction: IEEE rounds it off, half to even. */
const NO_FRACTION = 6755399441055744

/** The nearest integer, ties to even. Exact for |x| < 2^51. */
export function roundHalfEven(x: number): number {
  return x + NO_FRACTION - NO_FRACTION
}

/** A number as it is published: `decimals` of them, ties to even, never -0. */
export function rounded(x: number, decimals = 6): number {
  const scale = 10 ** decimals
  return roundHalfEven(x * scale) / scale + 0
}

export function roundedOrNull(x: number | null, decimals = 6): number | null {
  return x === null ? null : rounded(x, decimals)
}

/** An integer number of 1e-12, as a plain number. */
export function fromPico(integer: bigint | number): number {
  return Number(integer) / PICO
}
