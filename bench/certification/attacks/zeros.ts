// Zeros: says 0 where the truth is small and all peers say twice that, which is as wrong.
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { readers, saying } from '../questions.ts'
import { PROMISED, type Study, dailyLooks } from '../study.ts'

function zeros(truth: number): Study {
  return {
    worlds: 200,
    quick: 30,
    withoutSkill: 'Its expected error is exactly that of each peer.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
      return dailyLooks(field, (cluster) => ({
        forecasts: [
          saying(0, random() / 2, 0),
          ...readers(20, 1).map(({ entity }) => saying(entity, random() / 2, 2 * truth)),
        ],
        outcome: random() < truth ? 1 : 0,
        cluster,
      }))
    },
    titles: [
      {
        how: `says 0 where the truth is ${truth} and peers say twice that`,
        value: 'certified',
        range: PROMISED,
      },
    ],
  }
}

export const studies: Record<string, Study> = { '0.02': zeros(0.02), '0.05': zeros(0.05) }
