// A truly better agent: after how many questions is it certified?
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { NOISE, readBy, readers } from '../questions.ts'
import { type Study, dailyLooks } from '../study.ts'

function better(noise: number, peers: number, worlds: number, quick: number): Study {
  const how = `a truly better agent: error ${noise} among 20 peers with ${peers}, within 1,200 questions`
  return {
    worlds,
    quick,
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
      const all = [...readers(1, 0, noise), ...readers(20, 1, peers)]
      return dailyLooks(field, (question) => readBy(random, all, question), 1200, 'certified')
    },
    titles: [{ how, value: 'certified', may: 'power' }],
  }
}

export const studies: Record<string, Study> = {
  'slightly better': better(NOISE, 1.2, 120, 12),
  better: better(NOISE / 2, NOISE, 120, 16),
  'much better': better(NOISE / 4, NOISE, 120, 16),
}
