// Two owners trade sabotage: the voice of each is good elsewhere, and bad where the other's agent plays.
import { logistic } from '../../../jobs/sandbox/random.ts'
import { agentsOf, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { drawTruth, readBy, readers, saying } from '../questions.ts'
import { PROMISED, type Study, dailyLooks } from '../study.ts'

function trading(peers: number): Study {
  return {
    worlds: 100,
    quick: 8,
    withoutSkill: 'The agents read as the honest peers do, their voices know the truth.',
    simulate: (random) => {
      const entities = [...agentsOf('first owner', 2), ...agentsOf('second owner', 2), ...people(peers)]
      const [voices, agents] = [[0, 2] as const, [1, 3] as const]
      const field = new SimulatedField(entities, agents)
      return dailyLooks(field, (cluster) => {
        const truth = drawTruth(random)
        const honest = readers(peers, 4)
        const turn = cluster % 3
        if (turn === 2) {
          const question = readBy(random, honest, cluster, truth)
          for (const voice of voices) question.forecasts.push(saying(voice, 0.1, logistic(truth)))
          return question
        }
        const question = readBy(random, [...honest, ...readers(1, agents[turn])], cluster, truth)
        question.forecasts.push(saying(voices[1 - turn]!, 0.1, truth > 0 ? 0 : 1))
        return question
      })
    },
    titles: [
      {
        how: `two owners trade sabotage among ${peers} honest peers`,
        value: 'certified',
        range: PROMISED,
      },
    ],
  }
}

export const studies: Record<string, Study> = { 'among 5': trading(5), 'among 20': trading(20) }
