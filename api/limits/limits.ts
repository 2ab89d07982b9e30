// Admits every limited call.
import type { UsageEntry } from '../../pipeline/access/usage.ts'
import type { OwnSettings } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { BULK_IDS } from '../../schemas/tiers.ts'
import type { Environment } from '../../schemas/values.ts'
import {
  type Admission,
  type Allowance,
  type Limit,
  type LimitedCall,
  type Payer,
  type PolicyName,
  type QuotaState,
  countToward,
  stateOf,
} from './admission.ts'
import type { Networks } from './addresses.ts'
import { dayOf } from './calendar.ts'
import type { Caller } from './callers.ts'
import { type Count, type Counters, EVERYONE, MOST_ADDRESSES } from './counters.ts'
import type { KeyRecord } from '../../pipeline/access/registry.ts'
import { countInMemory } from './memory-counter.ts'
import { MonthlyCalls } from './monthly-calls.ts'

interface LimitsComponents {
  environment: Environment
  settings: OwnSettings
  /** Counters of quotas, which are promised to callers, perhaps over all nodes. */
  quotas: Counters
  now: () => Date
  monotonicMs: () => number
}

/** A limit in a fixed window, which opens with the first call. */
interface Rate {
  /** None if there is no limit. */
  allowancesOf: (payers: readonly Payer[]) => readonly Allowance[]
  admit: (payers: readonly Payer[], calls?: number) => Promise<Admission>
  /** Resolves to undefined while the limit is not reached. Counts nothing. */
  exceeded: (payers: readonly Payer[]) => Promise<QuotaState | undefined>
}

export class Limits {
  /** Monthly calls of accounts. */
  readonly monthlyCalls: MonthlyCalls
  /** Failed calls of a key or an address. */
  readonly attempts: Rate
  /** Calls of an address for pages. */
  readonly pages: Rate
  readonly #addressMonths: MonthlyCalls
  readonly #registrations: Rate
  readonly #forecasts: Rate
  readonly #addressForecasts: Rate
  readonly #operators: Rate
  readonly #verifications: Rate
  readonly #reads: Rate
  readonly #others: Rate
  readonly #settings: OwnSettings
  readonly #now: () => Date
  /** Tells whether the usage of accounts is loaded; undefined once it is. */
  #callsRestored: (() => Promise<boolean>) | undefined

  constructor({ environment, settings, quotas, now, monotonicMs }: LimitsComponents) {
    // All other limits protect this process.
    const own = countInMemory(monotonicMs)
    const prefix = `fvs:${environment}`
    this.#settings = settings
    this.#now = now
    this.#registrations = rateIn(quotas, prefix, 'registrations', settings.REGISTRATIONS_PER_HOUR, 3600)
    const perMinute = settings.FORECASTS_PER_MINUTE
    const burst = Math.max(settings.FORECASTS_BURST, perMinute)
    // The window is as long as the burst lasts at the steady rate, so that one counter enforces both.
    const burstWindowS = Math.ceil((60 * burst) / perMinute)
    this.#forecasts = rateIn(quotas, prefix, 'forecasts', burst, burstWindowS)
    const perAddress = settings.ADDRESS_FORECASTS_PER_MINUTE
    this.#addressForecasts = rateIn(own, prefix, 'forecasts-by-address', perAddress, 60)
    this.#operators = rateIn(quotas, prefix, 'operator-calls', settings.OPERATOR_CALLS_PER_MINUTE, 60)
    this.#verifications = rateIn(quotas, prefix, 'verifications', settings.ANONYMOUS_PER_MINUTE, 60)
    this.#addressMonths = new MonthlyCalls(quotas, 'monthly-calls-by-address', prefix, MOST_ADDRESSES)
    this.monthlyCalls = new MonthlyCalls(quotas, 'monthly-calls', prefix, EVERYONE)
    this.#reads = rateIn(own, prefix, 'reads', settings.READS_PER_MINUTE, 60)
    this.pages = rateIn(own, prefix, 'pages', settings.PAGES_PER_MINUTE, 60)
    this.#others = rateIn(own, prefix, 'other-calls', settings.OTHER_CALLS_PER_MINUTE, 60)
    this.attempts = rateIn(own, prefix, 'attempts', settings.ATTEMPTS_PER_MINUTE, 60)
  }

  /**
   * Counts no call of an account until `restored` resolves to true: before that, nobody knows how many it has
   * left.
   */
  restoreFirst(restored: () => Promise<boolean>): void {
    this.#callsRestored = restored
  }

  /**
   * Counts a call, or one that counts as several, and tells whether it is admitted.
   *
   * @throws ServiceError `unavailable` for a call of an account while its usage is not loaded.
   */
  admit(call: LimitedCall, caller: Caller, networks: Networks, calls = 1): Promise<Admission> {
    switch (call) {
      case 'register':
        return this.#registrations.admit(networks)
      case 'forecast':
        return this.#admitForecasts(caller, networks, calls)
      case 'operator':
        return this.#operators.admit(payersOf(caller, networks))
      case 'read':
        return this.#reads.admit(networks, calls)
      case 'page':
        return this.pages.admit(networks, calls)
      case 'other':
        return this.#others.admit(networks)
      case 'verification':
        return this.#admitVerification(caller, networks)
    }
  }

  #admitForecasts(caller: Caller, networks: Networks, calls: number): Promise<Admission> {
    const agent = caller.kind === 'agent' ? [{ name: caller.agent_id, times: 1 }] : []
    return countToward(
      [...this.#forecasts.allowancesOf(agent), ...this.#addressForecasts.allowancesOf(networks)],
      calls,
    )
  }

  async #admitVerification(caller: Caller, networks: Networks): Promise<Admission> {
    const at = this.#now()
    if (caller.kind === 'anonymous') return countToward(this.#anonymousAllowances(networks, at))
    await this.#assertRestored()
    const admission = await countToward([this.#accountAllowance(caller, at)])
    return { ...admission, usage: usageEntryOf(caller, at) }
  }

  /** The allowances of a verification without a key. */
  #anonymousAllowances(networks: Networks, at: Date): Allowance[] {
    const quota = this.#settings.ANONYMOUS_PER_MONTH
    return [
      ...this.#verifications.allowancesOf(networks),
      ...networks.map((network) => this.#addressMonths.allowanceOf(network, quota, at)),
    ]
  }

  #accountAllowance(caller: KeyRecord, at: Date): Allowance {
    const account = { name: caller.account_id, times: 1 }
    return this.monthlyCalls.allowanceOf(account, this.#monthlyQuotaOf(caller), at)
  }

  /**
   * Returns the usage of an account in this month, and the start of the next one. Counts nothing.
   *
   * @throws ServiceError `unavailable` while the usage is not loaded.
   */
  async usageOf(key: KeyRecord) {
    await this.#assertRestored()
    const { account_id, tier } = key
    const at = this.#now()
    const { month, nextMonthMs } = dayOf(at)
    return {
      tier,
      month,
      calls: await this.monthlyCalls.used(account_id, at),
      monthly_calls: this.#monthlyQuotaOf(key),
      resets_at: new Date(nextMonthMs).toISOString(),
    }
  }

  /** Returns the most ids in a bulk request of this caller. */
  bulkIds(caller: Caller): number {
    return BULK_IDS[caller.kind === 'anonymous' ? 'free' : caller.tier]
  }

  async #assertRestored(): Promise<void> {
    if (!this.#callsRestored) return
    if (!(await this.#callsRestored())) {
      throw new ServiceError(
        'unavailable',
        "this node has not loaded this month's usage yet; retry, another node may answer",
        { expose: true, retryAfterS: 2 },
      )
    }
    this.#callsRestored = undefined
  }

  #monthlyQuotaOf({ tier, monthly_calls }: KeyRecord): number {
    if (monthly_calls !== null) return monthly_calls
    return tier === 'pro' ? this.#settings.PRO_MONTHLY_CALLS : this.#settings.FREE_MONTHLY_CALLS
  }
}

function usageEntryOf({ key_id: keyId, account_id: accountId, tier }: KeyRecord, at: Date): UsageEntry {
  return { keyId, accountId, tier, day: dayOf(at).name }
}

/**
 * Returns by whom the failed calls of a caller are counted. An account's name has only eight letters and
 * digits, and a network's has a dot or a colon, or is `unknown`, so no two names are the same.
 */
export function payersOf(caller: Caller, networks: Networks): readonly Payer[] {
  return caller.kind === 'anonymous' ? networks : [{ name: caller.account_id, times: 1 }]
}

/** A quota of 0 sets no limit. */
function rateIn(
  counters: Counters,
  prefix: string,
  policy: PolicyName,
  quota: number,
  windowS: number,
): Rate {
  const counter = counters.counter({
    name: `${prefix}:${policy}`,
    durationS: windowS,
    mostCallers: MOST_ADDRESSES,
  })
  const windowOf = ({ msLeft }: Count) => ({
    windowS,
    resetS: Math.min(windowS, Math.max(1, Math.ceil(msLeft / 1000))),
  })
  const allowanceOf = ({ name, times }: Payer): Allowance => {
    const limit: Limit = { policy, quota: quota * times, windowOf, isOfNetwork: times > 1 }
    return { counter, caller: name, limit }
  }
  const allowancesOf = (payers: readonly Payer[]) => (quota === 0 ? [] : payers.map(allowanceOf))
  return {
    allowancesOf,
    admit: (payers, calls) => countToward(allowancesOf(payers), calls),
    exceeded: async (payers) => {
      for (const allowance of allowancesOf(payers)) {
        const { caller, limit } = allowance
        const count = await counter.get(caller)
        if (count && count.used >= limit.quota) return stateOf(count, limit)
      }
      return undefined
    },
  }
}
