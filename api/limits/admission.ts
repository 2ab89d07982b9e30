// What comes of counting a call: whether it is let through, and what its caller is told of the quota.
import type { UsageEntry } from '../../pipeline/access/usage.ts'
import { ServiceError } from '../../schemas/errors.ts'

export type LimitedCall = 'register' | 'forecast' | 'verification'

/** The names of the quota policies, as callers see them. */
export const POLICIES = ['registrations', 'forecasts', 'verifications', 'monthly-calls'] as const
export type PolicyName = (typeof POLICIES)[number]

/** How a caller stands with a policy after a call. */
export interface QuotaState {
  policy: PolicyName
  quota: number
  windowS: number
  remaining: number
  /** Seconds until the quota is whole again. */
  resetS: number
}

export interface Admission {
  admitted: boolean
  state: QuotaState
  /** Takes a call back that did not succeed; absent where attempts count too. */
  takeBack?: () => Promise<QuotaState>
  /** As what a call with a key is written down once it has succeeded. */
  usage?: UsageEntry
}

const EXCEEDED: Record<PolicyName, (quota: number) => string> = {
  registrations: (quota) => `at most ${quota} agents may be registered from one address in an hour`,
  forecasts: (quota) => `this agent has submitted ${quota} forecasts in a short time`,
  verifications: (quota) => `at most ${quota} calls a minute come from one address without a key`,
  'monthly-calls': (quota) => `the ${quota} verification calls of this key for this month are used up`,
}

/** What a caller is told of one call too many. */
export function refusal({ policy, quota, resetS }: QuotaState): ServiceError {
  const detail = `${EXCEEDED[policy](quota)}; try again in ${inWords(resetS)}`
  return new ServiceError('limited', detail, { retryAfterS: resetS, policy })
}

const UNITS = [
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
] as const

/** A time for people, never too short; machines have the seconds in `Retry-After`. */
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
