// A page of the questions that several lists have in common, and the cursor that leads to the next one.
import { ServiceError } from '../../schemas/errors.ts'
import { CURSOR } from '../../schemas/requests.ts'
import { type Ordered, type ClosePosition, byClose, indexAfter, indexSoonAfter } from './order.ts'
import type { KnownQuestion } from './question.ts'

/**
 * A page ends early after this much work, so that no call costs much more than a full page. Each question
 * that is examined counts one, and each search for it in another list counts twenty.
 */
const MOST_WORK = 40_000
const SEARCH_WORK = 20

/** Selects the questions that are in all lists, are in a stretch of the order, and fit. */
export interface Selection {
  /** The lists, at least one. */
  lists: readonly Ordered[]
  /** The ends of the stretch, which does not include them. */
  after: ClosePosition | undefined
  before: ClosePosition | undefined
  fits?: (question: KnownQuestion) => boolean
}

export interface KnownPage {
  questions: KnownQuestion[]
  next_cursor: string | null
}

export interface PageRequest {
  limit: number
  cursor: string | undefined
  now: Date
}

/** @throws ServiceError `invalid` for a cursor that no page gave. */
export function pageOf({ lists, ...stretch }: Selection, { limit, cursor }: PageRequest): KnownPage {
  const { after, before, fits = () => true } = stretch
  const start = latest(after, cursor === undefined ? undefined : decodeCursor(cursor))
  // A question that is not in the shortest list is never examined.
  const [shortest, ...others] = lists.toSorted((one, other) => one.length - other.length)
  const placeIn = (list: Ordered, place: ClosePosition | undefined) => (place ? indexAfter(list, place) : 0)
  const places = others.map((list) => placeIn(list, start))
  const found: KnownQuestion[] = []
  const page = (next: ClosePosition | null): KnownPage => ({
    questions: found,
    next_cursor: next && cursorOf(next),
  })
  const end = before ? indexAfter(shortest!, before) : shortest!.length
  let work = 0
  for (let index = placeIn(shortest!, start); index < end;) {
    const question = shortest![index]!
    let next = index + 1
    let isInAll = true
    for (const [which, list] of others.entries()) {
      work += SEARCH_WORK
      const soonAfter = indexSoonAfter(list, question, places[which]!)
      places[which] = soonAfter
      if (list[soonAfter - 1] === question) continue
      const beyond = list[soonAfter]
      if (!beyond) return page(null)
      const reached = indexSoonAfter(shortest!, beyond, index)
      next = shortest![reached - 1] === beyond ? reached - 1 : reached
      isInAll = false
      break
    }
    if (isInAll && fits(question)) {
      if (found.length === limit) return page(found.at(-1)!)
      found.push(question)
    }
    work += 1
    if (work >= MOST_WORK && next < end) return page(question)
    index = next
  }
  return page(null)
}

function latest(one: ClosePosition | undefined, other: ClosePosition | undefined): ClosePosition | undefined {
  if (!one || !other) return one ?? other
  return byClose(one, other) < 0 ? other : one
}

/** Returns the cursor that leads to the questions after a place. */
export function cursorOf({ closesAtMs, question_id }: ClosePosition): string {
  return `${closesAtMs}_${question_id}`
}

/** @throws ServiceError `invalid` for a cursor that no page gave. */
export function decodeCursor(cursor: string): ClosePosition {
  const match = CURSOR.exec(cursor)
  if (!match) {
    throw new ServiceError('invalid', 'the cursor is not the next_cursor of a page of questions', {
      type: 'invalid-query',
      faults: [{ pointer: '/cursor', detail: 'must be a next_cursor' }],
    })
  }
  return { closesAtMs: Number(match[1]), question_id: match[2]! }
}
