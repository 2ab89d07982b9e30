// Counts in another process of this machine, which lends out parts of what is left to a caller, so that few calls wait for it.
import { LRUCache } from 'lru-cache'
import type { RateLimiterRes } from 'rate-limiter-flexible'
import type { CounterAnswer, CounterCall, CounterSpec } from './counter-table.ts'
import { type Counters, MemoryCounter, type WithQuota, resultOf } from './counters.ts'

/**
 * Asks the process that counts: one answer for each call, in their order. Undefined if that process is gone; it never
 * fails.
 */
export type AskCounters = (calls: readonly CounterCall[]) => Promise<readonly CounterAnswer[] | undefined>

type Ask = (call: CounterCall) => Promise<CounterAnswer | undefined>

/** Without the process that counts, this one counts by itself, starting from zero. */
export class RemoteCounters implements Counters {
  readonly shared = true
  readonly #ask: Ask
  readonly #counters = new Map<string, RemoteCounter>()

  constructor(askAll: AskCounters) {
    this.#ask = together(askAll)
  }

  counter(...spec: CounterSpec): MemoryCounter {
    const counter = new RemoteCounter(spec, this.#ask)
    this.#counters.set(spec[0], counter)
    return counter
  }

  /** Ends the lease for a caller, and returns what is left of it. */
  recall(name: string, caller: string): number {
    return this.#counters.get(name)?.recall(caller) ?? 0
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

/** Asks in one message what comes in one turn of the event loop, and then what came while that message was answered. */
function together(askAll: AskCounters): Ask {
  let waiting: { call: CounterCall; resolve: (answer: CounterAnswer | undefined) => void }[] = []
  let isAsking = false
  const run = async () => {
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      const answers = await askAll(group.map(({ call }) => call))
      for (const [index, { resolve }] of group.entries()) resolve(answers?.[index])
    }
    isAsking = false
  }
  return (call) =>
    new Promise((resolve) => {
      waiting.push({ call, resolve })
      if (isAsking) return
      isAsking = true
      setImmediate(() => void run())
    })
}

interface Lease {
  /** What this process may still count without asking. */
  points: number
  /** What was counted of the caller when the other process last answered, with all leases. */
  total: number
  /** Under which it was granted: two keys of one account may have different ones. All that is leased is within it. */
  quota: number
  endsMs: number
}

class RemoteCounter extends MemoryCounter {
  readonly #spec: CounterSpec
  readonly #ask: Ask
  readonly #leases: LRUCache<string, Lease>

  constructor(spec: CounterSpec, ask: Ask) {
    super(...spec)
    this.#spec = spec
    this.#ask = ask
    this.#leases = new LRUCache({ maxSize: spec[2], sizeCalculation: () => 1 })
  }

  override async consume(caller: string, points = 1, { quota }: WithQuota = {}): Promise<RateLimiterRes> {
    const lent = this.#fromLease(caller, points, quota)
    if (lent) return lent
    const answer = await this.#ask({ spec: this.#spec, verb: 'consume', caller, points, quota })
    if (!answer) return super.consumeNow(caller, points, quota)
    const [total, msLeft] = answer
    return quota !== undefined && total > quota ? resultOf(total, msLeft) : this.#take(caller, answer, quota)
  }

  /** Without a lease nothing can be counted at once. */
  override pointsNow(caller: string, quota = Infinity, nowMs = performance.now()): number {
    const lease = this.#leaseOf(caller, nowMs)
    return lease && lease.points > 0 && lease.quota <= quota ? lease.total - lease.points : Infinity
  }

  override consumeNow(
    caller: string,
    points = 1,
    quota = Infinity,
    nowMs = performance.now(),
  ): RateLimiterRes {
    return this.#fromLease(caller, points, quota, nowMs) ?? super.consumeNow(caller, points, quota, nowMs)
  }

  /** Undefined also for a smaller quota, of which the other process knows what is left. */
  #fromLease(
    caller: string,
    points: number,
    quota = Infinity,
    nowMs = performance.now(),
  ): RateLimiterRes | undefined {
    const lease = this.#leaseOf(caller, nowMs)
    if (!lease || lease.points < points || lease.quota > quota) return undefined
    lease.points -= points
    return resultOf(lease.total - lease.points, lease.endsMs - nowMs)
  }

  override async reward(caller: string, points = 1): Promise<RateLimiterRes> {
    const answer = await this.#ask({ spec: this.#spec, verb: 'reward', caller, points })
    return answer ? this.#take(caller, answer) : super.reward(caller, points)
  }

  override async get(caller: string): Promise<RateLimiterRes | null> {
    const answer = await this.#ask({ spec: this.#spec, verb: 'get', caller, points: 0 })
    return answer === undefined ? super.get(caller) : answer && this.#take(caller, answer)
  }

  recall(caller: string): number {
    const points = this.#leaseOf(caller, performance.now())?.points ?? 0
    this.#leases.delete(caller)
    return points
  }

  #leaseOf(caller: string, nowMs: number): Lease | undefined {
    const lease = this.#leases.get(caller)
    return lease && lease.endsMs > nowMs ? lease : undefined
  }

  #take(caller: string, [total, msLeft, leased]: NonNullable<CounterAnswer>, underQuota = 0): RateLimiterRes {
    const nowMs = performance.now()
    const known = this.#leaseOf(caller, nowMs)
    const points = (known?.points ?? 0) + leased
    const quota = Math.max(known?.quota ?? 0, underQuota)
    if (points > 0) this.#leases.set(caller, { points, total, quota, endsMs: nowMs + msLeft })
    return resultOf(total - points, msLeft)
  }
}
