// Pools joined by one shared question: an agent as good as the middle of the whole plays in a weak hall.
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { NOISE, readBy, readers } from '../questions.ts'
import { PROMISED, type Study, dailyLooks } from '../study.ts'

export const studies: Record<string, Study> = {
  '': {
    worlds: 100,
    quick: 8,
    withoutSkill: 'The agent reads as the middle of all voices does, which it meets on one question alone.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(28)], [0])
      const [strong, weak] = [readers(20, 1), readers(8, 21, 2 * NOISE)]
      return dailyLooks(field, (cluster) => {
        if (cluster === 0) return readBy(random, [...strong, ...weak, ...readers(1)], cluster)
        return readBy(random, cluster % 2 === 0 ? strong : [...weak, ...readers(1)], cluster)
      })
    },
    titles: [
      {
        how: 'plays in a weak hall that one shared question joins to the others',
        value: 'certified',
        range: PROMISED,
      },
    ],
  },
}
