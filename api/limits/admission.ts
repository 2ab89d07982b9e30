// Counts a call, decides whether it is admitted, and tells the caller what is left of the quota.
import type { UsageEntry } from '../../pipeline/access/usage.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Count, Counter } from './counters.ts'

export type LimitedCall = 'register' | 'forecast' | 'operator' | 'verification' | 'read' | 'page' | 'other'

/** The names of the quota policies, as callers see them. */
export const POLICIES = [
  'registrations',
  'forecasts',
  'forecasts-by-address',
  'operator-calls',
  'verifications',
  'monthly-calls',
  'monthly-calls-by-address',
  'reads',
  'pages',
  'other-calls',
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
  /** Whether the quota is that of a wider network than one address. */
  isOfNetwork?: boolean
}

export interface Admission {
  admitted: boolean
  /** The state of the limit that refused the call, or of the one with least left; undefined without any. */
  state: QuotaState | undefined
  /** Gives an admitted call back to its quotas. */
  takeBack: () => Promise<QuotaState | undefined>
  /** The entry of the usage log, for a successful call with a key. */
  usage?: UsageEntry
}

export interface Limit {
  policy: PolicyName
  quota: number
  windowOf: (count: Count) => QuotaWindow
  isOfNetwork?: boolean
}

/** An agent, an account or a network by which calls are counted, and how many times the limit it has. */
export interface Payer {
  name: string
  times: number
}

/** A caller in a counter, and the limit to its count. */
export interface Allowance {
  counter: Counter
  caller: string
  limit: Limit
}

/** Counts a call, or one that counts as several, toward every allowance, or toward none. */
export async function countToward(allowances: readonly Allowance[], calls = 1): Promise<Admission> {
  const counted: OneAdmission[] = []
  const takeBack = async () => {
    const states: QuotaState[] = []
    for (const one of counted) states.push(await one.takeBack())
    return scarcest(states)
  }
  for (const allowance of allowances) {
    const one = await countTowardOne(allowance, calls)
    if (!one.admitted) {
      await takeBack()
      return one
    }
    counted.push(one)
  }
  return { admitted: true, state: scarcest(counted.map(({ state }) => state)), takeBack }
}

interface OneAdmission extends Admission {
  state: QuotaState
  takeBack: () => Promise<QuotaState>
}

async function countTowardOne({ counter, caller, limit }: Allowance, calls: number): Promise<OneAdmission> {
  const count = await counter.consume(caller, calls, limit.quota)
  const admitted = count.used <= limit.quota
  const state = stateOf(count, limit)
  const endsMs = counter.monotonicMs() + count.msLeft
  return {
    admitted,
    state,
    // A later window has not counted the call.
    takeBack: async () =>
      admitted && counter.monotonicMs() < endsMs
        ? stateOf(await counter.giveBack(caller, calls), limit)
        : state,
  }
}

export function stateOf(count: Count, { policy, quota, windowOf, isOfNetwork = false }: Limit): QuotaState {
  const { windowS, resetS } = windowOf(count)
  return { policy, quota, remaining: Math.max(0, quota - count.used), windowS, resetS, isOfNetwork }
}

/** Returns the state with least left. */
function scarcest(states: readonly QuotaState[]): QuotaState | undefined {
  let least = states[0]
  for (const state of states) if (state.remaining < least!.remaining) least = state
  return least
}

/** `place` is `address` or a wider network. */
const EXCEEDED: Record<PolicyName, (quota: number, place: string) => string> = {
  registrations: (quota, place) => `at most ${quota} agents may be registered from one ${place} in an hour`,
  forecasts: (quota) => `this agent has submitted ${quota} forecasts in a short time`,
  'forecasts-by-address': (quota, place) =>
    `at most ${quota} forecasts a minute are allowed from one ${place}`,
  'operator-calls': (quota) => `at most ${quota} calls a minute are allowed of one operator's key`,
  verifications: (quota, place) =>
    `at most ${quota} calls a minute are allowed from one ${place} without a key`,
  'monthly-calls': (quota) => `the ${quota} verification calls of this key for this month are used up`,
  'monthly-calls-by-address': (quota, place) =>
    `the ${quota} verification calls of this ${place} without a key for this month are used up`,
  reads: (quota, place) => `at most ${quota} calls a minute are allowed from one ${place}`,
  pages: (quota, place) => `at most ${quota} pages a minute are allowed to one ${place}`,
  'other-calls': (quota, place) =>
    `at most ${quota} calls a minute that no other limit counts are allowed from one ${place}`,
  attempts: (quota) => `${quota} calls of this key or address have failed within a minute`,
}

/** The error for a call over the quota. */
export class Refusal extends ServiceError {
  readonly state: QuotaState

  constructor(state: QuotaState) {
    const { policy, quota, resetS, isOfNetwork = false } = state
    const place = isOfNetwork ? 'network of IPv6' : 'address'
    const detail = `${EXCEEDED[policy](quota, place)}; try again in ${inWords(resetS)}`
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
