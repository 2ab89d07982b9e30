// Counters that the processes of one machine share: one process holds them in its memory, and the others ask it.
import { RateLimiterRes } from 'rate-limiter-flexible'
import { type Counters, MemoryCounter } from './counters.ts'

/** Which counter, and how it counts, for the first call of it. */
export type CounterSpec = readonly [name: string, durationS: number, mostCallers: number]

export interface CounterCall {
  spec: CounterSpec
  verb: 'consume' | 'reward' | 'get'
  caller: string
  points: number
}

/** What a counter has for a caller; null if nothing. */
export type CounterAnswer = readonly [points: number, msLeft: number] | null

/**
 * Asks the process that counts: one answer for each call, in their order. Undefined if that process is gone; it never
 * fails.
 */
export type AskCounters = (calls: readonly CounterCall[]) => Promise<readonly CounterAnswer[] | undefined>

/** The counters of the process that is asked. */
export class CounterTable implements Counters {
  readonly shared = false
  readonly #counters = new Map<string, { counter: MemoryCounter; endsMs: number }>()

  counter(...spec: CounterSpec): MemoryCounter {
    const [name, durationS] = spec
    const nowMs = performance.now()
    const known = this.#counters.get(name)
    // Each month has a counter of its own, which nobody asks when the month is over.
    if (!known) this.#dropEnded(nowMs)
    const counter = known?.counter ?? new MemoryCounter(...spec)
    this.#counters.set(name, { counter, endsMs: nowMs + durationS * 1000 })
    return counter
  }

  answer(calls: readonly CounterCall[]): Promise<CounterAnswer[]> {
    return Promise.all(
      calls.map(async ({ spec, verb, caller, points }) => {
        const counted = await this.counter(...spec)[verb](caller, points)
        return counted && ([counted.consumedPoints, counted.msBeforeNext] as const)
      }),
    )
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  #dropEnded(nowMs: number): void {
    for (const [name, { endsMs }] of this.#counters) if (endsMs < nowMs) this.#counters.delete(name)
  }
}

type Ask = (call: CounterCall) => Promise<CounterAnswer | undefined>

/** Counts in another process. While that one does not answer, this process counts by itself, starting from zero. */
export function countRemotely(askAll: AskCounters): Counters {
  const ask = together(askAll)
  return {
    shared: true,
    counter: (...spec) => new RemoteCounter(spec, ask),
    close: () => Promise.resolve(),
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

class RemoteCounter extends MemoryCounter {
  readonly #spec: CounterSpec
  readonly #ask: Ask

  constructor(spec: CounterSpec, ask: Ask) {
    super(...spec)
    this.#spec = spec
    this.#ask = ask
  }

  override async consume(caller: string, points = 1): Promise<RateLimiterRes> {
    const answer = await this.#ask({ spec: this.#spec, verb: 'consume', caller, points })
    return answer ? resultOf(answer) : super.consume(caller, points)
  }

  override async reward(caller: string, points = 1): Promise<RateLimiterRes> {
    const answer = await this.#ask({ spec: this.#spec, verb: 'reward', caller, points })
    return answer ? resultOf(answer) : super.reward(caller, points)
  }

  override async get(caller: string): Promise<RateLimiterRes | null> {
    const answer = await this.#ask({ spec: this.#spec, verb: 'get', caller, points: 0 })
    return answer === undefined ? super.get(caller) : answer && resultOf(answer)
  }
}

function resultOf([points, msLeft]: NonNullable<CounterAnswer>): RateLimiterRes {
  return new RateLimiterRes(Number.MAX_SAFE_INTEGER - points, msLeft, points)
}

/** Counters that each process holds in its memory. They tell the others what they count, and take in what they are told. */
export class MirroredCounters implements Counters {
  readonly shared = true
  readonly #tell: (call: CounterCall) => void
  readonly #counters = new Map<string, MirroredCounter>()

  constructor(tell: (call: CounterCall) => void) {
    this.#tell = tell
  }

  counter(...spec: CounterSpec): MemoryCounter {
    const counter = new MirroredCounter(spec, this.#tell)
    this.#counters.set(spec[0], counter)
    return counter
  }

  /** Takes in what another process has counted. */
  learn({ spec, verb, caller, points }: CounterCall): void {
    void this.#counters.get(spec[0])?.learn(verb, caller, points)
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

class MirroredCounter extends MemoryCounter {
  readonly #spec: CounterSpec
  readonly #tell: (call: CounterCall) => void

  constructor(spec: CounterSpec, tell: (call: CounterCall) => void) {
    super(...spec)
    this.#spec = spec
    this.#tell = tell
  }

  override consume(caller: string, points = 1): Promise<RateLimiterRes> {
    this.#tell({ spec: this.#spec, verb: 'consume', caller, points })
    return super.consume(caller, points)
  }

  override reward(caller: string, points = 1): Promise<RateLimiterRes> {
    this.#tell({ spec: this.#spec, verb: 'reward', caller, points })
    return super.reward(caller, points)
  }

  async learn(verb: CounterCall['verb'], caller: string, points: number): Promise<void> {
    await super[verb](caller, points)
  }
}
