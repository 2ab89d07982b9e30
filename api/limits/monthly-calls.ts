// Counts verification calls toward monthly quotas: those of an account, or of an address without a key, in a
// calendar month (UTC).
import { dayOf } from './calendar.ts'
import type { Counter, Counters } from './counters.ts'
import type { Allowance, Payer, PolicyName, QuotaWindow } from './admission.ts'

/** A count lasts longer than any month, whenever in the month its first call was. */
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

  /**
   * Adds the calls that accounts made before this process started. Only counters in its own memory need this,
   * once.
   */
  async restore(month: string, used: ReadonlyMap<string, number>): Promise<void> {
    const counter = this.#counterOf(month)
    for (const [accountId, calls] of used) await counter.consume(accountId, calls)
  }

  allowanceOf({ name, times }: Payer, quota: number, at: Date): Allowance {
    const windowOf = () => monthWindow(at)
    return {
      counter: this.#counterOf(dayOf(at).month),
      caller: name,
      limit: { policy: this.#policy, quota: quota * times, windowOf, isOfNetwork: times > 1 },
    }
  }

  /** Returns the calls of a caller in the month. Counts nothing. */
  async used(caller: string, at: Date): Promise<number> {
    return (await this.#counterOf(dayOf(at).month).get(caller))?.used ?? 0
  }

  /** Each month has one counter; an old one is dropped whole. */
  #counterOf(month: string): Counter {
    const known = this.#months.get(month)
    if (known) return known
    const name = `${this.#prefix}:${this.#policy}:${month}`
    const counter = this.#counters.counter({ name, durationS: KEPT_S, mostCallers: this.#mostCallers })
    this.#months.set(month, counter)
    // The previous month stays, because a clock may be set back over midnight.
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
