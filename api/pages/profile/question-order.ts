// The orders in which the questions of an entity are shown.
import type { EntityQuestionOrder } from '../../../schemas/requests.ts'
import type { QuestionScore } from './subject.ts'
import { NANO } from '../../../schemas/values.ts'

/** The words for each order. */
export const ORDER_WORDS: Record<EntityQuestionOrder, { link: string; says: string }> = {
  newest: { link: 'newest', says: 'newest first' },
  worst: { link: 'worst', says: 'worst against the others first' },
  best: { link: 'best', says: 'best against the others first' },
  surprising: { link: 'most surprising', says: 'most surprising to the others first' },
}

/** Returns the Brier score of the others’ average over the judged time; null where it is not shared. */
export function othersError({ contested, average_brier, judged_coverage }: QuestionScore): number | null {
  return contested ? average_brier / (NANO * judged_coverage) : null
}

/** Returns by how much the others’ average erred more over that time; likewise null. */
export function gainOf({
  contested,
  average_brier,
  judged_brier,
  judged_coverage,
}: QuestionScore): number | null {
  return contested ? (average_brier - judged_brier) / (NANO * judged_coverage) : null
}

const KEYS: Record<Exclude<EntityQuestionOrder, 'newest'>, (score: QuestionScore) => number | null> = {
  worst: (score) => gainOf(score),
  best: (score) => negative(gainOf(score)),
  surprising: (score) => negative(othersError(score)),
}

/**
 * Puts scores that come newest first in another order. Scores without its value come last, and equal ones
 * stay newest first.
 */
export function inOrder(newestFirst: readonly QuestionScore[], order: EntityQuestionOrder): QuestionScore[] {
  if (order === 'newest') return [...newestFirst]
  const keyed = newestFirst.map((score) => ({ score, key: KEYS[order](score) ?? Infinity }))
  return keyed.sort((a, b) => (a.key === b.key ? 0 : a.key - b.key)).map(({ score }) => score)
}

function negative(value: number | null): number | null {
  return value === null ? null : -value
}
