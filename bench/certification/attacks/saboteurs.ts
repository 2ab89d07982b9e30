// Puppets: voices with owners of their own that say the opposite of the truth where the candidate plays, and
// the truth elsewhere.
import { logistic } from '../../../jobs/sandbox/random.ts'
import { agentsOf, ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { drawTruth, readBy, readers, saying } from '../questions.ts'
import { type Study, dailyLooks } from '../study.ts'

function puppets(count: number, voices: number, isVoice: boolean, least: number, most: number): Study {
  const honest = voices - count - (isVoice ? 1 : 0)
  return {
    worlds: 200,
    quick: 10,
    withoutSkill: 'The candidate reads as the honest voices do.',
    simulate: (random) => {
      const candidate = isVoice ? [ownedAgent('judged')] : agentsOf(null, 1)
      const others = Array.from({ length: count }, (_, i) => ownedAgent(`puppet ${i}`))
      const field = new SimulatedField([...candidate, ...others, ...people(honest)], [0])
      return dailyLooks(field, (cluster) => {
        const truth = drawTruth(random)
        const plays = cluster % 2 === 0
        const question = readBy(random, readers(honest, count + 1), cluster, truth)
        if (plays) question.forecasts.push(...readBy(random, readers(1), cluster, truth).forecasts)
        const said = plays ? (truth > 0 ? 0 : 1) : logistic(truth)
        others.forEach((_, i) => question.forecasts.push(saying(1 + i, 0.1, said)))
        return question
      })
    },
    titles: [
      {
        how: `${count} of ${voices} voices are puppets, the candidate is ${isVoice ? 'a voice' : 'none'}`,
        value: 'certified',
        range: { least, most, open: 'only the record of who answers for whom stands against it' },
      },
    ],
  }
}

export const studies: Record<string, Study> = {
  '2 of 22': puppets(2, 22, true, 0, 0.05),
  '2 of 22, no voice': puppets(2, 22, false, 0, 0.05),
  '4 of 12': puppets(4, 12, true, 0.5, 0.9),
  '4 of 12, no voice': puppets(4, 12, false, 0.7, 1),
  '8 of 28': puppets(8, 28, true, 0.1, 0.5),
  '8 of 28, no voice': puppets(8, 28, false, 0.2, 0.65),
  '6 of 14': puppets(6, 14, true, 0.9, 1),
  '6 of 14, no voice': puppets(6, 14, false, 0.9, 1),
}
