// Copies the average of the others, and says the outcome when it can be read, before the question closes.
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { HORIZON_MS, readBy, readers, saying } from '../questions.ts'
import { PROMISED, type Range, type Study, dailyLooks } from '../study.ts'
import { following } from './copies.ts'

function told(at: number, from: number, range: Range): Study {
  const begun = from === 0 ? 'a copy' : `a copy from ${100 * from} % of the life on`
  return {
    worlds: 200,
    quick: 10,
    withoutSkill: 'The agent knows nothing before what everyone will know a moment later.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('copy'), ...people(20)], [0])
      const peers = readers(20, 1)
      return dailyLooks(field, (cluster) => {
        const question = readBy(random, peers, cluster)
        const copy = following(0, question.forecasts).map((one) => ({
          ...one,
          atMs: Math.max(one.atMs, from * HORIZON_MS),
        }))
        const outcome = saying(0, at, question.outcome === 1 ? 0.98 : 0.02)
        return { ...question, forecasts: [...question.forecasts, ...copy, outcome] }
      })
    },
    titles: [
      { how: `${begun} that says the outcome at ${100 * at} % of the life`, value: 'certified', range },
    ],
  }
}

export const studies: Record<string, Study> = {
  '95 %': told(0.95, 0, PROMISED),
  '74 %': told(0.74, 0, PROMISED),
  '74 %, from half': told(0.74, 0.5, {
    least: 0.9,
    most: 1,
    open: 'what it says last is a larger share of what is judged',
  }),
}
