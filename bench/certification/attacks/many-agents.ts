// An owner tries many agents, together or one after another, in the hope that one of them is lucky.
import { agentsOf, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { drawTruth, readBy, readers } from '../questions.ts'
import { DAYS, PROMISED, QUESTIONS_A_DAY, type Study, dailyLooks } from '../study.ts'

function manyAgents(
  count: number,
  order: 'begun together' | 'one after another',
  worlds: number,
  quick: number,
  spread = 1.5,
): Study {
  return {
    worlds,
    quick,
    withoutSkill: 'Each agent reads as the 20 peers do.',
    simulate: (random) => {
      const agents = agentsOf('owner', count)
      const field = new SimulatedField(
        [...agents, ...people(20)],
        agents.map((_, i) => i),
      )
      const all = readers(count + 20)
      // The last begins early enough for its fifty questions.
      const begins = (agent: number) =>
        order === 'begun together' ? 0 : Math.floor((agent * (DAYS - 120) * QUESTIONS_A_DAY) / count)
      const ask = (question: number) => {
        const present = all.filter(({ entity }) => entity >= count || begins(entity) <= question)
        return readBy(random, present, question, drawTruth(random, spread))
      }
      return dailyLooks(field, ask)
    },
    titles: [
      {
        how: `owner of ${count} agents without skill, ${order}${spread === 1.5 ? '' : `, σ ${spread}`}`,
        value: 'certified',
        range: PROMISED,
      },
    ],
  }
}

export const studies: Record<string, Study> = {
  '100': manyAgents(100, 'begun together', 60, 4),
  '100 in turn': manyAgents(100, 'one after another', 60, 4),
  '20': manyAgents(20, 'begun together', 120, 8),
  '20 in turn': manyAgents(20, 'one after another', 120, 8),
  '5': manyAgents(5, 'begun together', 400, 40),
  '5 wide': manyAgents(5, 'begun together', 400, 40, 3),
}
