// Compares a clock with the store's.

/**
 * The most by which a clock may differ from the store's. Times decide scores: beyond this, a node takes no
 * forecasts, and no release is made.
 */
export const MOST_APART_MS = 60_000

/**
 * Returns by how many milliseconds a clock is at least ahead of the store's (negative: behind it). It follows
 * from two readings of the clock, before and after a write, and the store's time of the object. Undefined if
 * the store gives no time.
 */
export function aheadMs(before: Date, modifiedAt: Date, after: Date): number | undefined {
  const [least, most] = [before, after].map((read) => read.getTime() - modifiedAt.getTime()) as [
    number,
    number,
  ]
  if (Number.isNaN(least)) return undefined
  return least > 0 ? least : Math.min(most, 0)
}
