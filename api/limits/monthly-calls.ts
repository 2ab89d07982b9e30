// Monthly quotas: how many verification calls an account, or an address without a key, has made in a calendar month, in
// UTC.
import { dayOf } from './calendar.ts'
import type { Counter, Counters } from './counters.ts'
import {
  type Admission,
  type Allowance,
  type PolicyName,
  type QuotaWindow,
  countToward,
} from './admission.ts'

/** How long a count is kept: longer than a month, whenever in the month its first call was. */
const KEPT_S = 35 * 86_400

export class MonthlyCalls {
  readonly #counters: Counters
  readonly #policy: PolicyName
  readonly #prefix: string
  readonly #mostCallers: number
  readonly #months = new Map<string, Counter>()

  constructor(counters: Counters, policy: PolicyName, prefix: string, mostCallers: number) {
    this.#counters = counters
    this.#policy = policy
    this.#prefix = prefix
    this.#mostCallers = mostCallers
  }

  /** Sets what accounts used before this process started, for counters that are kept in its memory alone. */
  async restore(month: string, used: ReadonlyMap<string, number>): Promise<void> {
    const counter = this.#counterOf(month)
    for (const [accountId, calls] of used) await counter.consume(accountId, calls)
  }

  admit(caller: string, quota: number, at: Date): Promise<Admission> {
    return countToward(this.allowanceOf(caller, quota, at))
  }

  allowanceOf(caller: string, quota: number, at: Date): Allowance {
    const windowOf = () => monthWindow(at)
    return {
      counter: this.#counterOf(dayOf(at).month),
      caller,
      limit: { policy: this.#policy, quota, windowOf },
    }
  }

  /** How many calls a caller has made in the month. Counts nothing. */
  async used(caller: string, at: Date): Promise<number> {
    return (await this.#counterOf(dayOf(at).month).get(caller))?.used ?? 0
  }

  /** One counter per month; an old month is dropped whole. */
  #counterOf(month: string): Counter {
    const known = this.#months.get(month)
    if (known) return known
    const name = `${this.#prefix}:${this.#policy}:${month}`
    const counter = this.#counters.counter(name, KEPT_S, this.#mostCallers)
    this.#months.set(month, counter)
    // The month before is kept, for a clock that is set back over midnight.
    const old = [...this.#months.keys()].toSorted().slice(0, -2)
    for (const past of old) this.#months.delete(past)
    return counter
  }
}

function monthWindow(at: Date): QuotaWindow {
  const { monthStartMs, nextMonthMs } = dayOf(at)
  return {
    windowS: (nextMonthMs - monthStartMs) / 1000,
    resetS: Math.max(1, Math.ceil((nextMonthMs - at.getTime()) / 1000)),
  }
}
