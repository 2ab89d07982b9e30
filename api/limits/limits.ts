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
  type PolicyName,
  type QuotaState,
  admittedByBoth,
  countToward,
  stateOf,
} from './admission.ts'
import { dayOf } from './calendar.ts'
import type { Caller } from './callers.ts'
import { type CallCounters, type Count, type Counters, EVERYONE, MOST_ADDRESSES } from './counters.ts'
import { type AdmittedNow, admittedNow, hasLeftNow } from './counted-now.ts'
import type { KeyRecord } from '../../pipeline/access/registry.ts'
import { MonthlyCalls } from './monthly-calls.ts'

interface LimitsComponents {
  environment: Environment
  settings: OwnSettings
  counters: CallCounters
  now: () => Date
}

/** A limit in a fixed window, which opens with the first call. */
interface Rate {
  allowanceOf: (caller: string) => Allowance
  admit: (caller: string, calls?: number) => Promise<Admission>
  /** Resolves to undefined while the limit is not reached. Counts nothing. */
  exceeded: (caller: string) => Promise<QuotaState | undefined>
}

export class Limits {
  /** Monthly calls of accounts. */
  readonly monthlyCalls: MonthlyCalls
  /** Failed calls of a key or an address. */
  readonly attempts: Rate
  readonly #addressMonths: MonthlyCalls
  readonly #registrations: Rate
  readonly #forecasts: Rate
  readonly #verifications: Rate
  readonly #reads: Rate
  readonly #settings: OwnSettings
  readonly #now: () => Date
  /** Tells whether the usage of accounts is loaded; undefined once it is. */
  #callsRestored: (() => Promise<boolean>) | undefined

  constructor({ environment, settings, counters, now }: LimitsComponents) {
    const { quotas, reads, attempts } = counters
    const prefix = `fvs:${environment}`
    this.#settings = settings
    this.#now = now
    this.#registrations = rateIn(quotas, prefix, 'registrations', settings.REGISTRATIONS_PER_HOUR, 3600)
    const burst = Math.max(settings.FORECASTS_BURST, settings.FORECASTS_PER_MINUTE)
    // The window is as long as the burst lasts at the steady rate, so that one counter enforces both.
    const burstWindowS = Math.ceil((60 * burst) / settings.FORECASTS_PER_MINUTE)
    this.#forecasts = rateIn(quotas, prefix, 'forecasts', burst, burstWindowS)
    this.#verifications = rateIn(quotas, prefix, 'verifications', settings.ANONYMOUS_PER_MINUTE, 60)
    this.#addressMonths = new MonthlyCalls(quotas, 'monthly-calls-by-address', prefix, MOST_ADDRESSES)
    this.monthlyCalls = new MonthlyCalls(quotas, 'monthly-calls', prefix, EVERYONE)
    this.#reads = rateIn(reads, prefix, 'reads', settings.READS_PER_MINUTE, 60)
    this.attempts = rateIn(attempts, prefix, 'attempts', settings.ATTEMPTS_PER_MINUTE, 60)
  }

  /**
   * Counts no call of an account until `restored` resolves to true: before that, nobody knows how many it has
   * left.
   */
  restoreFirst(restored: () => Promise<boolean>): void {
    this.#callsRestored = restored
  }

  /**
   * Counts a call, or one that counts as several submissions, and tells whether it is admitted.
   *
   * @throws ServiceError `unavailable` for a call of an account while its usage is not loaded.
   */
  admit(call: LimitedCall, caller: Caller, address: string, submissions = 1): Promise<Admission> {
    switch (call) {
      case 'register':
        return this.#registrations.admit(address)
      case 'forecast':
        return this.#forecasts.admit(caller.kind === 'agent' ? caller.agent_id : address, submissions)
      case 'read':
        return this.#reads.admit(address)
      case 'verification':
        return this.#admitVerification(caller, address)
    }
  }

  async #admitVerification(caller: Caller, address: string): Promise<Admission> {
    const at = this.#now()
    if (caller.kind === 'anonymous') {
      return admittedByBoth(await this.#verifications.admit(address), () =>
        this.#addressMonths.admit(address, this.#settings.ANONYMOUS_PER_MONTH, at),
      )
    }
    await this.#assertRestored()
    const quota = this.#monthlyQuotaOf(caller)
    const admission = await this.monthlyCalls.admit(caller.account_id, quota, at)
    return { ...admission, usage: usageEntryOf(caller, at) }
  }

  /**
   * Counts a read of a known caller, as `admit` does after a check of the attempts left. Returns undefined
   * and counts nothing if the call may be refused, or if the answer would take waiting.
   */
  admitNow(
    call: 'verification' | 'read',
    caller: Caller,
    address: string,
    nowMs: number,
  ): AdmittedNow | undefined {
    if (!hasLeftNow(this.attempts.allowanceOf(payerOf(caller, address)), nowMs)) return undefined
    if (call === 'read') return admittedNow([this.#reads.allowanceOf(address)], nowMs)
    const at = this.#now()
    if (caller.kind === 'anonymous') {
      const month = this.#addressMonths.allowanceOf(address, this.#settings.ANONYMOUS_PER_MONTH, at)
      return admittedNow([this.#verifications.allowanceOf(address), month], nowMs)
    }
    if (this.#callsRestored) return undefined
    const month = this.monthlyCalls.allowanceOf(caller.account_id, this.#monthlyQuotaOf(caller), at)
    return admittedNow([month], nowMs, usageEntryOf(caller, at))
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
 * Returns the name under which a caller's failed calls are counted. An account's name has only eight letters
 * and digits, and an address has a dot or a colon, or is `unknown`, so no two names are the same.
 */
export function payerOf(caller: Caller, address: string): string {
  return caller.kind === 'anonymous' ? address : caller.account_id
}

function rateIn(
  counters: Counters,
  prefix: string,
  policy: PolicyName,
  quota: number,
  windowS: number,
): Rate {
  const counter = counters.counter(`${prefix}:${policy}`, windowS, MOST_ADDRESSES)
  const windowOf = ({ msLeft }: Count) => ({
    windowS,
    resetS: Math.min(windowS, Math.max(1, Math.ceil(msLeft / 1000))),
  })
  const limit: Limit = { policy, quota, windowOf }
  const allowanceOf = (caller: string): Allowance => ({ counter, caller, limit })
  return {
    allowanceOf,
    admit: (caller, calls) => countToward(allowanceOf(caller), calls),
    exceeded: async (caller) => {
      if (hasLeftNow(allowanceOf(caller))) return undefined
      const count = await counter.get(caller)
      return count && count.used >= quota ? stateOf(count, limit) : undefined
    },
  }
}
