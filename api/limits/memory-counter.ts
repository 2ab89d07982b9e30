// Counts calls in the memory of this process.
import { LRUCache } from 'lru-cache'
import type { Count, Counter, CounterSpec, Counters } from './counters.ts'

interface CallerCount {
  used: number
  endsMs: number
}

/** Keeps the counts of the latest callers. */
export class MemoryCounter implements Counter {
  readonly monotonicMs: () => number
  readonly #durationMs: number
  readonly #entries: LRUCache<string, CallerCount>

  constructor(monotonicMs: () => number, { durationS, mostCallers }: Omit<CounterSpec, 'name'>) {
    this.monotonicMs = monotonicMs
    this.#durationMs = durationS * 1000
    // A `max` would allocate room for all entries at once.
    this.#entries = new LRUCache({ maxSize: mostCallers, sizeCalculation: () => 1 })
  }

  consume(caller: string, calls = 1, quota = Infinity): Promise<Count> {
    const nowMs = this.monotonicMs()
    const entry = this.#current(caller, nowMs) ?? this.#begin(caller, nowMs)
    const used = entry.used + calls
    if (used <= quota) entry.used = used
    return Promise.resolve({ used, msLeft: entry.endsMs - nowMs })
  }

  giveBack(caller: string, calls = 1): Promise<Count> {
    const nowMs = this.monotonicMs()
    const entry = this.#current(caller, nowMs)
    if (entry) entry.used = Math.max(0, entry.used - calls)
    return Promise.resolve(entry ? countOf(entry, nowMs) : { used: 0, msLeft: 0 })
  }

  get(caller: string): Promise<Count | null> {
    const nowMs = this.monotonicMs()
    const entry = this.#current(caller, nowMs)
    return Promise.resolve(entry ? countOf(entry, nowMs) : null)
  }

  #current(caller: string, nowMs: number): CallerCount | undefined {
    const entry = this.#entries.get(caller)
    return entry && entry.endsMs > nowMs ? entry : undefined
  }

  #begin(caller: string, nowMs: number): CallerCount {
    const entry = { used: 0, endsMs: nowMs + this.#durationMs }
    this.#entries.set(caller, entry)
    return entry
  }
}

function countOf({ used, endsMs }: CallerCount, nowMs: number): Count {
  return { used, msLeft: endsMs - nowMs }
}

export function countInMemory(monotonicMs: () => number): Counters {
  return {
    shared: false,
    counter: (spec) => new MemoryCounter(monotonicMs, spec),
    close: () => Promise.resolve(),
  }
}
