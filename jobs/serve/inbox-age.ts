// Measures how long forecasts wait in the inbox, so that an operator sees when no release takes them in.
import type { Store } from '../../pipeline/store/store.ts'
import { inboxPrefix, inboxTimeMs, isInboxPath } from '../../pipeline/store/paths.ts'

export class InboxAge {
  readonly #store: Store
  readonly #now: () => Date
  #oldestMs: number | undefined

  constructor({ store, now }: { store: Store; now: () => Date }) {
    this.#store = store
    this.#now = now
  }

  /** The age in milliseconds of the oldest object at the last look; 0 if it found none. */
  get ms(): number {
    return this.#oldestMs === undefined ? 0 : Math.max(0, this.#now().getTime() - this.#oldestMs)
  }

  /** Lists the inbox as far as its first object. If the store does not answer, the last result stays. */
  async look(): Promise<void> {
    const isForecasts = (path: string) => isInboxPath('forecasts', path)
    try {
      let oldestMs: number | undefined
      for await (const { path } of this.#store.list(inboxPrefix('forecasts'), undefined, isForecasts)) {
        oldestMs = inboxTimeMs(path)
        // Skip objects named by other programs, whose paths may not begin with a time.
        if (!Number.isNaN(oldestMs)) break
        oldestMs = undefined
      }
      this.#oldestMs = oldestMs
    } catch {
      // Ignore this: the check `reads` of the node's health shows that the store does not answer.
    }
  }
}
