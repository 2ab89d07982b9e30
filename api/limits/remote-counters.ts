// Counts in the primary of this machine, which leases calls to each process, so that few calls wait for it.
import { LRUCache } from 'lru-cache'
import type { CounterAnswer, CounterCall } from './counter-table.ts'
import type { Count, CounterSpec, Counters, OwnCounter } from './counters.ts'
import { MemoryCounter } from './memory-counter.ts'

/**
 * Asks the primary for one answer to each call, in their order. Resolves to undefined if the primary is gone;
 * never rejects.
 */
export type AskCounters = (calls: readonly CounterCall[]) => Promise<readonly CounterAnswer[] | undefined>

type Ask = (call: CounterCall) => Promise<CounterAnswer | undefined>

/** Without the primary, this process counts by itself, starting from zero. */
export class RemoteCounters implements Counters {
  readonly shared = true
  readonly #ask: Ask
  readonly #counters = new Map<string, RemoteCounter>()

  constructor(askAll: AskCounters) {
    this.#ask = together(askAll)
  }

  counter(...spec: CounterSpec): OwnCounter {
    const counter = new RemoteCounter(spec, this.#ask)
    this.#counters.set(spec[0], counter)
    return counter
  }

  /** Ends the lease for a caller, and returns the calls left of it. */
  recall(name: string, caller: string): number {
    return this.#counters.get(name)?.recall(caller) ?? 0
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

/**
 * Sends the calls of one turn of the event loop in one message, and those that come before its answer in the
 * next message.
 */
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
  /** The calls that this process may still count without asking. */
  calls: number
  /** The caller's count at the last answer, with all leases. */
  total: number
  /**
   * The largest quota under which these calls were leased: two keys of one account may have different quotas.
   */
  quota: number
  endsMs: number
}

class RemoteCounter implements OwnCounter {
  readonly #spec: CounterSpec
  readonly #ask: Ask
  readonly #leases: LRUCache<string, Lease>
  /** Counts once the primary is gone. */
  readonly #standIn: MemoryCounter

  constructor(spec: CounterSpec, ask: Ask) {
    this.#spec = spec
    this.#ask = ask
    this.#leases = new LRUCache({ maxSize: spec[2], sizeCalculation: () => 1 })
    this.#standIn = new MemoryCounter(...spec)
  }

  async consume(caller: string, calls = 1, quota?: number): Promise<Count> {
    const lent = this.#fromLease(caller, calls, quota)
    if (lent) return lent
    const answer = await this.#ask({ spec: this.#spec, verb: 'consume', caller, calls, quota })
    if (!answer) return this.#standIn.consume(caller, calls, quota)
    const [used, msLeft] = answer
    return quota !== undefined && used > quota ? { used, msLeft } : this.#take(caller, answer, quota)
  }

  /** Without a lease nothing can be counted at once. */
  usedNow(caller: string, quota = Infinity, nowMs = performance.now()): number {
    const lease = this.#leaseOf(caller, nowMs)
    return lease && lease.calls > 0 && lease.quota <= quota ? lease.total - lease.calls : Infinity
  }

  consumeNow(caller: string, calls = 1, quota = Infinity, nowMs = performance.now()): Count {
    return (
      this.#fromLease(caller, calls, quota, nowMs) ?? this.#standIn.consumeNow(caller, calls, quota, nowMs)
    )
  }

  /** Also undefined if the lease was granted under a larger quota: only the primary knows the rest. */
  #fromLease(caller: string, calls: number, quota = Infinity, nowMs = performance.now()): Count | undefined {
    const lease = this.#leaseOf(caller, nowMs)
    if (!lease || lease.calls < calls || lease.quota > quota) return undefined
    lease.calls -= calls
    return { used: lease.total - lease.calls, msLeft: lease.endsMs - nowMs }
  }

  async giveBack(caller: string, calls = 1): Promise<Count> {
    const answer = await this.#ask({ spec: this.#spec, verb: 'giveBack', caller, calls })
    return answer ? this.#take(caller, answer) : this.#standIn.giveBack(caller, calls)
  }

  async get(caller: string): Promise<Count | null> {
    const answer = await this.#ask({ spec: this.#spec, verb: 'get', caller, calls: 0 })
    return answer === undefined ? this.#standIn.get(caller) : answer && this.#take(caller, answer)
  }

  recall(caller: string): number {
    const calls = this.#leaseOf(caller, performance.now())?.calls ?? 0
    this.#leases.delete(caller)
    return calls
  }

  #leaseOf(caller: string, nowMs: number): Lease | undefined {
    const lease = this.#leases.get(caller)
    return lease && lease.endsMs > nowMs ? lease : undefined
  }

  #take(caller: string, [total, msLeft, leased]: NonNullable<CounterAnswer>, underQuota = 0): Count {
    const nowMs = performance.now()
    const known = this.#leaseOf(caller, nowMs)
    const calls = (known?.calls ?? 0) + leased
    const quota = Math.max(known?.quota ?? 0, underQuota)
    if (calls > 0) this.#leases.set(caller, { calls, total, quota, endsMs: nowMs + msLeft })
    return { used: total - calls, msLeft }
  }
}
