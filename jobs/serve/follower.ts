// Follows the store at the usual pace while calls come, and seldom while nobody calls.
import { netted } from '../../api/http/net.ts'

/** The pause between two looks at the store while nobody calls. A look costs at most six requests. */
const REST_MS = 15_000
/** Far less than the time that clients wait for an answer. */
const PATIENCE_MS = 500

/** Resolves to true after this many milliseconds, or to false as soon as the signal is aborted. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<boolean>

interface FollowerSettings {
  refreshMs: number
  pause: Pause
  /**
   * If given, the follower begins like a rested node: it makes the first look after this many milliseconds,
   * or as soon as a call waits for it.
   */
  firstLookMs?: number
  /**
   * The longest that a call waits for a look after the node rested, even if the store does not answer;
   * `PATIENCE_MS` if left out.
   */
  patienceMs?: number
  /** Updates the node's knowledge of the store, and handles its own failures. */
  follow: () => Promise<void>
}

export class Follower {
  readonly #settings: FollowerSettings
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  /** Whether a call has come since the last look. */
  #wasCalled = false
  /** Whether the node's knowledge may be older than `refreshMs`. */
  #resting: boolean
  /** Whether the node rested and no look has ended since. */
  #behind = false
  readonly #looked = Promise.withResolvers<void>()
  #following: Promise<void> | undefined
  #waking: Promise<boolean> | undefined

  constructor(settings: FollowerSettings) {
    this.#settings = settings
    this.#resting = settings.firstLookMs !== undefined
    this.#running = this.#run()
  }

  /** Resolves once the first look has ended. */
  get looked(): Promise<void> {
    return this.#looked.promise
  }

  /** Whether a call has to wait for a look. */
  get isResting(): boolean {
    return this.#resting
  }

  /**
   * Await this before answering a call, so that its data are no older than `refreshMs` plus the duration of a
   * look. Resolves to false if they may be older, because the node has rested and still looks.
   */
  async catchUp(): Promise<boolean> {
    this.#wasCalled = true
    if (!this.#resting) return !this.#behind
    this.#waking ??= this.#wake()
    return this.#waking
  }

  /** Stops looking, and waits for the look under way. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { refreshMs, firstLookMs, pause } = this.#settings
    const { signal } = this.#stopping
    // A call may already have started the first look.
    if (firstLookMs !== undefined && (await pause(firstLookMs, signal)) && this.#resting) void this.#look()
    for (let skippedMs = 0; await pause(refreshMs, signal);) {
      if (!this.#wasCalled) this.#resting = true
      skippedMs += refreshMs
      if (this.#resting && skippedMs < REST_MS) continue
      skippedMs = 0
      this.#wasCalled = false
      await this.#look()
    }
    await this.#following
  }

  async #wake(): Promise<boolean> {
    const waited = new AbortController()
    const { pause, patienceMs = PATIENCE_MS } = this.#settings
    this.#behind = true
    const looked = this.#look().then(() => {
      this.#behind = false
    })
    await Promise.race([looked, pause(patienceMs, waited.signal)])
    waited.abort()
    // End the rest even if the look failed or takes longer: the next looks come at the usual pace, and no
    // call waits.
    this.#resting = false
    this.#waking = undefined
    return !this.#behind
  }

  /** Looks once. Calls made during a look share it. */
  #look(): Promise<void> {
    this.#following ??= netted(this.#settings.follow).finally(() => {
      this.#following = undefined
      this.#looked.resolve()
    })
    return this.#following
  }
}
