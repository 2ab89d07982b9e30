// Answers that take the whole table of forecasts: worked out on request, one at a time, and then kept.
import { type Asker, LONG, TurnLost, Turns } from '../turns.ts'
import { ShardCache } from './shard-cache.ts'

const CACHE_BYTES = 32 * 1024 * 1024
/** As how many further calls an answer counts that is not kept: it takes 30 to 160 ms of the main thread. */
const CALLS_OF_ONE_NOT_KEPT = 20

/** Of the whole process. */
export const wholeTables = new Turns(LONG)

export class WorkedOut {
  readonly #kept = new ShardCache<object>(CACHE_BYTES)

  /**
   * Returns the answer under a key, or makes it in the turn of the asker, who pays for it.
   *
   * @throws TurnLost.
   */
  async answerUnder<T extends object>(
    key: string,
    asker: Asker,
    make: () => Promise<{ value: T; sizeBytes: number }>,
  ): Promise<T> {
    const kept = this.#kept.atHand(key)
    if (kept) return kept as T
    await asker.countMore(CALLS_OF_ONE_NOT_KEPT)
    for (;;) {
      let isOwnTurn = false
      try {
        const made = await this.#kept.get(key, () => {
          isOwnTurn = true
          return wholeTables.run(asker, make)
        })
        return made as T
      } catch (error) {
        // Another caller who wanted the same lost its turn: this one waits for its own.
        if (isOwnTurn || !(error instanceof TurnLost)) throw error
      }
    }
  }
}
