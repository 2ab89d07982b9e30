// Coming late: an equal reader forecasts once, when more is known than when its peers did.
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { drawNews, readNews, updating } from '../news.ts'
import { NOISE, readers } from '../questions.ts'
import { PROMISED, type Study, type Title, dailyLooks } from '../study.ts'

const open = {
  open: 'it is better than what they have standing',
}

function late(share: number, updates: number, may: Title['may']): Study {
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
            readNews(random, news, { entity: 0, noise: NOISE }, share),
          ],
          outcome: news.outcome,
          cluster,
        }
      })
    },
    titles: [
      {
        how: `one forecast at ${100 * share} % of the life; peers once in the first half and ${peers}`,
        value: 'certified',
        may,
      },
    ],
  }
}

export const studies: Record<string, Study> = {
  'at 90 %': late(0.9, 3, PROMISED),
  'half, stale': late(0.5, 0, open),
  'half, one update': late(0.5, 1, open),
  'half, three updates': late(0.5, 3, PROMISED),
  'last in time, stale': late(0.75, 0, open),
  'last in time, three updates': late(0.75, 3, open),
}
