// An owner's voice does badly where its sibling plays, so that the sibling looks good.
import { logistic } from '../../../jobs/sandbox/random.ts'
import { agentsOf, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { drawTruth, readBy, readers, saying } from '../questions.ts'
import { PROMISED, type Study, dailyLooks } from '../study.ts'

function ownVoice(peers: number): Study {
  return {
    worlds: 150,
    quick: 20,
    withoutSkill:
      'The sibling reads as the honest peers do, its voice knows the truth and says the opposite.',
    simulate: (random) => {
      const field = new SimulatedField([...agentsOf('owner', 2), ...people(peers)], [0, 1])
      return dailyLooks(field, (cluster) => {
        const truth = drawTruth(random)
        const plays = cluster % 2 === 0
        const question = readBy(random, readers(plays ? peers + 1 : peers, plays ? 1 : 2), cluster, truth)
        question.forecasts.push(saying(0, 0.1, plays ? (truth > 0 ? 0 : 1) : logistic(truth)))
        return question
      })
    },
    titles: [
      {
        how: `own voice does badly where its sibling plays, ${peers} peers`,
        value: 'certified',
        range: PROMISED,
      },
    ],
  }
}

export const studies: Record<string, Study> = {
  '5 peers': ownVoice(5),
  '8 peers': ownVoice(8),
  '20 peers': ownVoice(20),
}
