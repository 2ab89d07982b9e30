// A page of questions, and the cursor that leads to the next one.
import { ServiceError } from '../../schemas/errors.ts'
import type { QuestionPage } from '../../schemas/payloads.ts'
import { CURSOR } from '../../schemas/requests.ts'
import { type Ordered, type Place, indexAfter } from './order.ts'
import { type KnownQuestion, shownAt } from './question.ts'

export interface PageRequest {
  limit: number
  cursor: string | undefined
  now: Date
}

/**
 * The page of the questions from `start` up to `end`.
 *
 * @throws ServiceError `invalid` for a cursor that no page gave.
 */
export function pageOf(
  list: Ordered,
  { limit, cursor, now }: PageRequest,
  { start = 0, end = list.length } = {},
): QuestionPage {
  const first = cursor === undefined ? start : Math.max(start, indexAfter(list, decodeCursor(cursor)))
  const last = Math.min(first + limit, end)
  return {
    questions: list.slice(first, last).map((question) => shownAt(question, now)),
    next_cursor: last < end ? cursorOf(list[last - 1]!) : null,
  }
}

function cursorOf({ closesAtMs, question_id }: KnownQuestion): string {
  return `${closesAtMs}_${question_id}`
}

function decodeCursor(cursor: string): Place {
  const match = CURSOR.exec(cursor)
  if (!match) {
    throw new ServiceError('invalid', 'the cursor is not the next_cursor of a page of questions', {
      type: 'invalid-query',
      faults: [{ pointer: '/cursor', detail: 'must be a next_cursor' }],
    })
  }
  return { closesAtMs: Number(match[1]), question_id: match[2]! }
}
