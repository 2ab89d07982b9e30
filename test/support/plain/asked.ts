// Questions as the method sees them: when they end, what they hang on, how they weigh (METHODOLOGY §1).
import { isoWeek } from './week.ts'

export type EventKind = 'exclusive' | 'at_most_one' | 'ordered' | 'independent'

/** A question of the file of worked values. Times are integer milliseconds UTC. */
export interface WorldQuestion {
  id: string
  category: string | null
  event_id: string | null
  opened_at_ms: number
  closes_at_ms: number
  resolved_at_ms: number | null
  known_at_ms: number | null
  /** 1 = yes, 0 = no; null where it is not known. */
  outcome: 0 | 1 | 'annulled' | null
}

/** A question with an outcome of yes or no that is known. */
export interface Asked {
  id: string
  category: string | null
  outcome: 0 | 1
  openedAtMs: number
  /** T. */
  lifeMs: number
  /** c, the effective close. */
  endMs: number
  /** e, the end of judgement. */
  judgedUntilMs: number
  settledAtMs: number
  isSettled: boolean
  unit: string
  /** What hangs on the unit's questions together; `independent` of a question that is a unit by itself. */
  kind: EventKind
  /** k, the questions of the unit that are not annulled. */
  unitQuestions: number
  cluster: string
  week: string
  /** D. */
  divisor: number
}

/** The questions that are scored at `asOfMs`. */
export function askedOf(
  questions: readonly WorldQuestion[],
  events: readonly { event_id: string; kind: EventKind }[],
  asOfMs: number,
): Asked[] {
  const kinds = new Map(events.map(({ event_id, kind }) => [event_id, kind]))
  const isKnown = ({ resolved_at_ms }: WorldQuestion) => resolved_at_ms !== null && resolved_at_ms <= asOfMs
  const inEvent = Map.groupBy(
    questions.filter((question) => question.outcome !== 'annulled' || !isKnown(question)),
    ({ event_id }) => event_id,
  )
  return questions.flatMap((question): Asked[] => {
    const { id, category, event_id, opened_at_ms, closes_at_ms, resolved_at_ms, known_at_ms, outcome } =
      question
    if (outcome === null || outcome === 'annulled') return []
    if (resolved_at_ms === null || !isKnown(question)) return []
    const size = event_id === null ? 1 : inEvent.get(event_id)!.length
    const kind = event_id === null || size < 2 ? 'independent' : (kinds.get(event_id) ?? 'independent')
    const isUnit = kind === 'independent'
    const lifeMs = closes_at_ms - opened_at_ms
    const endMs = Math.min(closes_at_ms, resolved_at_ms, known_at_ms ?? Infinity)
    return [
      {
        id,
        category,
        outcome,
        openedAtMs: opened_at_ms,
        lifeMs,
        endMs,
        judgedUntilMs: Math.min(endMs, closes_at_ms - Math.floor(lifeMs / 4)),
        settledAtMs: Math.max(closes_at_ms, resolved_at_ms),
        isSettled: closes_at_ms <= asOfMs,
        unit: isUnit ? `question:${id}` : `event:${event_id}`,
        kind,
        unitQuestions: isUnit ? 1 : size,
        cluster: event_id === null ? `question:${id}` : `event:${event_id}`,
        week: isoWeek(closes_at_ms),
        divisor: isUnit ? 1 : kind === 'ordered' ? size : 2,
      },
    ]
  })
}
