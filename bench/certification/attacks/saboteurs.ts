// One owner under several names: accomplices that know the truth say the opposite where the agent plays.
import { logistic } from '../../../jobs/simulation/random.ts'
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { drawTruth, readBy, readers, saying } from '../questions.ts'
import { type Study, dailyLooks } from '../study.ts'

function saboteurs(count: number, peers: number): Study {
  return {
    worlds: 60,
    quick: 10,
    withoutSkill: 'The agent reads as the honest peers do.',
    simulate: (random) => {
      const accomplices = Array.from({ length: count }, (_, i) => ownedAgent(`accomplice ${i}`))
      const field = new SimulatedField([ownedAgent('judged'), ...accomplices, ...people(peers)], [0])
      return dailyLooks(field, (cluster) => {
        const truth = drawTruth(random)
        const plays = cluster % 2 === 0
        const question = readBy(random, readers(peers, count + 1), cluster, truth)
        if (plays) question.forecasts.push(...readBy(random, readers(1), cluster, truth).forecasts)
        const said = plays ? (truth > 0 ? 0 : 1) : logistic(truth)
        accomplices.forEach((_, i) => question.forecasts.push(saying(1 + i, 0.1, said)))
        return question
      })
    },
    titles: [
      {
        how: `${count} accomplices with owners of their own do badly where it plays, ${peers} peers`,
        value: 'certified',
        may: { open: 'only the record of who answers for whom stands against it' },
      },
    ],
  }
}

export const studies: Record<string, Study> = {
  'two among 5': saboteurs(2, 5),
  'two among 20': saboteurs(2, 20),
  'five among 20': saboteurs(5, 20),
}
