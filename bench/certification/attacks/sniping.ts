// Sniping: one forecast when the outcome is all but known, in the last part of a question's life.
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { readBy, readers, saying } from '../questions.ts'
import { PROMISED, type Study, dailyLooks } from '../study.ts'

function sniping(last: number): Study {
  return {
    worlds: 100,
    quick: 10,
    withoutSkill: 'The agent knows nothing before what everyone will know a moment later.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
      const peers = readers(20, 1)
      return dailyLooks(field, (cluster) => {
        const question = readBy(random, peers, cluster)
        question.forecasts.push(saying(0, 1 - last, question.outcome === 1 ? 0.98 : 0.02))
        return question
      })
    },
    titles: [{ how: `sniping: the last ${100 * last} % of the life`, value: 'certified', range: PROMISED }],
  }
}

export const studies: Record<string, Study> = {
  '20 %': sniping(0.2),
  '1 %': sniping(0.01),
  '0.1 %': sniping(0.001),
}
