// Coin flips: says 0.5 on what nobody can know, beside voices that are strong elsewhere.
import { normal } from '../../../jobs/sandbox/random.ts'
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { type Reader, drawOutcome, drawTruth, reading, readers, saying } from '../questions.ts'
import { PROMISED, type Range, type Study, dailyLooks } from '../study.ts'

/**
 * Every other question is a coin, which the strong alone answer besides the agent. Their forecasts on coins
 * have noise of their own.
 */
function coinFlips(how: string, strong: Reader[], weak: number, own: number, range: Range): Study {
  return {
    worlds: 100,
    quick: 8,
    withoutSkill: 'Nobody can know more of a coin than the voices say.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(strong.length + weak)], [0])
      const all = [...strong, ...readers(weak, 1 + strong.length, 1.6)]
      return dailyLooks(field, (cluster) => {
        if (cluster % 2 === 0) {
          const truth = drawTruth(random)
          const forecasts = all.map((reader) => reading(random, reader, truth))
          return { forecasts, outcome: drawOutcome(random, truth), cluster }
        }
        const voices = strong.map(({ entity }) => {
          const probability = 0.5 + own * normal(random)
          return saying(entity, random() / 2, Math.min(1, Math.max(0, probability)))
        })
        return { forecasts: [saying(0, 0.25, 0.5), ...voices], outcome: drawOutcome(random, 0), cluster }
      })
    },
    titles: [{ how, value: 'certified', range }],
  }
}

export const studies: Record<string, Study> = {
  six: coinFlips('coin flips beside 6 strong voices of 26', readers(6, 1, 0.3), 20, 0, PROMISED),
  twelve: coinFlips('coin flips beside 12 strong voices of 32', readers(12, 1, 0.3), 20, 0, PROMISED),
  perfect: coinFlips('coin flips beside 8 nearly perfect voices of 28', readers(8, 1, 0.02), 20, 0, PROMISED),
  noise: coinFlips(
    'coin flips beside 12 strong voices that add noise of 0.15',
    readers(12, 1, 0.3),
    20,
    0.15,
    {
      least: 0,
      most: 0.1,
      open: '0.5 is better than what these voices say',
    },
  ),
}
