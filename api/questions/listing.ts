// All questions in order, and those of each status, so that a page costs no more than the questions on it.
import type { QuestionPage } from '../../schemas/payloads.ts'
import type { QuestionStatus } from '../../schemas/requests.ts'
import { type Ordered, byClose, changed, indexAfter } from './order.ts'
import { type PageRequest, pageOf } from './page.ts'
import type { KnownQuestion } from './question.ts'

/** Sorts after every id. */
const LAST_ID = '~'

export class Listing {
  #all: Ordered = []
  #resolved: Ordered = []
  /** Without an outcome and opened: first those that have closed, then those that are open. */
  #begun: Ordered = []
  /** Without an outcome and not opened yet. */
  #upcoming: Ordered = []
  /** The instants from which and up to which `#begun` and `#upcoming` are right. */
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
    this.#resolved = changed(this.#resolved, left.resolved ?? [], joined.resolved ?? [])
    this.#begun = changed(this.#begun, left.begun ?? [], joined.begun ?? [])
    this.#upcoming = changed(this.#upcoming, left.upcoming ?? [], joined.upcoming ?? [])
    this.#untilMs = Math.min(this.#untilMs, nextOpening(joined.upcoming ?? []))
  }

  /** @throws ServiceError `invalid` for a cursor that no page gave. */
  page({ status, ...request }: PageRequest & { status: QuestionStatus | undefined }): QuestionPage {
    const nowMs = request.now.getTime()
    this.#moveTo(nowMs)
    switch (status) {
      case undefined:
        return pageOf(this.#all, request)
      case 'resolved':
        return pageOf(this.#resolved, request)
      case 'upcoming':
        return pageOf(this.#upcoming, request)
      case 'closed':
        return pageOf(this.#begun, request, { end: this.#firstOpen(nowMs) })
      case 'open':
        return pageOf(this.#begun, request, { start: this.#firstOpen(nowMs) })
    }
  }

  #firstOpen(nowMs: number): number {
    return indexAfter(this.#begun, { closesAtMs: nowMs, question_id: LAST_ID })
  }

  /** Moves the questions that have opened since the last call, all at once; back, if the clock was set back. */
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
