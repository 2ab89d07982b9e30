// Work that goes on beside the answers of a process, in short pieces, so that no call waits long for it. The event loop is the process's,
// and so is the time that such work has in one of its turns, whoever it is done for.
import { setImmediate as othersHaveRun } from 'node:timers/promises'
import pLimit from 'p-limit'

/** How long work goes on in one turn of the event loop; what was begun by then is done first. */
const PIECE_MS = 2

let pieceEndsMs = 0
let nextTurn: Promise<void> | undefined
const oneAtATime = pLimit(1)

/** Awaited before each piece of work; lets calls be answered first where the work of this turn has taken its time. */
async function besideAnswers(): Promise<void> {
  while (performance.now() >= pieceEndsMs) {
    nextTurn ??= othersHaveRun().then(() => {
      pieceEndsMs = performance.now() + PIECE_MS
      nextTurn = undefined
    })
    await nextTurn
  }
}

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

/** Work of many steps that has to end in time. */
export class WorkBeside {
  readonly #endsMs: number

  /** @param limitMs how long it may go on. */
  constructor(limitMs: number) {
    this.#endsMs = performance.now() + limitMs
  }

  /** Called before each step. False once time is over. */
  async goesOn(): Promise<boolean> {
    await besideAnswers()
    return performance.now() < this.#endsMs
  }
}
