// Counters that each process of a machine keeps in its memory, because every call asks them first.
import type { Count, CounterSpec, Counters } from './counters.ts'
import { MemoryCounter } from './memory-counter.ts'

/** A change of a count, as one process tells it to the others. */
export interface CountedAttempt {
  spec: CounterSpec
  verb: 'consume' | 'giveBack'
  caller: string
  calls: number
}

/** Each process tells the others its changes, and learns theirs. */
export class MirroredCounters implements Counters {
  readonly shared = true
  readonly #tell: (call: CountedAttempt) => void
  readonly #counters = new Map<string, MirroredCounter>()

  constructor(tell: (call: CountedAttempt) => void) {
    this.#tell = tell
  }

  counter(...spec: CounterSpec): MemoryCounter {
    const counter = new MirroredCounter(spec, this.#tell)
    this.#counters.set(spec[0], counter)
    return counter
  }

  /** Learns a change of another process. */
  learn({ spec, verb, caller, calls }: CountedAttempt): void {
    void this.#counters.get(spec[0])?.learn(verb, caller, calls)
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

class MirroredCounter extends MemoryCounter {
  readonly #spec: CounterSpec
  readonly #tell: (call: CountedAttempt) => void

  constructor(spec: CounterSpec, tell: (call: CountedAttempt) => void) {
    super(...spec)
    this.#spec = spec
    this.#tell = tell
  }

  override consumeNow(caller: string, calls = 1, quota = Infinity, nowMs?: number): Count {
    const count = super.consumeNow(caller, calls, quota, nowMs)
    if (count.used <= quota) this.#tell({ spec: this.#spec, verb: 'consume', caller, calls })
    return count
  }

  override giveBack(caller: string, calls = 1): Promise<Count> {
    this.#tell({ spec: this.#spec, verb: 'giveBack', caller, calls })
    return super.giveBack(caller, calls)
  }

  async learn(verb: CountedAttempt['verb'], caller: string, calls: number): Promise<void> {
    if (verb === 'consume') super.consumeNow(caller, calls)
    else await super.giveBack(caller, calls)
  }
}
