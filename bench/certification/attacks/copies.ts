// Copies the average of its peers once all have spoken.
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { copyOf, readBy, readers } from '../questions.ts'
import { PROMISED, type Study, dailyLooks } from '../study.ts'

export const studies: Record<string, Study> = {
  '': {
    worlds: 150,
    quick: 10,
    withoutSkill: 'Nobody copies the field better than a copy; an average is better than the middle, though.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('copy'), ...people(20)], [0])
      const peers = readers(20, 1)
      return dailyLooks(field, (cluster) => {
        const question = readBy(random, peers, cluster)
        return { ...question, forecasts: [...question.forecasts, copyOf(0, question.forecasts)] }
      })
    },
    titles: [
      {
        how: 'a copy of the average of 20 peers',
        value: 'certified',
        may: { open: 'an average is better than the middle of its field' },
      },
      { how: 'a copy of the average of 20 peers: expert', value: 'expert', may: PROMISED },
    ],
  },
}
