// All questions in order, and those of each status, category and word, so that a page costs no more than the
// questions on it.
import type { QuestionPage } from '../../schemas/answers.ts'
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
import { type PageRequest, pageOf } from './page.ts'
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

/** The conditions that all questions of a page meet; undefined is no condition. */
export interface Filters {
  status?: QuestionStatus | undefined
  category?: string | undefined
  /** Instants in milliseconds. */
  closes_before?: number | undefined
  opened_after?: number | undefined
  /** Words of the title, as `wordsOf` gives them. */
  q?: readonly string[] | undefined
}

export class Listing {
  #all: Ordered = []
  readonly #categories = new ByKey(({ category }) => (category === null ? [] : [category]))
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
    this.#words.change(gone, come)
    this.#resolved = changed(this.#resolved, left.resolved ?? [], joined.resolved ?? [])
    this.#begun = changed(this.#begun, left.begun ?? [], joined.begun ?? [])
    this.#changeUpcoming(left.upcoming ?? [], joined.upcoming ?? [])
  }

  #changeUpcoming(gone: Ordered, come: Ordered): void {
    this.#upcoming = changed(this.#upcoming, gone, come)
    this.#toOpen = changed(this.#toOpen, gone.toSorted(byOpening), come.toSorted(byOpening), byOpening)
  }

  /** @throws ServiceError `invalid` for a cursor that no page gave. */
  page({
    status,
    category,
    closes_before,
    opened_after,
    q = [],
    ...request
  }: PageRequest & Filters): QuestionPage {
    const nowMs = request.now.getTime()
    this.#moveTo(nowMs)
    const lists = q.map((word) => this.#words.list(word))
    if (category !== undefined) lists.push(this.#categories.list(category))
    if (status !== undefined) lists.push(this.#ofStatus(status))
    if (lists.length === 0) lists.push(this.#all)
    // A question that opens after an instant also closes after it.
    const after = [status === 'open' ? nowMs : undefined, opened_after].filter((ms) => ms !== undefined)
    const closed: ClosePosition[] = status === 'closed' ? [{ closesAtMs: nowMs, question_id: LAST_ID }] : []
    if (closes_before !== undefined) closed.push({ closesAtMs: closes_before, question_id: FIRST_ID })
    return pageOf(
      {
        lists,
        after: after.length === 0 ? undefined : { closesAtMs: Math.max(...after), question_id: LAST_ID },
        before: closed.toSorted(byClose)[0],
        fits: ({ openedAtMs }) => opened_after === undefined || openedAtMs > opened_after,
      },
      request,
    )
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
