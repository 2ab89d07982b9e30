// How often and how much a caller may ask: every limited call is admitted here.
import type { RateLimiterRes } from 'rate-limiter-flexible'
import type { OwnSettings } from '../../schemas/config.ts'
import { BULK_IDS, type Tier } from '../../schemas/tiers.ts'
import type { Environment } from '../../schemas/values.ts'
import { type Admission, type LimitedCall, type PolicyName, count } from './admission.ts'
import type { Caller } from './callers.ts'
import type { Counters } from './counters.ts'
import { MonthlyCalls } from './monthly-calls.ts'

interface LimitsComponents {
  environment: Environment
  settings: OwnSettings
  counters: Counters
  now: () => Date
}

type RateLimit = (caller: string) => Promise<Admission>

export class Limits {
  readonly monthlyCalls: MonthlyCalls
  readonly #registrations: RateLimit
  readonly #forecasts: RateLimit
  readonly #verifications: RateLimit
  readonly #settings: OwnSettings
  readonly #now: () => Date

  constructor({ environment, settings, counters, now }: LimitsComponents) {
    /** A limit in a fixed window, which opens with the first call. */
    const rate = (policy: PolicyName, quota: number, windowS: number, givesBack = false): RateLimit => {
      const counter = counters.counter(`fvs:${environment}:${policy}`, windowS)
      const windowOf = ({ msBeforeNext }: RateLimiterRes) => ({
        windowS,
        resetS: Math.min(windowS, Math.max(1, Math.ceil(msBeforeNext / 1000))),
      })
      return (caller) => count(counter, caller, { policy, quota, givesBack, windowOf })
    }
    this.#settings = settings
    this.#now = now
    this.#registrations = rate('registrations', settings.REGISTRATIONS_PER_HOUR, 3600, true)
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
        return this.#registrations(address)
      case 'forecast':
        return this.#forecasts(caller.kind === 'agent' ? caller.agent_id : address)
      case 'verification': {
        if (caller.kind === 'anonymous') return this.#verifications(address)
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
