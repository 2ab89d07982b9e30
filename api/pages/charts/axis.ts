// Axes of the charts: places values, and chooses the values that get a number.

/** The width of a chart's view box. */
export const CHART_WIDTH = 360
/** The marks of an axis of probabilities or shares. */
export const QUARTERS = [0, 0.25, 0.5, 0.75, 1]

export interface Axis {
  least: number
  most: number
  /** The coordinates of `least` and `most`, in units of the view box. */
  from: number
  to: number
}

/** Returns a coordinate with one decimal. A value beyond the axis gets the end of the axis. */
export function place({ least, most, from, to }: Axis, value: number): number {
  const share = Math.min(1, Math.max(0, (value - least) / (most - least)))
  return Number((from + share * (to - from)).toFixed(1))
}

const STEPS = [1, 2, 2.5, 5, 10]

/**
 * Returns the smallest step that divides a range into `parts` parts or fewer: 1, 2, 2.5 or 5 times a power of
 * ten.
 */
export function stepFor(range: number, parts: number): number {
  const power = 10 ** Math.floor(Math.log10(range / parts))
  // A product of a power of ten and a step may miss the bound by the last bit.
  return power * STEPS.find((step) => power * step * parts >= range * (1 - 1e-9))!
}

/** Returns the number of decimals that tells the multiples of a step apart. */
export function decimalsOf(step: number): number {
  let decimals = 0
  while (Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6) decimals += 1
  return decimals
}

/** Returns the multiples of a step from `least` to `most`. */
export function multiples(least: number, most: number, step: number): number[] {
  const first = Math.ceil(least / step - 1e-9)
  const last = Math.floor(most / step + 1e-9)
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}
