// The result of counting a call: whether it is admitted, and what the caller is told about the quota.
import type { UsageEntry } from '../../pipeline/access/usage.ts'
import { ServiceError } from '../../schemas/errors.ts'

export type LimitedCall = 'register' | 'forecast' | 'verification'

/** The names of the quota policies, as callers see them. */
export const POLICIES = ['registrations', 'forecasts', 'verifications', 'monthly-calls'] as const
export type PolicyName = (typeof POLICIES)[number]

/** What is left of a caller's quota after a call. */
export interface QuotaState {
  policy: PolicyName
  quota: number
  windowS: number
  remaining: number
  /** Seconds until the whole quota is available again. */
  resetS: number
}

export interface Admission {
  admitted: boolean
  state: QuotaState
  /** Gives the call back to the quota if it fails; absent where failed calls count too. */
  takeBack?: () => Promise<QuotaState>
  /** How the usage log records a call with a key, once it has succeeded. */
  usage?: UsageEntry
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
export function rateLimitHeaders({ policy, quota, windowS, remaining, resetS }: QuotaState): {
  'RateLimit-Policy': string
  RateLimit: string
} {
  return {
    'RateLimit-Policy': `"${policy}";q=${quota};w=${windowS}`,
    RateLimit: `"${policy}";r=${remaining};t=${resetS}`,
  }
}
