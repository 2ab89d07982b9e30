// The feed of events: segments in the store. Each goes on where the one before ends, so that nothing is told
// twice and nothing is left out, whoever writes it.
import { LRUCache } from 'lru-cache'
import type { PipelineComponents } from '../components.ts'
import {
  type EventsPage,
  type FeedSegment,
  type FeedState,
  type FeedStep,
  type PublishedEvent,
  feedSegment,
  stateAfter,
} from '../../schemas/events.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { type Database, withDatabase } from '../duckdb.ts'
import { currentRelease } from '../release/read.ts'
import { lastNumbered } from '../store/numbered.ts'
import { eventsPath } from '../store/paths.ts'
import { readRecord, recordBytes } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { TableLog } from '../tables/delta-log.ts'
import type { KnownTables } from './part.ts'
import { eventsOf, nextPassing } from './steps.ts'

const KEPT_SEGMENTS = 1_000
/** A reader asks the store for further segments at most once in this time. */
const FRESH_MS = 1_000

/** Reads segments, which never change. */
export class EventFeed {
  readonly #store: Store
  readonly #now: () => Date
  readonly #segments = new LRUCache<number, FeedSegment>({ max: KEPT_SEGMENTS })
  #last = 0
  #looked: { atMs: number; last: Promise<number> } | undefined

  constructor(store: Store, now: () => Date) {
    this.#store = store
    this.#now = now
  }

  /** Asks the store for the number of the last segment; 0 if there is none. */
  async last(): Promise<number> {
    const last = await lastNumbered(this.#store, eventsPath, this.#last)
    this.#last = Math.max(this.#last, last)
    return this.#last
  }

  /** Returns the number of the last segment as it was a moment ago. Calls at once share a look. */
  #lately(): Promise<number> {
    const atMs = this.#now().getTime()
    const age = atMs - (this.#looked?.atMs ?? -Infinity)
    if (this.#looked && age >= 0 && age < FRESH_MS) return this.#looked.last
    const last = this.last()
    this.#looked = { atMs, last }
    last.catch(() => {
      this.#looked = undefined
    })
    return last
  }

  /** @throws ServiceError `unavailable` for a segment that the store does not show. */
  async segment(number: number): Promise<FeedSegment> {
    const known = this.#segments.get(number)
    if (known) return known
    const found = await readRecord(this.#store, eventsPath(number), feedSegment)
    if (!found) throw new ServiceError('unavailable', `the store does not show ${eventsPath(number)}`)
    this.#segments.set(number, found)
    return found
  }

  /**
   * Returns the events after a cursor, in order: from the beginning if it is undefined, and none if it is
   * `end`.
   *
   * @throws ServiceError `invalid` for a cursor that is none of this feed.
   */
  async after(cursor: string | undefined, limit: number): Promise<EventsPage> {
    let at = cursor === undefined ? { segment: 1, index: 0 } : placeOf(cursor)
    let last = await this.#lately()
    // Another node may have told the caller of segments that this one has not seen.
    if (at && at.segment > last + 1) last = await this.last()
    at ??= { segment: last + 1, index: 0 }
    if (at.segment > last + 1) throw noCursor()
    const events: PublishedEvent[] = []
    let { segment: number, index } = at
    for (; number <= last && events.length < limit; number++) {
      const { events: own } = await this.segment(number)
      if (index > own.length) throw noCursor()
      const taken = own.slice(index, index + limit - events.length)
      events.push(...taken.map((event, nth) => ({ id: `${number}_${index + nth}`, ...event })))
      index += taken.length
      if (index < own.length) return { events, next: `${number}_${index}` }
      index = 0
    }
    return { events, next: `${number}_0` }
  }
}

const CURSOR = /^([1-9][0-9]{0,14})_([0-9]{1,9})$/

/** Undefined for the end. */
function placeOf(cursor: string): { segment: number; index: number } | undefined {
  if (cursor === 'end') return undefined
  const [, segment, index] = CURSOR.exec(cursor) ?? []
  if (segment === undefined) throw noCursor()
  return { segment: Number(segment), index: Number(index) }
}

function noCursor(): ServiceError {
  const detail = 'after must be the next of a page of this feed, or end'
  return new ServiceError('invalid', `the query is not valid: ${detail}`, {
    type: 'invalid-query',
    faults: [{ pointer: '/after', detail }],
  })
}

export type FeedWriterContext = Pick<PipelineComponents, 'store' | 'local' | 'openDatabase' | 'now'>

/** Writes segments. Any number of writers may run: the first to create a segment has decided it. */
export class FeedWriter {
  readonly #context: FeedWriterContext
  readonly #feed: EventFeed
  readonly #logs: Record<'questions' | 'resolutions', TableLog>
  /** The state up to which all is told, and the step under way; undefined until the feed was read. */
  #told: { state: FeedState; step: FeedStep; rest: string | null } | undefined
  #segment = 0
  /** The next instant at which a question opens or closes, by the state that it was found in. */
  #passing: { state: FeedState; at: string | undefined } | undefined

  constructor(context: FeedWriterContext) {
    const { store, now } = context
    this.#context = context
    this.#feed = new EventFeed(store, now)
    this.#logs = {
      questions: new TableLog(store, 'questions'),
      resolutions: new TableLog(store, 'resolutions'),
    }
  }

  /**
   * Tells all that has happened. The first call on a store begins the feed, and tells nothing.
   *
   * @throws ServiceError `unavailable` if the store does not answer: the next call goes on.
   */
  async write(signal?: AbortSignal): Promise<void> {
    while (!signal?.aborted && (await this.#writeNext()));
  }

  /** Writes one segment, or reads those that another has written. False if there is nothing to tell. */
  async #writeNext(): Promise<boolean> {
    const { store } = this.#context
    await this.#follow()
    const [tables, release] = await Promise.all([
      this.#tables(),
      currentRelease(store, this.#told?.state.release),
    ])
    const now = this.#context.now().toISOString()
    const state: FeedState = {
      questions: tables.questions.version,
      resolutions: tables.resolutions.version,
      release,
      until: now,
    }
    if (!this.#told) return this.#put({ state, step: {}, rest: null, events: [] })
    const { rest, state: told } = this.#told
    const step = rest === null ? await this.#nextStep(tables, state) : this.#told.step
    if (!step) return false
    const made = await this.#inDatabase((database) =>
      eventsOf({ ...this.#context, database }, tables, told, step, rest),
    )
    return this.#put({ state: told, step, ...made })
  }

  /** Reads the segments that were written since the last call. */
  async #follow(): Promise<void> {
    const last = await this.#feed.last()
    if (last === this.#segment) return
    const { state, step, rest } = await this.#feed.segment(last)
    this.#told = rest === null ? { state: stateAfter(state, step), step: {}, rest } : { state, step, rest }
    this.#segment = last
  }

  async #tables(): Promise<KnownTables> {
    const { questions, resolutions } = this.#logs
    await Promise.all([questions.refresh(), resolutions.refresh()])
    return {
      questions: { ...questions.current, table: 'questions' },
      resolutions: { ...resolutions.current, table: 'resolutions' },
    }
  }

  /** Chooses one version or one release at a time, so that no step between two states is lost. */
  async #nextStep(tables: KnownTables, now: FeedState): Promise<FeedStep | undefined> {
    const { state } = this.#told!
    for (const name of ['questions', 'resolutions', 'release'] as const) {
      if (state[name] < now[name]) return { [name]: state[name] + 1 }
    }
    if (this.#passing?.state !== state) {
      const at = await this.#inDatabase((database) =>
        nextPassing({ ...this.#context, database }, tables, state),
      )
      this.#passing = { state, at }
    }
    const { at } = this.#passing
    return at !== undefined && at <= now.until ? { until: now.until } : undefined
  }

  /** Creates the next segment, unless another writer has: then the next turn follows it. */
  async #put(segment: FeedSegment): Promise<boolean> {
    const path = eventsPath(this.#segment + 1)
    await this.#context.store.putIfAbsent(path, recordBytes(path, segment))
    return true
  }

  #inDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const { local, openDatabase } = this.#context
    return local.reading(() => withDatabase(openDatabase, work))
  }
}
