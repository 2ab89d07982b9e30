// Work that goes on beside the answers, in short pieces, so that no call waits long for it.
import { setImmediate as othersHaveRun } from 'node:timers/promises'

/** A piece ends with the first step after this long. */
const PIECE_MS = 2

export class WorkBeside {
  readonly #endsMs: number
  #pieceEndsMs = performance.now() + PIECE_MS

  /** @param limitMs how long it may go on. */
  constructor(limitMs: number) {
    this.#endsMs = performance.now() + limitMs
  }

  /** Called before each step; lets calls be answered first where a piece is over. False once time is over. */
  async goesOn(): Promise<boolean> {
    if (performance.now() >= this.#pieceEndsMs) {
      await othersHaveRun()
      this.#pieceEndsMs = performance.now() + PIECE_MS
    }
    return performance.now() < this.#endsMs
  }
}
