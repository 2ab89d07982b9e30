// Reads the feed: numbered segments in the store that never change. Each continues the one before.
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../../schemas/errors.ts'
import { type FeedEvent, type FeedPage, type FeedSegment, feedSegment } from '../../schemas/feed.ts'
import { lastNumbered } from '../store/numbered.ts'
import { feedPath } from '../store/paths.ts'
import { recordAt } from '../store/records.ts'
import type { Store } from '../store/store.ts'

const KEPT_SEGMENTS = 1_000
/** The least time between two looks for further segments. */
const FRESH_MS = 1_000

export class Feed {
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
    const last = await lastNumbered(this.#store, feedPath, this.#last)
    this.#last = Math.max(this.#last, last)
    return this.#last
  }

  /** Returns the number of the last segment as of a moment ago. Simultaneous calls share one look. */
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
    const found = await recordAt(this.#store, feedPath(number), feedSegment).get()
    if (!found) throw new ServiceError('unavailable', `the store does not show ${feedPath(number)}`)
    this.#segments.set(number, found)
    return found
  }

  /**
   * Returns the events after a cursor, in order; from the beginning without a cursor, and none for `end`.
   *
   * @throws ServiceError `invalid` for a cursor that is not of this feed.
   */
  async after(cursor: string | undefined, limit: number): Promise<FeedPage> {
    let at = cursor === undefined ? { segment: 1, index: 0 } : placeOfCursor(cursor)
    let last = await this.#lately()
    // The cursor may come from another node that has seen further segments.
    if (at && at.segment > last + 1) last = await this.last()
    at ??= { segment: last + 1, index: 0 }
    if (at.segment > last + 1) throw noCursor()
    const events: FeedEvent[] = []
    let { segment: number, index } = at
    for (; number <= last && events.length < limit; number++) {
      const { events: own } = await this.segment(number)
      if (index > own.length) throw noCursor()
      const taken = own.slice(index, index + limit - events.length)
      events.push(...taken)
      index += taken.length
      if (index < own.length) return { events, next: `${number}_${index}` }
      index = 0
    }
    return { events, next: `${number}_0` }
  }
}

const CURSOR = /^([1-9][0-9]{0,14})_([0-9]{1,9})$/

/** Undefined for the end. */
function placeOfCursor(cursor: string): { segment: number; index: number } | undefined {
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
