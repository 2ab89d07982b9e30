// Counts a call: whether it is admitted, and what the caller is told about the quota.
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import type { UsageEntry } from '../../pipeline/access/usage.ts'
import { ServiceError } from '../../schemas/errors.ts'

export type LimitedCall = 'register' | 'forecast' | 'verification'

/** The names of the quota policies, as callers see them. */
export const POLICIES = ['registrations', 'forecasts', 'verifications', 'monthly-calls'] as const
export type PolicyName = (typeof POLICIES)[number]

export interface QuotaWindow {
  windowS: number
  /** Seconds until the whole quota is available again. */
  resetS: number
}

/** What is left of a caller's quota after a call. */
export interface QuotaState extends QuotaWindow {
  policy: PolicyName
  quota: number
  remaining: number
}

export interface Admission {
  admitted: boolean
  state: QuotaState
  /** Gives the call back to the quota if it fails; absent where failed calls count too. */
  takeBack?: () => Promise<QuotaState>
  /** How the usage log records a call with a key, once it has succeeded. */
  usage?: UsageEntry
}

interface Limit {
  policy: PolicyName
  quota: number
  /** Whether a call that fails is given back. */
  givesBack: boolean
  windowOf: (counted: RateLimiterRes) => QuotaWindow
}

/** Counts a call of a caller toward its quota. */
export async function count(
  counter: RateLimiterAbstract,
  caller: string,
  { policy, quota, givesBack, windowOf }: Limit,
): Promise<Admission> {
  const stateAfter = (counted: RateLimiterRes): QuotaState => ({
    policy,
    quota,
    remaining: Math.max(0, quota - counted.consumedPoints),
    ...windowOf(counted),
  })
  const counted = await counter.consume(caller)
  const admitted = counted.consumedPoints <= quota
  const state = stateAfter(counted)
  if (!givesBack) return { admitted, state }
  if (!admitted) {
    // Given back, so that a refused call does not take the place that a failing call frees.
    await counter.reward(caller)
    return { admitted, state }
  }
  // A count without an end has −1.
  const endsMs = counted.msBeforeNext < 0 ? Infinity : performance.now() + counted.msBeforeNext
  return {
    admitted,
    state,
    // A later window has not counted the call.
    takeBack: async () => (performance.now() < endsMs ? stateAfter(await counter.reward(caller)) : state),
  }
}

const EXCEEDED: Record<PolicyName, (quota: number) => string> = {
  registrations: (quota) => `at most ${quota} agents may be registered from one address in an hour`,
  forecasts: (quota) => `this agent has submitted ${quota} forecasts in a short time`,
  verifications: (quota) => `at most ${quota} calls a minute are allowed from one address without a key`,
  'monthly-calls': (quota) => `the ${quota} verification calls of this key for this month are used up`,
}

/** The error for a call over the quota. */
export function refusal({ policy, quota, resetS }: QuotaState): ServiceError {
  const detail = `${EXCEEDED[policy](quota)}; try again in ${inWords(resetS)}`
  return new ServiceError('limited', detail, { retryAfterS: resetS, policy })
}

const UNITS = [
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
] as const

/** For people, rounded up; programs read the seconds in `Retry-After`. */
function inWords(seconds: number): string {
  for (const [name, unitS] of UNITS) {
    if (seconds >= 2 * unitS) return `${Math.ceil(seconds / unitS)} ${name}`
  }
  return `${seconds} s`
}

/** The fields of draft-ietf-httpapi-ratelimit-headers-10. */
export function rateLimitHeaders({ policy, quota, windowS, remaining, resetS }: QuotaState) {
  return {
    'RateLimit-Policy': `"${policy}";q=${quota};w=${windowS}`,
    RateLimit: `"${policy}";r=${remaining};t=${resetS}`,
  }
}
