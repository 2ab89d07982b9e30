// Counters that the processes of a machine share, in the memory of the primary.
import { LRUCache } from 'lru-cache'
import type { Count, CounterSpec, Counters } from './counters.ts'
import { MemoryCounter } from './memory-counter.ts'

export interface CounterCall {
  spec: CounterSpec
  verb: 'consume' | 'giveBack' | 'get'
  caller: string
  calls: number
  /** The caller's quota. Without a quota nothing is leased. */
  quota?: number | undefined
}

/** The caller's count with all leases, and the calls that this answer leases; null if nothing is counted. */
export type CounterAnswer = readonly [used: number, msLeft: number, leased: number] | null

/** The asking process, and the way to take leases back. */
export interface Asking {
  process: number
  processes: number
  /** Ends the lease of a process for a caller, and resolves to the calls left of it. */
  recall: (process: number, name: string, caller: string) => Promise<number>
}

/**
 * A lease is this part of the calls left to a caller, divided by the number of processes, so that the ends of
 * quotas are exact.
 */
const LEASED_PART = 1 / 16
const MOST_LEASED = 1_000

interface Entry {
  counter: MemoryCounter
  /** The processes with a lease, by caller. */
  holders: LRUCache<string, Set<number>>
  /** The recalls under way, by caller. */
  recalls: Map<string, Promise<void>>
  endsMs: number
}

export class CounterTable implements Counters {
  readonly shared = false
  readonly #entries = new Map<string, Entry>()

  counter(...spec: CounterSpec): MemoryCounter {
    return this.#entry(spec).counter
  }

  /** Answers calls in their order. A lease is sent before anyone can ask for it back. */
  async answer(
    calls: readonly CounterCall[],
    asking: Asking,
    send: (answers: readonly CounterAnswer[]) => void,
  ): Promise<void> {
    const counted = await Promise.all(calls.map((call) => this.#count(call, asking)))
    send(calls.map((call, nth) => this.#withLease(call, counted[nth]!, asking)))
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  async #count(call: CounterCall, asking: Asking): Promise<Count | null> {
    const { spec, verb, caller, calls, quota } = call
    const { counter } = this.#entry(spec)
    if (verb === 'get') await this.#recall(call, asking)
    if (verb !== 'consume' || quota === undefined) return counter[verb](caller, calls)
    for (;;) {
      const counted = counter.consumeNow(caller, calls, quota)
      if (counted.used <= quota) return counted
      // A caller may use all calls that other processes have leased and not used. Waiting calls try again in
      // their order.
      const recalled = this.#recall(call, asking)
      if (!recalled) return counted
      await recalled
    }
  }

  /** Leases more to a process that has counted a call. */
  #withLease(call: CounterCall, counted: Count | null, { process, processes }: Asking): CounterAnswer {
    if (!counted) return null
    const { spec, caller, quota } = call
    if (quota === undefined || counted.used > quota) return answerOf(counted, 0)
    const { counter, holders } = this.#entry(spec)
    const used = counter.usedNow(caller)
    const part = ((quota - used) * LEASED_PART) / processes
    const leased = Math.max(0, Math.min(MOST_LEASED, Math.floor(part)))
    // The window of the call may have ended since the call was counted.
    if (leased === 0 || used === 0) return answerOf(counted, 0)
    holders.set(caller, (holders.get(caller) ?? new Set()).add(process))
    return answerOf(counter.consumeNow(caller, leased), leased)
  }

  /**
   * Takes back all leases for a caller; undefined if there are none. Calls share a recall that is under way.
   */
  #recall({ spec, caller }: CounterCall, { recall }: Asking): Promise<void> | undefined {
    const { counter, holders, recalls } = this.#entry(spec)
    const underWay = recalls.get(caller)
    const held = holders.get(caller)
    if (underWay || !held) return underWay
    holders.delete(caller)
    const takenBack = Promise.all([...held].map((process) => recall(process, spec[0], caller)))
      .then(async (unused) => {
        await counter.giveBack(
          caller,
          unused.reduce((sum, calls) => sum + calls, 0),
        )
      })
      .finally(() => recalls.delete(caller))
    recalls.set(caller, takenBack)
    return takenBack
  }

  #entry(spec: CounterSpec): Entry {
    const [name, durationS, mostCallers] = spec
    const nowMs = performance.now()
    let entry = this.#entries.get(name)
    if (!entry) {
      // Each month has its own counter, which nobody asks after the month.
      for (const [old, { endsMs }] of this.#entries) if (endsMs < nowMs) this.#entries.delete(old)
      const holders = new LRUCache<string, Set<number>>({ maxSize: mostCallers, sizeCalculation: () => 1 })
      entry = { counter: new MemoryCounter(...spec), holders, recalls: new Map(), endsMs: 0 }
      this.#entries.set(name, entry)
    }
    entry.endsMs = nowMs + durationS * 1000
    return entry
  }
}

function answerOf({ used, msLeft }: Count, leased: number): CounterAnswer {
  return [used, msLeft, leased]
}
