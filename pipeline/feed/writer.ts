// Writes the feed: segments with the events between two states. Any number of writers may run: the first to
// create a segment decides it.
import { type FeedEvent, type FeedSegment, type FeedState, feedSegment } from '../../schemas/feed.ts'
import type { PipelineComponents } from '../components.ts'
import { type Database, withDatabase } from '../duckdb.ts'
import { currentRelease } from '../release/read.ts'
import { feedPath } from '../store/paths.ts'
import { recordAt } from '../store/records.ts'
import { TableLog } from '../tables/delta-log.ts'
import { Feed } from './feed.ts'
import { newsBetween, nextPassing } from './news.ts'

/** The most events of a segment, which is read and stored as a whole. */
export const MOST_AT_ONCE = 2_000

export type FeedWriterContext = Pick<
  PipelineComponents,
  'store' | 'local' | 'directory' | 'openDatabase' | 'now'
>

export class FeedWriter {
  readonly #context: FeedWriterContext
  readonly #mostAtOnce: number
  readonly #feed: Feed
  readonly #questions: TableLog
  readonly #resolutions: TableLog
  /** The next instant at which a question opens or closes, and the last segment when it was computed. */
  #passing: { segment: number; at: string | undefined } | undefined

  constructor(context: FeedWriterContext, mostAtOnce = MOST_AT_ONCE) {
    const { store, now } = context
    this.#context = context
    this.#mostAtOnce = mostAtOnce
    this.#feed = new Feed(store, now)
    this.#questions = new TableLog(store, 'questions')
    this.#resolutions = new TableLog(store, 'resolutions')
  }

  /**
   * Writes all events since the last segment. The first call on a store begins the feed, without events.
   *
   * @throws ServiceError `unavailable` if the store does not answer: the next call continues.
   */
  async write(signal?: AbortSignal): Promise<void> {
    while (!signal?.aborted && (await this.#writeStep(signal)));
  }

  /**
   * Writes the segments of one step, unless another writer does. Returns false if there is no step to write.
   */
  async #writeStep(signal: AbortSignal | undefined): Promise<boolean> {
    const number = await this.#feed.last()
    const last = number === 0 ? undefined : await this.#feed.segment(number)
    const now = await this.#stateNow(last?.to.release)
    if (!last) return this.#put(1, { from: now, to: now, told: null, events: [] })
    const { told } = last
    const step = told === null ? await this.#nextStep(number, last.to, now) : last
    if (!step) return false
    const { from, to } = step
    await this.#inDatabase(async (database) => {
      let next = number + 1
      let count = 0
      let events: FeedEvent[] = []
      for await (const event of newsBetween({ ...this.#context, database }, this.#tables, from, to)) {
        count += 1
        if (count <= (told ?? 0)) continue
        if (events.length === this.#mostAtOnce) {
          const isOurs = await this.#put(next, { from, to, told: count - 1, events })
          if (!isOurs || signal?.aborted) return
          next += 1
          events = []
        }
        events.push({ ...event, id: `${next}_${events.length}` })
      }
      await this.#put(next, { from, to, told: null, events })
    })
    return true
  }

  /**
   * Returns the next state. It advances by one release at most, so that each is compared with the one before.
   */
  async #nextStep(
    segment: number,
    from: FeedState,
    now: FeedState,
  ): Promise<Pick<FeedSegment, 'from' | 'to'> | undefined> {
    const to = {
      questions: Math.max(from.questions, now.questions),
      resolutions: Math.max(from.resolutions, now.resolutions),
      release: Math.min(now.release, from.release + 1),
      until: now.until < from.until ? from.until : now.until,
    }
    const isNew = (name: 'questions' | 'resolutions' | 'release') => from[name] < to[name]
    if (isNew('questions') || isNew('resolutions') || isNew('release')) return { from, to }
    if (this.#passing?.segment !== segment) {
      const at = await this.#inDatabase((database) =>
        nextPassing({ ...this.#context, database }, this.#tables, from),
      )
      this.#passing = { segment, at }
    }
    const { at } = this.#passing
    return at !== undefined && at <= to.until ? { from, to } : undefined
  }

  async #stateNow(knownRelease: number | undefined): Promise<FeedState> {
    const release = await currentRelease(this.#context.store, knownRelease)
    // Read outcomes first, so that the question of each is known.
    await this.#resolutions.refresh()
    await this.#questions.refresh()
    const { questions, resolutions } = this.#tables
    const until = this.#context.now().toISOString()
    return { questions: questions.version, resolutions: resolutions.version, release, until }
  }

  get #tables() {
    return { questions: this.#questions.current, resolutions: this.#resolutions.current }
  }

  /** Creates a segment. Returns false if another writer has: then the next step follows that. */
  #put(number: number, segment: FeedSegment): Promise<boolean> {
    return recordAt(this.#context.store, feedPath(number), feedSegment).create(segment)
  }

  #inDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const { local, openDatabase } = this.#context
    return local.reading(() => withDatabase(openDatabase, work))
  }
}
