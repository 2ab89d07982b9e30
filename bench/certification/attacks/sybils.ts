// Five bad sybils who say 0 or 1 against the truth everywhere, each with an owner of its own, or all without.
import { agentsOf, ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { drawTruth, readBy, readers, saying } from '../questions.ts'
import { PROMISED, type Study, dailyLooks } from '../study.ts'

function sybils(owned: boolean): Study {
  const whose = owned ? 'five bad sybils with an owner each' : 'five bad sybils without owners'
  return {
    worlds: 120,
    quick: 20,
    withoutSkill: 'The agent reads as the honest peers do.',
    simulate: (random) => {
      const bad = owned ? Array.from({ length: 5 }, (_, i) => ownedAgent(`sybil ${i}`)) : agentsOf(null, 5)
      const field = new SimulatedField([ownedAgent('judged'), ...people(20), ...bad], [0])
      const looks = dailyLooks(field, (cluster) => {
        const truth = drawTruth(random)
        const question = readBy(random, readers(21), cluster, truth)
        bad.forEach((_, i) => question.forecasts.push(saying(21 + i, random() / 2, truth > 0 ? 0 : 1)))
        return question
      })
      return { ...looks, skill: field.judge(0).skill! }
    },
    titles: [{ how: whose, value: 'certified', range: PROMISED }],
    measures: [{ about: `${whose}: skill gained`, value: 'skill', shown: 'number' }],
  }
}

export const studies: Record<string, Study> = { 'without owners': sybils(false), 'with owners': sybils(true) }
