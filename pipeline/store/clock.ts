// Compares a clock with the store's.

/**
 * Times decide scores, so a node whose clock is further from the store's takes no forecasts, and no release
 * is made of a later time.
 */
export const MOST_APART_MS = 60_000

/**
 * Returns the least number of milliseconds by which a clock is ahead of the store's, or behind it (negative).
 * The number follows from two readings of the clock, before and after a write, and the time that the store
 * gives for the object. Undefined if the store gives no time.
 */
export function aheadMs(before: Date, modifiedAt: Date, after: Date): number | undefined {
  const [least, most] = [before, after].map((read) => read.getTime() - modifiedAt.getTime()) as [
    number,
    number,
  ]
  if (Number.isNaN(least)) return undefined
  return least > 0 ? least : Math.min(most, 0)
}
