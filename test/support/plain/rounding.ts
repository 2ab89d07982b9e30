// Rounding of doubles, half to even, and to the decimals of published numbers (METHODOLOGY §3 and §7).

/** The nearest whole number; of two that are as near, the even one. */
export function roundHalfEven(x: number): number {
  const floor = Math.floor(x)
  const rest = x - floor
  if (rest === 0.5) return floor % 2 === 0 ? floor : floor + 1
  return rest < 0.5 ? floor : floor + 1
}

/** A number as it is published, with six decimals and never −0. */
export function published(x: number): number {
  return roundHalfEven(x * 1e6) / 1e6 + 0
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
export const bigSum = (values: readonly bigint[]): bigint =>
  values.reduce((total, value) => total + value, 0n)
export const mean = (values: readonly number[]): number => sum(values) / values.length

/** Null for what divides by nothing. */
export const orNull = (value: number): number | null => (Number.isFinite(value) ? value : null)
