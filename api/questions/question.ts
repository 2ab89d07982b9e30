// A question at an instant: its status, how it is shown, and whether it takes a forecast.
import { ServiceError } from '../../schemas/errors.ts'
import type { Question } from '../../schemas/payloads.ts'
import type { QuestionStatus } from '../../schemas/requests.ts'
import type { Outcome } from '../../schemas/tables.ts'

export interface KnownQuestion {
  questionId: string
  title: string
  category: string | null
  url: string | null
  openedAt: Date
  closesAt: Date
  outcome: Outcome | null
  resolvedAt: Date | null
}

function statusAt({ openedAt, closesAt, outcome }: KnownQuestion, now: Date): QuestionStatus {
  if (outcome !== null) return 'resolved'
  if (now < openedAt) return 'upcoming'
  return now < closesAt ? 'open' : 'closed'
}

export function shownAt(question: KnownQuestion, now: Date): Question {
  return {
    question_id: question.questionId,
    title: question.title,
    category: question.category,
    url: question.url,
    opened_at: question.openedAt.toISOString(),
    closes_at: question.closesAt.toISOString(),
    status: statusAt(question, now),
    outcome: question.outcome,
    resolved_at: question.resolvedAt?.toISOString() ?? null,
  }
}

/** @throws ServiceError `conflict` for a question that takes no forecasts at this instant. */
export function assertOpen(question: KnownQuestion, now: Date): void {
  const status = statusAt(question, now)
  if (status === 'open') return
  const why = {
    upcoming: `opens at ${question.openedAt.toISOString()}`,
    closed: `closed at ${question.closesAt.toISOString()}`,
    resolved: `was resolved at ${question.resolvedAt?.toISOString()}`,
  }[status]
  throw new ServiceError('conflict', `the question ${question.questionId} takes no forecast: it ${why}`)
}
