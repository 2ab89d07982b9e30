// Coming late: an equal reader forecasts once, when more is known than when its peers did.
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { drawNews, readNews, updating } from '../news.ts'
import { NOISE, readers } from '../questions.ts'
import { PROMISED, type Study, dailyLooks } from '../study.ts'

function late(updates: number): Study {
  const peers = ['never again', 'once more', 'twice more', 'three times more'][updates]!
  return {
    worlds: 120,
    quick: 16,
    withoutSkill: 'The agent reads the news of its moment as its peers would read it.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
      const all = readers(20, 1)
      return dailyLooks(field, (cluster) => {
        const news = drawNews(random)
        return {
          forecasts: [
            ...updating(random, news, all, updates),
            readNews(random, news, { entity: 0, noise: NOISE }, 0.7 + 0.04 * random()),
          ],
          outcome: news.outcome,
          cluster,
        }
      })
    },
    titles: [
      {
        how: `one forecast at 70 to 74 % of the life; peers once in the first half and ${peers}`,
        value: 'certified',
        range: PROMISED,
      },
    ],
  }
}

export const studies: Record<string, Study> = {
  stale: late(0),
  'one update': late(1),
  'three updates': late(3),
}
