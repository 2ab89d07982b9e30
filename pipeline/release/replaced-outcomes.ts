// The outcomes that a release replaces, from the steps that its manifest tells.
import type { Correction, ReplacedOutcome } from '../../schemas/manifests.ts'

/** Returns the questions whose outcome is another one in the end, or became known at another time. */
export function replacedOutcomes(corrections: readonly Correction[]): ReplacedOutcome[] {
  const changed = ({ column }: Correction) => column === 'outcome' || column === 'resolved_at'
  const byQuestion = Map.groupBy(corrections.filter(changed), ({ question_id: id }) => id)
  return [...byQuestion].flatMap(([questionId, steps]) => {
    const [outcome, time] = (['outcome', 'resolved_at'] as const).map((name) => {
      const own = steps.filter(({ column }) => column === name)
      return { from: own[0]?.from ?? null, to: own.at(-1)?.to ?? null }
    })
    if (outcome!.from !== outcome!.to) return [{ questionId, ...outcome! }]
    return time!.from === time!.to ? [] : [{ questionId, from: null, to: null }]
  })
}
