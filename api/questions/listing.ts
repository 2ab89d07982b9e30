// All questions in order, and those of each status, category and word, so that a page costs no more than the
// questions on it.
import type { QuestionPage } from '../../schemas/answers.ts'
import type { QuestionStatus } from '../../schemas/requests.ts'
import { wordsOf } from '../../schemas/requests.ts'
import { ByKey } from './by-key.ts'
import { type Ordered, type ClosePosition, byClose, changed } from './order.ts'
import { type PageRequest, pageOf } from './page.ts'
import type { KnownQuestion } from './question.ts'

/** Strings that sort before and after every id. */
const [FIRST_ID, LAST_ID] = ['', '~']

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
  /** The instants between which `#begun` and `#upcoming` are right. */
  #fromMs = -Infinity
  #untilMs = Infinity

  /** Replaces the questions in `gone`, all of which are listed, by those in `come`. */
  change(gone: KnownQuestion[], come: KnownQuestion[], now: Date): void {
    this.#moveTo(now.getTime())
    this.#fromMs = now.getTime()
    const listOf = ({ outcome, openedAtMs }: KnownQuestion) => {
      if (outcome !== null) return 'resolved'
      return openedAtMs <= this.#fromMs ? 'begun' : 'upcoming'
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
    this.#upcoming = changed(this.#upcoming, left.upcoming ?? [], joined.upcoming ?? [])
    this.#untilMs = Math.min(this.#untilMs, nextOpening(joined.upcoming ?? []))
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

  #ofStatus(status: QuestionStatus): Ordered {
    if (status === 'resolved') return this.#resolved
    return status === 'upcoming' ? this.#upcoming : this.#begun
  }

  /**
   * Moves all questions that have opened since the last call, or moves them back if the clock was set back.
   */
  #moveTo(nowMs: number): void {
    if (nowMs >= this.#fromMs && nowMs < this.#untilMs) return
    const due = this.#upcoming.filter(({ openedAtMs }) => openedAtMs <= nowMs)
    const early = nowMs < this.#fromMs ? this.#begun.filter(({ openedAtMs }) => openedAtMs > nowMs) : []
    this.#begun = changed(this.#begun, early, due)
    this.#upcoming = changed(this.#upcoming, due, early)
    this.#fromMs = nowMs
    this.#untilMs = nextOpening(this.#upcoming)
  }
}

function nextOpening(upcoming: Ordered): number {
  let nextMs = Infinity
  for (const { openedAtMs } of upcoming) if (openedAtMs < nextMs) nextMs = openedAtMs
  return nextMs
}
