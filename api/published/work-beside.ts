// Does long work in short pieces, so that no call waits long for it. All such work of the process shares the
// pieces, because it shares the event loop.
import { setImmediate as othersHaveRun, setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'

/** The length of a piece; a step that began before its end is done first. */
const PIECE_MS = 2
/** The pause after a piece of work that nobody waits for. */
const REST_MS = 2

let pieceEndsMs = 0
let nextPiece: Promise<void> | undefined

type Clock = () => number

/**
 * Must be awaited before each step. Resolves at once during a piece, and otherwise in a later turn, after the
 * calls of this turn have run.
 */
async function besideAnswers(monotonicMs: Clock): Promise<void> {
  while (monotonicMs() >= pieceEndsMs) {
    nextPiece ??= othersHaveRun().then(() => {
      pieceEndsMs = monotonicMs() + PIECE_MS
      nextPiece = undefined
    })
    await nextPiece
  }
}

const oneAtATime = pLimit(1)

/**
 * Does work that keeps the processor busy for milliseconds, after all earlier work of this kind. Two pieces
 * of work without steps never run in the same turn.
 *
 * @param work awaits its argument before each of its steps, if it has several.
 */
export function heavyWork<T>(
  monotonicMs: Clock,
  work: (besideAnswers: () => Promise<void>) => T | Promise<T>,
): Promise<T> {
  const beforeStep = () => besideAnswers(monotonicMs)
  return oneAtATime(async () => {
    await beforeStep()
    return work(beforeStep)
  })
}

/**
 * Work of many steps that nobody waits for, and that must end in time. It rests after each piece, because the
 * operating system makes a thread that keeps a core busy wait longer for the core, and the callers of this
 * process wait with the thread.
 */
export class WorkBeside {
  readonly #monotonicMs: Clock
  readonly #endsMs: number
  #restsAtMs = 0

  /** @param limitMs how long it may go on. */
  constructor(monotonicMs: Clock, limitMs: number) {
    this.#monotonicMs = monotonicMs
    this.#endsMs = monotonicMs() + limitMs
  }

  /** Must be awaited before each step, one at a time. Resolves to false once the time is over. */
  async goesOn(): Promise<boolean> {
    const beganMs = this.#monotonicMs()
    if (beganMs >= this.#endsMs) return false
    const restsFirst = beganMs >= this.#restsAtMs
    if (restsFirst) await pause(REST_MS)
    await besideAnswers(this.#monotonicMs)
    const nowMs = this.#monotonicMs()
    if (restsFirst) this.#restsAtMs = nowMs + PIECE_MS
    return nowMs < this.#endsMs
  }
}
