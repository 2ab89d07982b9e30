// Counters of calls: the interface that memory and Redis implement.

/** The calls of one caller that count now. */
export interface Count {
  /** The calls used, including those of this answer. */
  used: number
  /** Milliseconds until the count ends, and the whole quota is available again. */
  msLeft: number
}

/**
 * Counts calls by caller. A count begins with the first call and ends a fixed time later. Each method is
 * atomic for a caller, and none rejects: a counter that cannot reach its counts counts in memory, starting
 * from zero.
 */
export interface Counter {
  /** The clock of the process, in milliseconds; nobody sets it. */
  readonly monotonicMs: () => number
  /**
   * Counts `calls` (1 by default) unless they exceed the `quota` (none by default). Resolves to the count
   * with them: if its `used` is above the quota, the calls are refused and none of them stays counted.
   */
  consume(caller: string, calls?: number, quota?: number): Promise<Count>
  /**
   * Gives `calls` back (1 by default). A count that has ended takes nothing back; otherwise one call too many
   * would be admitted.
   */
  giveBack(caller: string, calls?: number): Promise<Count>
  /** Resolves to null if nothing is counted. Counts nothing. */
  get(caller: string): Promise<Count | null>
}

export interface CounterSpec {
  /** Keeps the counter apart from those of other policies and environments. */
  name: string
  /** How long a count lasts from its first call. */
  durationS: number
  /** The most counts in memory. */
  mostCallers: number
}

export interface Counters {
  /** Whether other processes share these counts. */
  readonly shared: boolean
  counter(spec: CounterSpec): Counter
  close(): Promise<void>
}

/**
 * Anyone can have any number of addresses for free, so a counter keeps only this many: those of the latest
 * callers. They take 20 MB.
 */
export const MOST_ADDRESSES = 100_000
/** No bound, because nobody can invent these callers, such as accounts. */
export const EVERYONE = Number.MAX_SAFE_INTEGER
