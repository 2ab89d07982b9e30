// Follows the store at the usual pace while the node is asked for something, and seldom while nobody asks.

/** The pause between two looks at the store while nobody asks. A look costs three requests at most, so this is cheap. */
const REST_MS = 15_000
/** How long a call waits for what was written while the node rested. A store that does not answer delays no call longer. */
const PATIENCE_MS = 500

/** Resolves to true after this many milliseconds, or to false as soon as the signal is aborted. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<boolean>

interface FollowerSettings {
  refreshMs: number
  pause: Pause
  /** Whether nobody has looked yet: then the first look is made at once, and calls wait for it as for a node that rested. */
  isBehind?: boolean
  /** Brings up to date what the node knows, and handles its own failures. */
  follow: () => Promise<void>
}

export class Follower {
  readonly #settings: FollowerSettings
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  /** Whether a call has come since the last look. */
  #asked = false
  /** Whether what the node knows may be older than `refreshMs`. */
  #resting = false
  #following: Promise<void> | undefined
  #waking: Promise<void> | undefined

  constructor(settings: FollowerSettings) {
    this.#settings = settings
    if (settings.isBehind) {
      this.#resting = true
      void this.#look()
    }
    this.#running = this.#run()
  }

  /** Awaited before a call is answered: what it is answered from is then not older than `refreshMs` and a look. */
  async catchUp(): Promise<void> {
    this.#asked = true
    if (!this.#resting) return
    this.#waking ??= this.#wake()
    await this.#waking
  }

  /** Looks no more, and waits for the look that is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { refreshMs, pause } = this.#settings
    const { signal } = this.#stopping
    for (let skippedMs = 0; await pause(refreshMs, signal);) {
      if (!this.#asked) this.#resting = true
      skippedMs += refreshMs
      if (this.#resting && skippedMs < REST_MS) continue
      skippedMs = 0
      this.#asked = false
      await this.#look()
    }
    await this.#following
  }

  async #wake(): Promise<void> {
    const waited = new AbortController()
    await Promise.race([this.#look(), this.#settings.pause(PATIENCE_MS, waited.signal)])
    waited.abort()
    // Also after a look that failed or takes longer: the next ones are made at the usual pace, and no call waits.
    this.#resting = false
    this.#waking = undefined
  }

  /** Calls made while a look is under way share it. */
  #look(): Promise<void> {
    this.#following ??= this.#settings.follow().finally(() => {
      this.#following = undefined
    })
    return this.#following
  }
}
