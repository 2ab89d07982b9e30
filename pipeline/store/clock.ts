// Compares a clock with the store's.

/**
 * By how many milliseconds, at least, a clock is ahead of the store's; negative if it is behind. It follows
 * from a write between two readings of the clock and the time that the store gives for the object. Undefined
 * if the store does not say.
 */
export function aheadMs(before: Date, modifiedAt: Date, after: Date): number | undefined {
  const [least, most] = [before, after].map((read) => read.getTime() - modifiedAt.getTime()) as [
    number,
    number,
  ]
  if (Number.isNaN(least)) return undefined
  return least > 0 ? least : Math.min(most, 0)
}
