// Answers only where fewer strong voices stand.
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { NOISE, readBy, readers } from '../questions.ts'
import { PROMISED, type Study, dailyLooks } from '../study.ts'

export const studies: Record<string, Study> = {
  '': {
    worlds: 120,
    quick: 20,
    withoutSkill: 'The agent reads as the middle peer does.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(31)], [0])
      const strong = readers(15, 1, NOISE / 2)
      const others = [...readers(1, 16), ...readers(15, 17, 2 * NOISE)]
      return dailyLooks(field, (cluster) => {
        const comes = 0.1 + 0.8 * random()
        const present = [...strong.filter(() => random() < comes), ...others]
        const plays = present.length < others.length + 5
        return readBy(random, plays ? [...readers(1), ...present] : present, cluster)
      })
    },
    titles: [{ how: 'answers only where fewer strong voices stand', value: 'certified', range: PROMISED }],
  },
}
