// Counts a call without waiting, where this process keeps the counts itself: most calls are admitted so, and answered at once.
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import type { UsageEntry } from '../../pipeline/access/usage.ts'
import { type Limit, type QuotaState, scarcer, stateOf } from './admission.ts'

/** A counter that is asked and counts at once. `nowMs` is by `performance.now`, which is read where it is left out. */
export interface OwnCounter extends RateLimiterAbstract {
  /** The points of `get`, for a call under a quota; 0 where nothing is counted, and Infinity where knowing it takes waiting. */
  pointsNow(caller: string, quota: number, nowMs?: number): number
  /** As `consume`. */
  consumeNow(caller: string, points: number, quota: number, nowMs?: number): RateLimiterRes
}

/** A caller's count, and the limit to it. */
export interface Counted {
  counter: RateLimiterAbstract
  caller: string
  limit: Limit
}

/** A call that was admitted at once. */
export interface AdmittedNow {
  state: QuotaState
  /** As that of an `Admission`. */
  usage: UsageEntry | undefined
}

function isOwn(counter: RateLimiterAbstract): counter is OwnCounter {
  return 'consumeNow' in counter
}

/** Whether a count is below its limit; false also where finding out takes waiting. */
export function hasLeftNow({ counter, caller, limit }: Counted, nowMs?: number): boolean {
  return isOwn(counter) && counter.pointsNow(caller, limit.quota, nowMs) < limit.quota
}

/**
 * Counts a call toward each limit, and tells of the one that has least left. Undefined where it may be refused, or where that
 * takes waiting: then nothing was counted.
 */
export function admittedNow(
  counts: readonly Counted[],
  nowMs: number,
  usage?: UsageEntry,
): AdmittedNow | undefined {
  if (!counts.every((counted) => hasLeftNow(counted, nowMs))) return undefined
  const states = counts.map(({ counter, caller, limit }) =>
    stateOf((counter as OwnCounter).consumeNow(caller, 1, limit.quota, nowMs), limit),
  )
  return { state: states.reduce(scarcer), usage }
}
