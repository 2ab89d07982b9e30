// Counts a call without waiting, if this process keeps the counts itself. Most calls are admitted this way.
import type { UsageEntry } from '../../pipeline/access/usage.ts'
import { type Allowance, type QuotaState, scarcest, stateOf } from './admission.ts'
import { MemoryCounter } from './memory-counter.ts'

/** A call that was admitted at once. */
export interface AdmittedNow {
  /** Undefined without limits. */
  state: QuotaState | undefined
  /** The same as in an `Admission`. */
  usage: UsageEntry | undefined
}

/** Returns whether a count is below its limit, or false if the answer would take waiting. */
export function hasLeftNow({ counter, caller, limit }: Allowance, nowMs?: number): boolean {
  return counter instanceof MemoryCounter && counter.usedNow(caller, nowMs) < limit.quota
}

/**
 * Counts a call toward each allowance, and returns the state of the one with least left. Returns undefined
 * and counts nothing if the call may be refused, or if the answer would take waiting.
 */
export function admittedNow(
  allowances: readonly Allowance[],
  nowMs: number,
  usage?: UsageEntry,
): AdmittedNow | undefined {
  if (!allowances.every((allowance) => hasLeftNow(allowance, nowMs))) return undefined
  const states = allowances.map(({ counter, caller, limit }) =>
    stateOf((counter as MemoryCounter).consumeNow(caller, 1, limit.quota, nowMs), limit),
  )
  return { state: scarcest(states), usage }
}
