// All questions in order, and those of each status, category and word, so that a page costs no more than the
// questions on it.
import type { QuestionStatus } from '../../schemas/requests.ts'
import { wordsOf } from '../../schemas/requests.ts'
import { ByKey } from './by-key.ts'
import {
  type ClosePosition,
  FIRST_ID,
  LAST_ID,
  type Ordered,
  byClose,
  byOpening,
  changed,
  indexAfter,
  indexOfOpening,
} from './order.ts'
import { type KnownPage, type PageRequest, pageOf } from './page.ts'
import type { KnownQuestion } from './question.ts'

const HOUR_MS = 3_600_000
const CLOSING_MS = 24 * HOUR_MS
const OPENING_MS = 7 * CLOSING_MS

/** The first questions of a stretch of a list, and how many the stretch has. */
export interface Due {
  count: number
  questions: Ordered
}

/** The questions without an outcome that need an operator: each is in one list at most. */
export interface DueQuestions {
  /** Closed, the one that closed first before the others. */
  overdue: Due
  /** Open, and closing within a day. */
  closing: Due
  /** Opening within a week, the first to open before the others. */
  opening: Due
}

/** How many questions there are of each status, and of the largest categories. */
export interface QuestionCounts {
  all: number
  byStatus: Record<QuestionStatus, number>
  categories: { key: string; questions: number }[]
}

/** The conditions that all questions of a page meet; undefined is no condition. */
export interface Filters {
  /** The questions that are asked for, in order. */
  among?: Ordered | undefined
  status?: QuestionStatus | undefined
  category?: string | undefined
  source?: string | undefined
  event_id?: string | undefined
  /** Instants in milliseconds. */
  closes_before?: number | undefined
  closes_after?: number | undefined
  opened_after?: number | undefined
  resolved_after?: number | undefined
  updated_after?: number | undefined
  /** Words of the title, as `wordsOf` gives them. */
  q?: readonly string[] | undefined
}

export class Listing {
  #all: Ordered = []
  readonly #categories = new ByKey(({ category }) => (category === null ? [] : [category]))
  readonly #sources = new ByKey(({ source }) => (source === null ? [] : [source]))
  readonly #events = new ByKey(({ event_id }) => (event_id === null ? [] : [event_id]))
  readonly #words = new ByKey(({ title }) => wordsOf(title))
  #resolved: Ordered = []
  /** Questions without an outcome that have opened: first the closed ones, then the open ones. */
  #begun: Ordered = []
  /** Questions without an outcome that have not opened yet. */
  #upcoming: Ordered = []
  /** The same questions as `#upcoming`, in the order of `byOpening`. */
  #toOpen: Ordered = []
  /** An instant from which on `#begun` and `#upcoming` are right, until the next of `#toOpen` opens. */
  #atMs = -Infinity

  /** Replaces the questions in `gone`, all of which are listed, by those in `come`. */
  change(gone: KnownQuestion[], come: KnownQuestion[], now: Date): void {
    this.#moveTo(now.getTime())
    this.#atMs = now.getTime()
    const listOf = ({ outcome, openedAtMs }: KnownQuestion) => {
      if (outcome !== null) return 'resolved'
      return openedAtMs <= this.#atMs ? 'begun' : 'upcoming'
    }
    gone.sort(byClose)
    come.sort(byClose)
    const left = Object.groupBy(gone, listOf)
    const joined = Object.groupBy(come, listOf)
    this.#all = changed(this.#all, gone, come)
    this.#categories.change(gone, come)
    this.#sources.change(gone, come)
    this.#events.change(gone, come)
    this.#words.change(gone, come)
    this.#resolved = changed(this.#resolved, left.resolved ?? [], joined.resolved ?? [])
    this.#begun = changed(this.#begun, left.begun ?? [], joined.begun ?? [])
    this.#changeUpcoming(left.upcoming ?? [], joined.upcoming ?? [])
  }

  #changeUpcoming(gone: Ordered, come: Ordered): void {
    this.#upcoming = changed(this.#upcoming, gone, come)
    this.#toOpen = changed(this.#toOpen, gone.toSorted(byOpening), come.toSorted(byOpening), byOpening)
  }

  /** The questions of an event, in the order in which they close. */
  ofEvent(eventId: string): Ordered {
    return this.#events.list(eventId)
  }

  /** @throws ServiceError `invalid` for a cursor that no page gave. */
  page({ now, limit, cursor, ...filters }: PageRequest & Filters): KnownPage {
    const nowMs = now.getTime()
    this.#moveTo(nowMs)
    const { status, closes_before, closes_after, opened_after, resolved_after, updated_after } = filters
    // A question that opens after an instant also closes after it.
    const after = [status === 'open' ? nowMs : undefined, opened_after, closes_after]
      .filter((ms) => ms !== undefined)
      .map((closesAtMs) => ({ closesAtMs, question_id: LAST_ID }))
    const before: ClosePosition[] = status === 'closed' ? [{ closesAtMs: nowMs, question_id: LAST_ID }] : []
    if (closes_before !== undefined) before.push({ closesAtMs: closes_before, question_id: FIRST_ID })
    return pageOf(
      {
        lists: this.#listsOf(filters),
        after: after.toSorted(byClose).at(-1),
        before: before.toSorted(byClose)[0],
        fits: ({ openedAtMs, resolvedAtMs, updatedAtMs }) =>
          isAfter(openedAtMs, opened_after) &&
          isAfter(resolvedAtMs, resolved_after) &&
          isAfter(updatedAtMs, updated_after),
      },
      { now, limit, cursor },
    )
  }

  /** Returns the lists that have all questions that pass. */
  #listsOf({ among, status, category, source, event_id, resolved_after, q = [] }: Filters): Ordered[] {
    const lists = q.map((word) => this.#words.list(word))
    if (among !== undefined) lists.push(among)
    if (category !== undefined) lists.push(this.#categories.list(category))
    if (source !== undefined) lists.push(this.#sources.list(source))
    if (event_id !== undefined) lists.push(this.#events.list(event_id))
    if (status !== undefined) lists.push(this.#ofStatus(status))
    if (resolved_after !== undefined) lists.push(this.#resolved)
    return lists.length === 0 ? [this.#all] : lists
  }

  /** Returns the first questions that are due at an instant, up to `limit` of each kind. */
  due(now: Date, limit: number): DueQuestions {
    const nowMs = now.getTime()
    this.#moveTo(nowMs)
    const dueIn = (list: Ordered, from: number, to: number): Due => ({
      count: to - from,
      questions: list.slice(from, Math.min(to, from + limit)),
    })
    const closedBy = (ms: number) => indexAfter(this.#begun, { closesAtMs: ms, question_id: LAST_ID })
    const closed = closedBy(nowMs)
    return {
      overdue: dueIn(this.#begun, 0, closed),
      closing: dueIn(this.#begun, closed, closedBy(nowMs + CLOSING_MS)),
      opening: dueIn(this.#toOpen, 0, indexOfOpening(this.#toOpen, nowMs + OPENING_MS)),
    }
  }

  /** Counts all questions at an instant, and those of the largest categories, at most `most`. */
  counts(now: Date, most: number): QuestionCounts {
    this.#moveTo(now.getTime())
    const closed = indexAfter(this.#begun, { closesAtMs: now.getTime(), question_id: LAST_ID })
    const [upcoming, open, resolved] = [
      this.#upcoming.length,
      this.#begun.length - closed,
      this.#resolved.length,
    ]
    const byStatus = { upcoming, open, closed, resolved }
    return { all: this.#all.length, byStatus, categories: this.#categories.largest(most) }
  }

  #ofStatus(status: QuestionStatus): Ordered {
    if (status === 'resolved') return this.#resolved
    return status === 'upcoming' ? this.#upcoming : this.#begun
  }

  /**
   * Moves all questions that have opened since the last call, or moves them back if the clock was set back.
   */
  #moveTo(nowMs: number): void {
    const due = this.#toOpen.slice(0, indexOfOpening(this.#toOpen, nowMs)).sort(byClose)
    if (due.length === 0 && nowMs >= this.#atMs) return
    const early = nowMs < this.#atMs ? this.#begun.filter(({ openedAtMs }) => openedAtMs > nowMs) : []
    this.#atMs = nowMs
    this.#begun = changed(this.#begun, early, due)
    this.#changeUpcoming(due, early)
  }
}

function isAfter(ms: number | null, after: number | undefined): boolean {
  return after === undefined || (ms !== null && ms > after)
}
