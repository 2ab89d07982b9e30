// Re-entry: stands at the opening, withdraws, and comes back when the outcome is all but known.
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { HORIZON_MS, readBy, readers, saying, withdrawing } from '../questions.ts'
import { PROMISED, type Range, type Study, dailyLooks } from '../study.ts'

const FIRST = 1 / HORIZON_MS

/** Stands until `left` with what is right on average, and comes back at `back`. */
function reentry(how: string, left: number, back: number, range: Range): Study {
  return {
    worlds: 100,
    quick: 10,
    withoutSkill: 'The agent knows nothing before what everyone will know a moment later.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
      const peers = readers(20, 1)
      return dailyLooks(field, (cluster) => {
        const question = readBy(random, peers, cluster)
        const at = question.forecasts.map(({ atMs }) => atMs / HORIZON_MS)
        const begun = left === FIRST ? 0 : at.toSorted((a, b) => a - b)[4]! + FIRST
        const mean =
          question.forecasts.reduce((sum, { ppm }) => sum + ppm, 0) / question.forecasts.length / 1e6
        question.forecasts.push(
          saying(0, begun, left === FIRST ? 0.5 : mean),
          withdrawing(0, begun + left),
          saying(0, back, question.outcome === 1 ? 0.98 : 0.02),
        )
        return question
      })
    },
    titles: [{ how, value: 'certified', range }],
  }
}

export const studies: Record<string, Study> = {
  '95 %': reentry('withdraws, and comes back at 95 % of the life', FIRST, 0.95, PROMISED),
  '74 %': reentry('withdraws, and comes back at 74 % of the life', FIRST, 0.74, PROMISED),
  'after a fifth': reentry('stands as a copy for a fifth of the life, and comes back at 74 %', 0.2, 0.74, {
    least: 0.9,
    most: 1,
    open: 'it stands for as long as `least_coverage` takes',
  }),
}
