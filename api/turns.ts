// Work that waits for its turn: so much is done at once, so much waits, and addresses have their turns one
// after the other.
import type { Socket } from 'node:net'
import { ServiceError } from '../schemas/errors.ts'

/** The caller for whom work is done. */
export interface Asker {
  /** By which calls are counted; the widest comes first. */
  networks: readonly { name: string }[]
  /** The connection of the caller; undefined for the service itself. */
  socket: Pick<Socket, 'destroyed'> | undefined
  /**
   * Counts further calls, before work that keeps this process busy for longer than one call may.
   *
   * @throws ServiceError `limited` if fewer are left.
   */
  countMore: (calls: number) => Promise<void>
}

/** The service itself, which pays for nothing. */
export const SERVICE: Asker = { networks: [], socket: undefined, countMore: () => Promise.resolve() }

export interface TurnsLimits {
  atOnce: number
  mostWaiting: number
  /** The most that wait of one address, or of one /48 of IPv6. */
  mostOfAddress: number
}

/** Work of seconds. */
export const LONG: TurnsLimits = { atOnce: 1, mostWaiting: 20, mostOfAddress: 4 }
/** Work of tens of milliseconds. */
export const SHORT: TurnsLimits = { atOnce: 1, mostWaiting: 200, mostOfAddress: 50 }

/** In which time some of the work that waits is done. */
const RETRY_AFTER_S = 5

/** The work was not begun, because too much waits or because its caller has gone. */
export class TurnLost extends ServiceError {
  constructor(why: string) {
    super('unavailable', `${why}; nothing was worked out`, { expose: true, retryAfterS: RETRY_AFTER_S })
  }
}

interface Waiting {
  asker: Asker
  /** Whether it is part of an answer that has begun, which must not be cut off. */
  isRest: boolean
  begin: () => void
  lose: (lost: TurnLost) => void
}

export class Turns {
  readonly #limits: TurnsLimits
  #running = 0
  /** By address, in the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(limits: TurnsLimits) {
    this.#limits = limits
  }

  /** Whether nothing waits. */
  get isEmpty(): boolean {
    this.#loseGone()
    return this.#waiting.size === 0
  }

  /**
   * Does work in its turn.
   *
   * @throws TurnLost, and whatever `work` throws.
   */
  run<T>(asker: Asker, work: () => T | Promise<T>): Promise<T> {
    return this.#run(asker, work, false)
  }

  /**
   * Returns a `run` for the parts of one answer. Once its first part has had its turn, the others lose theirs
   * only if the caller has gone.
   */
  inParts(asker: Asker): <T>(work: () => T | Promise<T>) => Promise<T> {
    let isRest = false
    return (work) => {
      const part = this.#run(asker, work, isRest)
      isRest = true
      return part
    }
  }

  async #run<T>(asker: Asker, work: () => T | Promise<T>, isRest: boolean): Promise<T> {
    if (this.#running < this.#limits.atOnce) this.#running += 1
    else await this.#turnOf(asker, isRest)
    try {
      return await work()
    } finally {
      this.#running -= 1
      this.#beginNext()
    }
  }

  #turnOf(asker: Asker, isRest: boolean): Promise<void> {
    const address = addressOf(asker)
    this.#loseGone()
    const own = this.#waiting.get(address) ?? []
    if (!isRest && asker.socket && own.length >= this.#limits.mostOfAddress) {
      throw new TurnLost(`${own.length} calls of this address wait already`)
    }
    if (!isRest && this.#length() >= this.#limits.mostWaiting) this.#makeRoom(own.length + 1)
    const turn = Promise.withResolvers<void>()
    own.push({ asker, isRest, begin: turn.resolve, lose: turn.reject })
    this.#waiting.set(address, own)
    return turn.promise
  }

  /** Takes the last work of the address with most of it, if that has more than the new one would have. */
  #makeRoom(ownLength: number): void {
    let most: Waiting[] = []
    for (const queue of this.#waiting.values()) if (queue.length > most.length) most = queue
    const lost = new TurnLost('too many calls wait')
    const last = most.findLastIndex(({ isRest }) => !isRest)
    if (most.length <= ownLength || last < 0) throw lost
    most.splice(last, 1)[0]!.lose(lost)
  }

  #beginNext(): void {
    this.#loseGone()
    const [first] = this.#waiting
    if (!first) return
    const [address, queue] = first
    const next = queue.shift()!
    // The address has its next turn after all others.
    this.#waiting.delete(address)
    if (queue.length > 0) this.#waiting.set(address, queue)
    this.#running += 1
    next.begin()
  }

  #loseGone(): void {
    for (const [address, queue] of this.#waiting) {
      const here = queue.filter(({ asker, lose }) => {
        if (!asker.socket?.destroyed) return true
        lose(new TurnLost('the caller has gone'))
        return false
      })
      if (here.length > 0) this.#waiting.set(address, here)
      else this.#waiting.delete(address)
    }
  }

  #length(): number {
    let waiting = 0
    for (const queue of this.#waiting.values()) waiting += queue.length
    return waiting
  }
}

/** The widest network, so that whoever has many /64s of IPv6 has the share of one address. */
function addressOf({ networks }: Asker): string {
  return networks[0]?.name ?? ''
}
