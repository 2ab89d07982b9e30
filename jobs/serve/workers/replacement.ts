// The pause before a worker that has ended is replaced.

/** A worker that has lived this long did not die of its start. */
const STEADY_MS = 60_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

export class Replacement {
  #shortLives = 0

  /** Returns 0 for the first replacement. While one worker after the other dies young, the pause doubles. */
  pauseMs(livedMs: number): number {
    if (livedMs >= STEADY_MS) this.#shortLives = 0
    this.#shortLives += 1
    if (this.#shortLives === 1) return 0
    return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#shortLives - 2))
  }
}
