// Monthly quotas: how many verification calls an account has made in a calendar month, in UTC.
import type { RateLimiterAbstract } from 'rate-limiter-flexible'
import type { Counters } from './counters.ts'
import { type Admission, type QuotaWindow, count } from './admission.ts'

/** How long a count is kept: longer than a month, whenever in the month its first call was. */
const KEPT_S = 35 * 86_400

export class MonthlyCalls {
  readonly #counters: Counters
  readonly #prefix: string
  readonly #months = new Map<string, RateLimiterAbstract>()

  constructor(counters: Counters, prefix: string) {
    this.#counters = counters
    this.#prefix = prefix
  }

  /** Sets what accounts used before this process started, for counters that are kept in its memory alone. */
  async restore(month: string, used: ReadonlyMap<string, number>): Promise<void> {
    const counter = this.#counterOf(month)
    for (const [accountId, calls] of used) await counter.set(accountId, calls, 0)
  }

  admit(accountId: string, quota: number, at: Date): Promise<Admission> {
    const windowOf = () => monthWindow(at)
    const limit = { policy: 'monthly-calls', quota, givesBack: true, windowOf } as const
    return count(this.#counterOf(monthOf(at)), accountId, limit)
  }

  /** One counter per month; an old month is dropped whole. */
  #counterOf(month: string): RateLimiterAbstract {
    const known = this.#months.get(month)
    if (known) return known
    const counter = this.#counters.counter(`${this.#prefix}:monthly-calls:${month}`, KEPT_S)
    this.#months.set(month, counter)
    // The month before is kept, for a clock that is set back over midnight.
    const old = [...this.#months.keys()].toSorted().slice(0, -2)
    for (const past of old) this.#months.delete(past)
    return counter
  }
}

/** As `2026-01`. */
export function monthOf(at: Date): string {
  return at.toISOString().slice(0, 7)
}

function monthWindow(at: Date): QuotaWindow {
  const startMs = Date.UTC(at.getUTCFullYear(), at.getUTCMonth())
  const endMs = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
  return {
    windowS: (endMs - startMs) / 1000,
    resetS: Math.max(1, Math.ceil((endMs - at.getTime()) / 1000)),
  }
}
