// The share of the questions that an entity could have answered (METHODOLOGY §3, Answered share).
import { countWhile } from './count-while.ts'

/** The lives of the settled questions of a pool, each end in ascending order, in milliseconds. */
export interface Offer {
  opened: Float64Array
  ended: Float64Array
}

/** The activity of an entity among the questions of its pool. */
export interface Activity {
  /** When the first and the last of its forecasts that count was made. */
  firstMs: number
  lastMs: number
  /** The questions of the pool that it answered and that were not open between these. */
  aside: number
}

/**
 * The questions that were open while the entity was active, and those that it answered besides. A question
 * was open if it opened by the last forecast and ended after the first.
 */
export function offeredOf({ opened, ended }: Offer, { firstMs, lastMs, aside }: Activity): number {
  const opening = countWhile(opened, (at) => at <= lastMs)
  const over = countWhile(ended, (at) => at <= firstMs)
  return opening - over + aside
}
