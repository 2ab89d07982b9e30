// The health of a node by its last attempts, for load balancers and alerts. The node makes the attempts in
// the background, so that asking for its health costs nothing and never hangs.
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { MOST_APART_MS, aheadMs } from '../../pipeline/store/clock.ts'
import { probePath } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Check, Checks } from '../../schemas/answers.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Environment } from '../../schemas/values.ts'

/** Check the clock seldom: it goes wrong slowly, and asking the store for its time takes one more call. */
const CLOCK_EVERY_MS = 60_000
/** Each day has a release, even if nothing changes: the first run of the schedule after midnight makes it. */
export const OLD_RELEASE_MS = 25 * 60 * 60_000

export interface HealthComponents {
  environment: Environment
  store: Store
  now: () => Date
  logger: Logger
  /** The id in the path of the object that this node writes again and again. */
  id: string
  /** The time that the store may take for one call. */
  timeoutMs: number
  /**
   * How far the clock was ahead of the store's when the service started; undefined if the store gives no
   * time.
   */
  clockAheadMs: number | undefined
}

type Tried = 'reads' | 'writes' | 'clock'

export class Health {
  readonly #components: HealthComponents
  readonly #path: string
  readonly #tried: Record<Tried, Check>
  /** Calls without an answer yet. A hanging call is not repeated before it ends. */
  readonly #underWay = new Set<Tried>()
  #questions: Check
  #clockDueMs: number
  #manifest: ReleaseManifest | undefined
  #followedAt: Date

  /** Assumes that the service has just read its store and written to it. */
  constructor(components: HealthComponents) {
    this.#components = components
    this.#path = probePath(components.id)
    const started = components.now()
    this.#followedAt = started
    this.#clockDueMs = started.getTime() + CLOCK_EVERY_MS
    const checked_at = started.toISOString()
    this.#tried = {
      reads: { ok: true, detail: 'the store was read at the start', checked_at },
      writes: { ok: true, detail: 'the store was written to at the start', checked_at },
      clock: { ok: true, detail: '', checked_at },
    }
    this.#questions = { ok: false, detail: 'the questions are not read yet', checked_at }
    this.#noteClock(components.clockAheadMs)
  }

  /**
   * Also wrong if the clock is far behind the current release: then this clock or the release's was wrong. A
   * forecast of this time would look backdated, because the release does not have it.
   */
  get clock(): Check {
    const behindMs = -(this.releaseAgeMs ?? 0)
    if (!this.#tried.clock.ok || behindMs <= MOST_APART_MS) return this.#tried.clock
    const { release, as_of } = this.#manifest!
    const now = this.#components.now().toISOString()
    const detail = `the clock of this node says ${now}, and release ${release} is as of ${as_of}, ${Math.round(behindMs / 1000)} s later; at most ${MOST_APART_MS / 1000} s are allowed`
    return { ok: false, detail, checked_at: this.#followedAt.toISOString() }
  }

  get checks(): Checks {
    return { ...this.#tried, clock: this.clock, questions: this.#questions, release: this.#release() }
  }

  /** Notes that the node has looked at its store and serves this release. */
  followed(manifest: ReleaseManifest | undefined): void {
    const { logger, environment } = this.#components
    const isNew = manifest?.release !== this.#manifest?.release
    this.#manifest = manifest
    this.#followedAt = this.#components.now()
    const { ok, detail } = this.clock
    if (isNew && this.#tried.clock.ok && !ok) logger.error({ environment, check: 'clock' }, detail)
  }

  /** Notes an attempt to read the questions for the first time. The node repeats it until it succeeds. */
  triedQuestions(failure?: { error: unknown }): void {
    const { now, logger, environment } = this.#components
    const checked_at = now().toISOString()
    const was = this.#questions.detail
    const detail = failure
      ? `the questions could not be read (${publicReason(failure.error)})`
      : 'the questions were read'
    this.#questions = { ok: !failure, detail, checked_at }
    if (failure && detail !== was) {
      logger.error(
        { environment, check: 'questions', err: failure.error },
        `${detail}: no forecasts are taken`,
      )
    }
  }

  /** The age of the current release; undefined if there is none. */
  get releaseAgeMs(): number | undefined {
    return this.#manifest && this.#components.now().getTime() - Date.parse(this.#manifest.as_of)
  }

  /** Tries everything once. Ends in time even if the store does not answer. */
  async look(): Promise<void> {
    await Promise.all([this.#read(), this.#write()])
  }

  /** Removes the object of this node, unless the store hangs or takes no writes. */
  async close(): Promise<void> {
    if (this.#underWay.size > 0 || !this.#tried.writes.ok) return
    await this.#inTime(this.#components.store.delete(this.#path).catch(() => undefined))
  }

  async #read(): Promise<void> {
    await this.#try('reads', async () => {
      await this.#components.store.get(this.#path)
      this.#note('reads', true, 'the store was read')
    })
  }

  async #write(): Promise<void> {
    const { store, now } = this.#components
    const written = await this.#try('writes', async () => {
      const before = now()
      await store.put(this.#path, Buffer.from(`${before.toISOString()}\n`))
      this.#note('writes', true, 'the store was written to')
      return { before, after: now() }
    })
    if (!written || (written.after.getTime() < this.#clockDueMs && this.#tried.clock.ok)) return
    const { before, after } = written
    await this.#try('clock', async () => {
      for await (const { path, modifiedAt } of store.list(this.#path)) {
        if (path === this.#path) this.#noteClock(aheadMs(before, modifiedAt, after))
      }
      this.#clockDueMs = after.getTime() + CLOCK_EVERY_MS
    })
  }

  /** Returns the result of `work`; undefined if it fails or takes too long. */
  async #try<T>(name: Tried, work: () => Promise<T>): Promise<T | undefined> {
    let result: T | undefined
    if (!this.#underWay.has(name)) {
      this.#underWay.add(name)
      const ended = work()
        .then((value) => (result = value))
        .catch((error: unknown) => {
          this.#fail(name, publicReason(error), error)
        })
        .finally(() => this.#underWay.delete(name))
      await this.#inTime(ended)
    }
    if (this.#underWay.has(name)) this.#fail(name, `no answer within ${this.#components.timeoutMs} ms`)
    return result
  }

  async #inTime(work: Promise<unknown>): Promise<void> {
    const over = new AbortController()
    const late = pause(this.#components.timeoutMs, undefined, { signal: over.signal }).catch(() => undefined)
    await Promise.race([work, late])
    over.abort()
  }

  /**
   * Notes a failure. A failed check of the clock leaves the last verdict, because the clock's state is
   * unknown.
   */
  #fail(name: Tried, reason: string, error?: unknown): void {
    if (name === 'clock') return
    const what = name === 'reads' ? 'the store could not be read' : 'the store could not be written to'
    this.#note(name, false, `${what} (${reason})`, error)
  }

  #noteClock(ahead: number | undefined): void {
    if (ahead === undefined) {
      this.#note('clock', true, 'the store does not say what time it is')
      return
    }
    const here = this.#components.now()
    const there = new Date(here.getTime() - ahead)
    const isRight = Math.abs(ahead) <= MOST_APART_MS
    const seconds = Math.round(Math.abs(ahead) / 1000)
    const apart = `${seconds} s ${ahead < 0 ? 'behind' : 'ahead of'} that of the store`
    this.#note(
      'clock',
      isRight,
      isRight
        ? `the clock of this node is ${apart}`
        : `the clock of this node says ${here.toISOString()}, ${apart}, which says ${there.toISOString()}; ` +
            `at most ${MOST_APART_MS / 1000} s are allowed`,
    )
  }

  /** Notes the result of a check, and logs a change. */
  #note(name: Tried, ok: boolean, detail: string, error?: unknown): void {
    const { now, logger, environment } = this.#components
    const was = this.#tried[name]
    this.#tried[name] = { ok, detail, checked_at: now().toISOString() }
    if (was.ok && !ok) logger.error({ environment, check: name, err: error }, detail)
    if (!was.ok && ok) logger.info({ environment, check: name }, `${detail} again`)
  }

  #release(): Check {
    const checked_at = this.#followedAt.toISOString()
    const age = this.releaseAgeMs
    if (!this.#manifest || age === undefined)
      return { ok: true, detail: 'there is no release yet', checked_at }
    const { release, as_of } = this.#manifest
    const seconds = Math.round(age / 1000)
    const detail = `release ${release} is as of ${as_of}, ${seconds < 0 ? `${-seconds} s ahead of the clock of this node` : `${seconds} s ago`}`
    return { ok: age <= OLD_RELEASE_MS, detail, checked_at }
  }
}

/**
 * Returns a reason that anyone may read: a code such as ENOSPC or AccessDenied, without paths or hosts. The
 * log has the rest.
 */
function publicReason(error: unknown): string {
  const cause: unknown = error instanceof ServiceError ? (error.cause ?? error) : error
  if (cause instanceof ServiceError) return cause.kind
  if (!(cause instanceof Error)) return 'unknown reason'
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name
}
