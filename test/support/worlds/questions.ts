// Questions for the tests of their lists: by a few numbers, and such that count how often they are looked at.
import type { KnownQuestion } from '../../../api/questions/question.ts'
import { uuidOf } from './world.ts'

export const START_MS = Date.UTC(2026, 2, 1)

export interface Times {
  openedAtMs: number
  closesAtMs: number
}

/** A question by its number; its times are milliseconds after `START_MS`. */
export function questionOf(
  number: number,
  { openedAtMs, closesAtMs }: Times,
  outcome: KnownQuestion['outcome'] = null,
  said: Partial<KnownQuestion> = {},
): KnownQuestion {
  return {
    question_id: uuidOf(4, number),
    title: `Question ${number}?`,
    category: null,
    url: null,
    event_id: null,
    position: null,
    option: null,
    source: null,
    source_id: null,
    openedAtMs: START_MS + openedAtMs,
    closesAtMs: START_MS + closesAtMs,
    outcome,
    resolvedAtMs: outcome === null ? null : START_MS + closesAtMs,
    knownAtMs: null,
    updatedAtMs: START_MS,
    file: 0,
    ...said,
  }
}

/** The same questions, and how many times the close of one has been read since the last call. */
export function counting(questions: readonly KnownQuestion[]): {
  counted: KnownQuestion[]
  looks: () => number
} {
  let looks = 0
  const counted = questions.map((question) => {
    const { closesAtMs } = question
    return Object.defineProperty({ ...question }, 'closesAtMs', {
      enumerable: true,
      get: () => {
        looks += 1
        return closesAtMs
      },
    })
  })
  return {
    counted,
    looks: () => {
      const before = looks
      looks = 0
      return before
    },
  }
}
