// Counts a call, decides whether it is admitted, and tells the caller what is left of the quota.
import type { UsageEntry } from '../../pipeline/access/usage.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Count, Counter } from './counters.ts'

export type LimitedCall = 'register' | 'forecast' | 'verification' | 'read'

/** The names of the quota policies, as callers see them. */
export const POLICIES = [
  'registrations',
  'forecasts',
  'verifications',
  'monthly-calls',
  'monthly-calls-by-address',
  'reads',
  'attempts',
] as const
export type PolicyName = (typeof POLICIES)[number]

export interface QuotaWindow {
  windowS: number
  /** Seconds until the whole quota is available again. */
  resetS: number
}

/** The state of a caller's quota after a call. */
export interface QuotaState extends QuotaWindow {
  policy: PolicyName
  quota: number
  remaining: number
}

export interface Admission {
  admitted: boolean
  state: QuotaState
  /** Gives an admitted call back to the quota. */
  takeBack: () => Promise<QuotaState>
  /** The entry of the usage log, for a successful call with a key. */
  usage?: UsageEntry
}

export interface Limit {
  policy: PolicyName
  quota: number
  windowOf: (count: Count) => QuotaWindow
}

/** A caller in a counter, and the limit to its count. */
export interface Allowance {
  counter: Counter
  caller: string
  limit: Limit
}

/** Counts a call, or one that counts as several, toward an allowance. */
export async function countToward({ counter, caller, limit }: Allowance, calls = 1): Promise<Admission> {
  const count = await counter.consume(caller, calls, limit.quota)
  const admitted = count.used <= limit.quota
  const state = stateOf(count, limit)
  const endsMs = performance.now() + count.msLeft
  return {
    admitted,
    state,
    // A later window has not counted the call.
    takeBack: async () =>
      admitted && performance.now() < endsMs ? stateOf(await counter.giveBack(caller, calls), limit) : state,
  }
}

export function stateOf(count: Count, { policy, quota, windowOf }: Limit): QuotaState {
  const { windowS, resetS } = windowOf(count)
  return { policy, quota, remaining: Math.max(0, quota - count.used), windowS, resetS }
}

/**
 * Admits a call by both limits, or refuses it by the exhausted one. Returns the state of the limit with less
 * left.
 */
export async function admittedByBoth(first: Admission, next: () => Promise<Admission>): Promise<Admission> {
  if (!first.admitted) return first
  const second = await next()
  if (!second.admitted) {
    await first.takeBack()
    return second
  }
  return {
    admitted: true,
    state: scarcer(first.state, second.state),
    takeBack: async () => scarcer(await first.takeBack(), await second.takeBack()),
  }
}

export function scarcer(one: QuotaState, other: QuotaState): QuotaState {
  return one.remaining <= other.remaining ? one : other
}

const EXCEEDED: Record<PolicyName, (quota: number) => string> = {
  registrations: (quota) => `at most ${quota} agents may be registered from one address in an hour`,
  forecasts: (quota) => `this agent has submitted ${quota} forecasts in a short time`,
  verifications: (quota) => `at most ${quota} calls a minute are allowed from one address without a key`,
  'monthly-calls': (quota) => `the ${quota} verification calls of this key for this month are used up`,
  'monthly-calls-by-address': (quota) =>
    `the ${quota} verification calls of this address without a key for this month are used up`,
  reads: (quota) => `at most ${quota} calls a minute are allowed from one address`,
  attempts: (quota) => `${quota} calls of this key or address have failed within a minute`,
}

/** The error for a call over the quota. */
export class Refusal extends ServiceError {
  readonly state: QuotaState

  constructor(state: QuotaState) {
    const { policy, quota, resetS } = state
    const detail = `${EXCEEDED[policy](quota)}; try again in ${inWords(resetS)}`
    super('limited', detail, { retryAfterS: resetS, policy })
    this.state = state
  }
}

const UNITS = [
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
] as const

/** Writes a rounded-up time for people; programs read the seconds in `Retry-After`. */
function inWords(seconds: number): string {
  for (const [name, unitS] of UNITS) {
    if (seconds >= 2 * unitS) return `${Math.ceil(seconds / unitS)} ${name}`
  }
  return `${seconds} s`
}

/** Returns the header fields of draft-ietf-httpapi-ratelimit-headers-10. */
export function rateLimitHeaders({ policy, quota, windowS, remaining, resetS }: QuotaState) {
  // `toFixed`, because V8 caches the text of a number that is converted in any other way, which raises the
  // p99 of reads from 1.3 ms to 1.6 ms and more (`npm run bench -- --only reads`).
  const left = remaining.toFixed(0)
  return {
    'RateLimit-Policy': `"${policy}";q=${quota};w=${windowS}`,
    RateLimit: `"${policy}";r=${left};t=${resetS}`,
  }
}
