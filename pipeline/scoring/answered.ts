// The share of the questions that an entity could have answered (METHODOLOGY §3, Answered share).
import { countWhile } from './count-while.ts'

/** The lives of the settled questions of a pool, each end in ascending order, in milliseconds. */
export interface Offer {
  opened: Float64Array
  ended: Float64Array
}

/** The activity of an entity among the questions of its pool. */
export interface Activity {
  /** The times of its first and last counted forecast. */
  firstMs: number
  lastMs: number
  /** How many questions of the pool it answered although they were not open between these times. */
  aside: number
}

/**
 * Counts the questions that were open while the entity was active, and adds the other questions that it
 * answered. A question was open if it opened by the last forecast and ended after the first.
 */
export function offeredOf({ opened, ended }: Offer, { firstMs, lastMs, aside }: Activity): number {
  const opening = countWhile(opened, (at) => at <= lastMs)
  const over = countWhile(ended, (at) => at <= firstMs)
  return opening - over + aside
}
