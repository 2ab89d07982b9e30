// The orders in which the questions of an entity are shown.
import type { EntityQuestionOrder } from '../../../schemas/requests.ts'
import type { QuestionScore } from './subject.ts'

/** The words for each order. */
export const ORDER_WORDS: Record<EntityQuestionOrder, { link: string; says: string }> = {
  newest: { link: 'newest', says: 'newest first' },
  worst: { link: 'worst', says: 'worst against the others first' },
  best: { link: 'best', says: 'best against the others first' },
  surprising: { link: 'most surprising', says: 'most surprising to the others first' },
}

const NANO = 1e9

/** Returns the error of the middle one of the others; null on a question that is not shared. */
export function othersError({ standard_reference: reference, coverage }: QuestionScore): number | null {
  return reference === null ? null : reference / NANO / coverage
}

/** Returns by how much the middle one of the others erred more; likewise null. */
export function gainOf(score: QuestionScore): number | null {
  const others = othersError(score)
  return others === null ? null : others - score.brier
}

const KEYS: Record<Exclude<EntityQuestionOrder, 'newest'>, (score: QuestionScore) => number | null> = {
  worst: (score) => gainOf(score),
  best: (score) => negative(gainOf(score)),
  surprising: ({ settled, crowd_brier: error }) => (settled ? negative(error) : null),
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
