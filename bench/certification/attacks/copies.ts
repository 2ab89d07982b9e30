// Copies what is there for all to see: the average of the others, their median, or the best of them; plain,
// with noise, more extreme, or late.
import { type Random, logistic, normal } from '../../../jobs/sandbox/random.ts'
import { PPM } from '../../../pipeline/scoring/logarithm.ts'
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import {
  HORIZON_MS,
  NOISE,
  type Reader,
  type SimulatedForecast,
  readBy,
  readers,
  saying,
} from '../questions.ts'
import { PROMISED, type Study, dailyLooks } from '../study.ts'

/** The forecasts of the copy, by those of the others. */
type Copy = (random: Random, others: readonly SimulatedForecast[]) => number

const share = ({ ppm }: SimulatedForecast) => ppm / PPM
export const average: Copy = (_, others) => others.reduce((sum, one) => sum + share(one), 0) / others.length

/**
 * Says the average of the others after each of their forecasts, from the fifth on, up to this share of the
 * life.
 */
export function following(
  entity: number,
  others: readonly SimulatedForecast[],
  until = 1,
): SimulatedForecast[] {
  const inOrder = others.toSorted((a, b) => a.atMs - b.atMs)
  return inOrder.slice(4).flatMap(({ atMs }, i) => {
    const mean = inOrder.slice(0, i + 5).reduce((sum, { ppm }) => sum + ppm, 0) / (i + 5)
    return atMs < until * HORIZON_MS ? [{ entity, atMs, ppm: Math.round(mean) }] : []
  })
}

const median: Copy = (_, others) => {
  const sorted = others.map(share).toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2
}
/** The best reader has the least number. */
const best: Copy = (_, others) => share(others.toSorted((a, b) => a.entity - b.entity)[0]!)

const logOdds = (p: number) => Math.log(p / (1 - p))
const within = (p: number) => Math.min(0.999, Math.max(0.001, p))
const noisy: Copy = (random, others) =>
  logistic(logOdds(within(average(random, others))) + 0.2 * normal(random))
const extremised: Copy = (random, others) => logistic(1.3 * logOdds(within(average(random, others))))

function copied(how: string, copy: Copy, peers: readonly Reader[], at = 0.5): Study {
  return {
    worlds: 200,
    quick: 10,
    withoutSkill: 'Everything that a copy says, the others say.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('copy'), ...people(peers.length)], [0])
      return dailyLooks(field, (cluster) => {
        const question = readBy(random, peers, cluster)
        return {
          ...question,
          forecasts: [...question.forecasts, saying(0, at, copy(random, question.forecasts))],
        }
      })
    },
    titles: [{ how, value: 'certified', range: PROMISED }],
  }
}

const equal = readers(20, 1)
const oneBetter = [{ entity: 1, noise: NOISE / 2 }, ...readers(19, 2)]

export const studies: Record<string, Study> = {
  average: copied('a copy of the average of 20 others', average, equal),
  'with noise': copied('the same with noise of 0.2 in log-odds', noisy, equal),
  extremised: copied('the same, 1.3 times as far from one half in log-odds', extremised, equal),
  lagged: copied('the same at 74 % of the life', average, equal, 0.74),
  median: copied('a copy of the median of 20 others', median, equal),
  'best voice': copied('a copy of the best of 20 others, who is twice as good', best, oneBetter),
}
