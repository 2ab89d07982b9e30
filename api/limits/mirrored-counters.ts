// Counters that each process of a machine holds in its memory, because they are asked about before every call.
import type { Count, CounterSpec, Counters } from './counters.ts'
import { MemoryCounter } from './memory-counter.ts'

/** What a process has counted. */
export interface CountedAttempt {
  spec: CounterSpec
  verb: 'consume' | 'giveBack'
  caller: string
  calls: number
}

/** They tell the other processes what they count, and take in what they are told. */
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

  /** Takes in what another process has counted. */
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
