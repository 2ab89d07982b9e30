// Whether the probabilities of an event's questions can all be right.
import type { EventKind } from '../../schemas/tables.ts'
import type { KnownQuestion } from './question.ts'

const PPM = 1_000_000

/**
 * The reason why probabilities cannot all be right; null where they can. Of options of which one at most can
 * end yes the sum, where it is above 1, or in an `exclusive` event with all its options also below. Of nested
 * thresholds the questions at which the probability is greater than at the threshold before.
 */
export type Coherence = { sum: number } | { rises_at: string[] } | null

/** @param questions those with a probability, in order of their positions. */
export function coherenceOf(
  kind: EventKind,
  questions: readonly Pick<KnownQuestion, 'question_id'>[],
  probabilities: Readonly<Record<string, number>>,
  isWhole: boolean,
): Coherence {
  const ppm = questions.map(({ question_id }) => Math.round(probabilities[question_id]! * PPM))
  if (kind === 'independent') return null
  if (kind === 'ordered') {
    const rises_at = questions.flatMap(({ question_id }, at) =>
      ppm[at]! > ppm[at - 1]! ? [question_id] : [],
    )
    return rises_at.length === 0 ? null : { rises_at }
  }
  const sum = ppm.reduce((total, one) => total + one, 0)
  // Each probability may have been rounded to six decimals.
  const slack = questions.length / 2
  const isRight = sum <= PPM + slack && (kind === 'at_most_one' || !isWhole || sum >= PPM - slack)
  return isRight ? null : { sum: sum / PPM }
}
