// A question at an instant: its status, how it is shown, and whether it takes a forecast.
import type { ListedQuestion, QuestionEvent } from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { QuestionStatus } from '../../schemas/requests.ts'

/**
 * A question and its outcome as the tables hold them. Instants are numbers, because a million dates take 300
 * MB.
 */
export interface KnownQuestion
  extends
    Omit<ListedQuestion, 'status' | 'event' | `${string}_at`>,
    Pick<QuestionEvent, 'position' | 'option'> {
  openedAtMs: number
  closesAtMs: number
  resolvedAtMs: number | null
  knownAtMs: number | null
  updatedAtMs: number
  /** The number of the data file that has the question's row. Files count in the order of the table's log. */
  file: number
}

/** Returns the status of a question at an instant. */
export function statusAt({ openedAtMs, closesAtMs, outcome }: KnownQuestion, nowMs: number): QuestionStatus {
  if (outcome !== null) return 'resolved'
  if (nowMs < openedAtMs) return 'upcoming'
  return nowMs < closesAtMs ? 'open' : 'closed'
}

/** Whether a question takes no forecast any more, unless it is opened again. */
export function isOverAt({ outcome, closesAtMs }: KnownQuestion, nowMs: number): boolean {
  return outcome !== null || nowMs >= closesAtMs
}

/** A question as it is shown beside its event. */
export function shownAt(question: KnownQuestion, now: Date) {
  const { openedAtMs, closesAtMs, resolvedAtMs, knownAtMs, updatedAtMs, file: _file, ...told } = question
  return {
    ...told,
    opened_at: new Date(openedAtMs).toISOString(),
    closes_at: new Date(closesAtMs).toISOString(),
    resolved_at: resolvedAtMs === null ? null : new Date(resolvedAtMs).toISOString(),
    known_at: knownAtMs === null ? null : new Date(knownAtMs).toISOString(),
    updated_at: new Date(updatedAtMs).toISOString(),
    status: statusAt(question, now.getTime()),
  }
}

/** @throws ServiceError `conflict` for a question that takes no forecasts at this instant. */
export function assertOpen(question: KnownQuestion, now: Date): void {
  const status = statusAt(question, now.getTime())
  if (status === 'open') return
  const { question_id, opened_at, closes_at, resolved_at } = shownAt(question, now)
  const [type, why] = (
    {
      upcoming: ['question-not-open', `opens at ${opened_at}`],
      closed: ['question-closed', `closed at ${closes_at}`],
      resolved: ['question-resolved', `was resolved at ${resolved_at}`],
    } as const
  )[status]
  throw new ServiceError('conflict', `the question ${question_id} takes no forecast: it ${why}`, { type })
}
