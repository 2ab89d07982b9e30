// Pennies: answers only what reads lopsided, says 0 or 1, and drops the agent at its first loss. Sixty small
// gains of which none has been lost yet look like skill.
import { normal } from '../../../jobs/sandbox/random.ts'
import { agentsOf, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { NOISE, drawOutcome, drawTruth, readBy, reading, readers, saying } from '../questions.ts'
import { PROMISED, type Study } from '../study.ts'

/** On these the peers show how good they are. Afterwards those that the agent leaves alone are left out. */
const ORDINARY = 200
const LOPSIDED = 300

function pennies(spread: number, beyond: number, noise = NOISE, agents = 1): Study {
  const whose = agents === 1 ? 'one agent' : `${agents} agents of one owner`
  const reader = noise === NOISE ? '' : ', a reader twice as noisy'
  const how = `pennies: σ ${spread}, τ ${beyond}, ${whose}${reader}`
  return {
    worlds: 200,
    quick: 30,
    withoutSkill: 'The agent reads as its peers do, or worse, and rounds to 0 or 1.',
    simulate: (random) => {
      const owned = agentsOf('owner', agents)
      const field = new SimulatedField(
        [...owned, ...people(20)],
        owned.map((_, i) => i),
      )
      const peers = readers(20, agents)
      const standing = new Set(owned.map((_, i) => i))
      for (let question = 0; question < ORDINARY + LOPSIDED; question++) {
        const isOrdinary = question < ORDINARY
        let truth = drawTruth(random, spread)
        let read = [...standing].map(() => truth + noise * normal(random))
        while (!isOrdinary && !read.some((logOdds) => Math.abs(logOdds) > beyond)) {
          truth = drawTruth(random, spread)
          read = read.map(() => truth + noise * normal(random))
        }
        if (isOrdinary) {
          field.ask(readBy(random, peers, question, truth))
          continue
        }
        const outcome = drawOutcome(random, truth)
        const bets = [...standing].flatMap((agent, i) =>
          Math.abs(read[i]!) > beyond ? [saying(agent, random() / 2, read[i]! > 0 ? 1 : 0)] : [],
        )
        const forecasts = [...peers.map((peer) => reading(random, peer, truth)), ...bets]
        field.ask({ forecasts, outcome, cluster: question })
        for (const { entity, ppm } of bets) if (ppm > 0 !== outcome > 0) standing.delete(entity)
        if (field.certified().length > 0) return { certified: question - ORDINARY }
        if (standing.size === 0) break
      }
      return { certified: Infinity }
    },
    titles: [{ how, value: 'certified', range: PROMISED }],
  }
}

export const studies: Record<string, Study> = {
  'σ 1.5, τ 4': pennies(1.5, 4),
  'σ 3, τ 5': pennies(3, 5),
  'σ 3, τ 6': pennies(3, 6),
  noisy: pennies(3, 6, 2 * NOISE),
  'five agents': pennies(3, 5, NOISE, 5),
}
