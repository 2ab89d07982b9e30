// Re-entry: stands for a millisecond at the opening, so that the first stretch is in time, withdraws, and
// comes back when the outcome is all but known.
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { HORIZON_MS, readBy, readers, saying, withdrawing } from '../questions.ts'
import { type Study, type Title, dailyLooks } from '../study.ts'

const may: Title['may'] = { open: 'the gate is on the first stretch alone' }

function reentry(last: number): Study {
  return {
    worlds: 100,
    quick: 10,
    withoutSkill: 'The agent knows nothing before what everyone will know a moment later.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
      const peers = readers(20, 1)
      return dailyLooks(field, (cluster) => {
        const question = readBy(random, peers, cluster)
        question.forecasts.push(
          saying(0, 0, 0.5),
          withdrawing(0, 1 / HORIZON_MS),
          saying(0, 1 - last, question.outcome === 1 ? 0.98 : 0.02),
        )
        return question
      })
    },
    titles: [
      { how: `re-entry in the last ${100 * last} % of the life`, value: 'certified', may },
      { how: `re-entry in the last ${100 * last} %: expert`, value: 'expert', may },
    ],
  }
}

export const studies: Record<string, Study> = {
  '1 %': reentry(0.01),
  '5 %': reentry(0.05),
  '20 %': reentry(0.2),
}
