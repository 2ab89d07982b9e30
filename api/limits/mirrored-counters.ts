// Counters that each process of a machine holds in its memory, because they are asked about before every call.
import type { RateLimiterRes } from 'rate-limiter-flexible'
import { type Counters, MemoryCounter, type WithQuota } from './counters.ts'
import type { CounterSpec } from './counter-table.ts'

/** What a process has counted. */
export interface CountedAttempt {
  spec: CounterSpec
  verb: 'consume' | 'reward'
  caller: string
  points: number
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
  learn({ spec, verb, caller, points }: CountedAttempt): void {
    void this.#counters.get(spec[0])?.learn(verb, caller, points)
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

  override async consume(caller: string, points = 1, { quota = Infinity }: WithQuota = {}) {
    const counted = super.consumeNow(caller, points, quota)
    if (counted.consumedPoints <= quota) this.#tell({ spec: this.#spec, verb: 'consume', caller, points })
    return counted
  }

  override reward(caller: string, points = 1): Promise<RateLimiterRes> {
    this.#tell({ spec: this.#spec, verb: 'reward', caller, points })
    return super.reward(caller, points)
  }

  async learn(verb: CountedAttempt['verb'], caller: string, points: number): Promise<void> {
    await super[verb](caller, points)
  }
}
