// A page of questions, in the order (closes_at, question_id), and the cursor that leads to the next one.
import { ServiceError } from '../../schemas/errors.ts'
import type { Question, QuestionPage } from '../../schemas/payloads.ts'
import { CURSOR, type QuestionStatus } from '../../schemas/requests.ts'
import { type KnownQuestion, shownAt } from './question.ts'

export interface PageRequest {
  status: QuestionStatus | undefined
  limit: number
  cursor: string | undefined
  now: Date
}

/** @throws ServiceError `invalid` for a cursor that no page gave. */
export function pageOf(
  listed: readonly KnownQuestion[],
  { status, limit, cursor, now }: PageRequest,
): QuestionPage {
  const start = cursor === undefined ? 0 : indexAfter(listed, decodeCursor(cursor))
  const questions: Question[] = []
  for (let index = start; index < listed.length; index++) {
    const question = shownAt(listed[index]!, now)
    if (status !== undefined && question.status !== status) continue
    if (questions.length === limit) return { questions, next_cursor: cursorOf(questions.at(-1)!) }
    questions.push(question)
  }
  return { questions, next_cursor: null }
}

interface Place {
  closesAtMs: number
  questionId: string
}

function indexAfter(listed: readonly KnownQuestion[], { closesAtMs, questionId }: Place): number {
  let low = 0
  let high = listed.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const { closes_at, question_id } = listed[middle]!
    const closeMs = closes_at.getTime()
    const after = closeMs > closesAtMs || (closeMs === closesAtMs && question_id > questionId)
    if (after) high = middle
    else low = middle + 1
  }
  return low
}

function cursorOf({ closes_at, question_id }: Question): string {
  return `${Date.parse(closes_at)}_${question_id}`
}

function decodeCursor(cursor: string): Place {
  const match = CURSOR.exec(cursor)
  if (!match) {
    throw new ServiceError('invalid', 'the cursor is not the next_cursor of a page of questions', {
      faults: [{ pointer: '/cursor', detail: 'must be a next_cursor' }],
    })
  }
  return { closesAtMs: Number(match[1]), questionId: match[2]! }
}
