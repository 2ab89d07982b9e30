// A question at an instant: its status, how it is shown, and whether it takes a forecast.
import { ServiceError } from '../../schemas/errors.ts'
import type { Question } from '../../schemas/payloads.ts'
import type { QuestionStatus } from '../../schemas/requests.ts'

/** A question and its outcome as the tables hold them. */
export type KnownQuestion = Omit<Question, 'status' | `${string}_at`> & {
  opened_at: Date
  closes_at: Date
  resolved_at: Date | null
}

function statusAt({ opened_at, closes_at, outcome }: KnownQuestion, now: Date): QuestionStatus {
  if (outcome !== null) return 'resolved'
  if (now < opened_at) return 'upcoming'
  return now < closes_at ? 'open' : 'closed'
}

export function shownAt(question: KnownQuestion, now: Date): Question {
  return {
    ...question,
    opened_at: question.opened_at.toISOString(),
    closes_at: question.closes_at.toISOString(),
    resolved_at: question.resolved_at?.toISOString() ?? null,
    status: statusAt(question, now),
  }
}

/** @throws ServiceError `conflict` for a question that takes no forecasts at this instant. */
export function assertOpen(question: KnownQuestion, now: Date): void {
  const { question_id, opened_at, closes_at, resolved_at, status } = shownAt(question, now)
  if (status === 'open') return
  const why = {
    upcoming: `opens at ${opened_at}`,
    closed: `closed at ${closes_at}`,
    resolved: `was resolved at ${resolved_at}`,
  }[status]
  throw new ServiceError('conflict', `the question ${question_id} takes no forecast: it ${why}`)
}
