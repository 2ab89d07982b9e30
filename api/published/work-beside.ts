// Work that goes on beside the answers of a process, in short pieces, so that no call waits long for it. The event loop is the process's,
// and so is the time that such work has in one of its turns, whoever it is done for.
import { setImmediate as othersHaveRun, setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'

/** How long work goes on before something else has its turn; what was begun by then is done first. */
const PIECE_MS = 2
/** How long work rests that nobody waits for. */
const REST_MS = 2

/** Pieces of work, and what goes on between them. */
class Pieces {
  readonly #between: () => Promise<void>
  #endsMs = 0
  #next: Promise<void> | undefined

  constructor(between: () => Promise<void>) {
    this.#between = between
  }

  /** Resolves at once during a piece, otherwise when the next one begins. */
  async going(): Promise<void> {
    while (performance.now() >= this.#endsMs) {
      this.#next ??= this.#between().then(() => {
        this.#endsMs = performance.now() + PIECE_MS
        this.#next = undefined
      })
      await this.#next
    }
  }
}

const piecesOfTurns = new Pieces(() => othersHaveRun())
const oneAtATime = pLimit(1)

/** Awaited before each piece of work; lets calls be answered first where the work of this turn has taken its time. */
const besideAnswers = () => piecesOfTurns.going()

/**
 * Does what keeps the processor busy for milliseconds, once all that came before is done. What has no pieces is not in one turn with another such.
 *
 * @param work awaits what it is given between its pieces, where it has some.
 */
export function heavyWork<T>(work: (besideAnswers: () => Promise<void>) => T | Promise<T>): Promise<T> {
  return oneAtATime(async () => {
    await besideAnswers()
    return work(besideAnswers)
  })
}

/**
 * Work of many steps that nobody waits for, and that has to end in time. It rests after each piece. A thread that keeps a core busy waits longer
 * for one, where others want it too, and so does whoever asks this process meanwhile.
 */
export class WorkBeside {
  readonly #endsMs: number
  readonly #pieces = new Pieces(async () => {
    await pause(REST_MS)
    // The piece begins where it may go on, and not before calls are answered.
    await besideAnswers()
  })

  /** @param limitMs how long it may go on. */
  constructor(limitMs: number) {
    this.#endsMs = performance.now() + limitMs
  }

  /** Called before each step. False once time is over. */
  async goesOn(): Promise<boolean> {
    if (performance.now() >= this.#endsMs) return false
    await this.#pieces.going()
    await besideAnswers()
    return performance.now() < this.#endsMs
  }
}
