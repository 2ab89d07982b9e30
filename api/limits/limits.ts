// How often and how much a caller may ask: every limited call is admitted here.
import { RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible'
import type { OwnSettings } from '../../schemas/config.ts'
import { BULK_IDS, type Tier } from '../../schemas/tiers.ts'
import type { Environment } from '../../schemas/values.ts'
import type { Admission, LimitedCall, PolicyName, QuotaState } from './admission.ts'
import type { Caller } from './callers.ts'
import type { Counters } from './counters.ts'
import { MonthlyCalls } from './monthly-calls.ts'

export interface LimitsComponents {
  environment: Environment
  settings: OwnSettings
  counters: Counters
  now: () => Date
}

export class Limits {
  readonly monthlyCalls: MonthlyCalls
  readonly #registrations: RateLimit
  readonly #forecasts: RateLimit
  readonly #verifications: RateLimit
  readonly #settings: OwnSettings
  readonly #now: () => Date

  constructor({ environment, settings, counters, now }: LimitsComponents) {
    const rate = (policy: PolicyName, quota: number, windowS: number) =>
      new RateLimit(counters, `fvs:${environment}`, { policy, quota, windowS })
    this.#settings = settings
    this.#now = now
    this.#registrations = rate('registrations', settings.REGISTRATIONS_PER_HOUR, 3600)
    const burst = Math.max(settings.FORECASTS_BURST, settings.FORECASTS_PER_MINUTE)
    // As long as the burst lasts at the steady rate, so that one counter enforces both.
    const burstWindowS = Math.ceil((60 * burst) / settings.FORECASTS_PER_MINUTE)
    this.#forecasts = rate('forecasts', burst, burstWindowS)
    this.#verifications = rate('verifications', settings.ANONYMOUS_PER_MINUTE, 60)
    this.monthlyCalls = new MonthlyCalls(counters, `fvs:${environment}`)
  }

  /** Counts a call and tells whether it is admitted. */
  async admit(call: LimitedCall, caller: Caller, address: string): Promise<Admission> {
    switch (call) {
      case 'register':
        return this.#registrations.admit(address, true)
      case 'forecast':
        return this.#forecasts.admit(caller.kind === 'agent' ? caller.agent_id : address, false)
      case 'verification': {
        if (caller.kind === 'anonymous') return this.#verifications.admit(address, false)
        const { key_id: keyId, account_id: accountId, tier } = caller
        const at = this.#now()
        const quota = caller.monthly_calls ?? this.#quotaOf(tier)
        const admission = await this.monthlyCalls.admit(accountId, quota, at)
        return { ...admission, usage: { keyId, accountId, tier, day: at.toISOString().slice(0, 10) } }
      }
    }
  }

  /** How many ids a bulk request of this caller may have. */
  bulkIds(caller: Caller): number {
    return BULK_IDS[caller.kind === 'anonymous' ? 'free' : caller.tier]
  }

  #quotaOf(tier: Tier): number {
    return tier === 'pro' ? this.#settings.PRO_MONTHLY_CALLS : this.#settings.FREE_MONTHLY_CALLS
  }
}

/** A fixed-window limit; the window opens with the first call. */
class RateLimit {
  readonly #counter: RateLimiterAbstract
  readonly #policy: Pick<QuotaState, 'policy' | 'quota' | 'windowS'>

  constructor(counters: Counters, prefix: string, policy: Pick<QuotaState, 'policy' | 'quota' | 'windowS'>) {
    this.#policy = policy
    this.#counter = counters.counter({
      name: `${prefix}:${policy.policy}`,
      points: policy.quota,
      durationS: policy.windowS,
    })
  }

  async admit(caller: string, givesBack: boolean): Promise<Admission> {
    const { admitted, result } = await consume(this.#counter, caller)
    const state = this.#stateOf(result)
    if (!givesBack) return { admitted, state }
    if (!admitted) {
      // Given back, so that a refused call does not take the place that a failing call frees.
      await this.#counter.reward(caller)
      return { admitted, state }
    }
    const endsMs = performance.now() + result.msBeforeNext
    return {
      admitted,
      state,
      takeBack: async () =>
        // A later window has not counted the call.
        performance.now() < endsMs ? this.#stateOf(await this.#counter.reward(caller)) : state,
    }
  }

  #stateOf({ consumedPoints, msBeforeNext }: RateLimiterRes): QuotaState {
    const { quota, windowS } = this.#policy
    return {
      ...this.#policy,
      remaining: Math.max(0, quota - consumedPoints),
      resetS: Math.min(windowS, Math.max(1, Math.ceil(msBeforeNext / 1000))),
    }
  }
}

async function consume(
  counter: RateLimiterAbstract,
  caller: string,
): Promise<{ admitted: boolean; result: RateLimiterRes }> {
  try {
    return { admitted: true, result: await counter.consume(caller) }
  } catch (reason) {
    if (reason instanceof RateLimiterRes) return { admitted: false, result: reason }
    throw reason
  }
}
