// The clock of `fvs demo`. It is behind the real clock until the weeks that are simulated are over.
import type { Store } from '../../pipeline/store/store.ts'

export class DemoClock {
  #behindMs: number

  /** @param at what the clock shows now, at or before the real time. */
  constructor(at: Date) {
    this.#behindMs = Date.now() - at.getTime()
  }

  readonly now = (): Date => new Date(Date.now() - this.#behindMs)

  /** Moves the clock forward, never back. Between two moves it runs as the real clock does. */
  moveTo(at: Date): void {
    this.#behindMs = Math.min(this.#behindMs, Date.now() - at.getTime())
  }

  /** Moves the clock forward to the real time. */
  catchUp(): void {
    this.#behindMs = 0
  }

  /**
   * Returns the store as one that does not say what time it is until this clock has caught up: a service
   * whose clock is behind that of its store takes no forecasts.
   */
  untimed(store: Store): Store {
    const isBehind = () => this.#behindMs > 0
    const list: Store['list'] = async function* (...asked) {
      for await (const object of store.list(...asked)) {
        yield isBehind() ? { ...object, modifiedAt: new Date(Number.NaN) } : object
      }
    }
    const own = (name: string | symbol) => {
      const value: unknown = Reflect.get(store, name, store)
      return typeof value === 'function' ? (value.bind(store) as unknown) : value
    }
    return new Proxy(store, { get: (_, name) => (name === 'list' ? list : own(name)) })
  }
}
