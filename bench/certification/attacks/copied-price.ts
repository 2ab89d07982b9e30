// Most voices copy one price to the last digit, and so does the agent, where the others err: gains without
// any scatter, so that the least leaning of rounding or of shrunken strengths would show.
import { logistic, normal } from '../../../jobs/simulation/random.ts'
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { NOISE, drawOutcome, drawTruth, reading, readers, saying } from '../questions.ts'
import { PROMISED, type Study, type Title, dailyLooks } from '../study.ts'

function copiedPrice(how: string, others: number, only: boolean, may: Title['may']): Study {
  return {
    worlds: 100,
    quick: 10,
    withoutSkill: 'The agent says what the middle voice says, to the last digit.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(12 + others)], [0])
      return dailyLooks(field, (cluster) => {
        const truth = drawTruth(random)
        const price = logistic(truth + 0.3 * normal(random))
        const noisy = cluster % 2 === 0
        const forecasts = readers(12, 1).map(({ entity }) => saying(entity, 0.1, price))
        if (noisy) {
          forecasts.push(...readers(others, 13, 2 * NOISE).map((reader) => reading(random, reader, truth)))
        }
        if (noisy || !only) forecasts.push(saying(0, 0.1, price))
        return { forecasts, outcome: drawOutcome(random, truth), cluster }
      })
    },
    titles: [
      { how, value: 'certified', may },
      { how: `${how}: expert`, value: 'expert', may },
    ],
  }
}

export const studies: Record<string, Study> = {
  everywhere: copiedPrice('copies the price that 12 of 20 voices copy', 8, false, PROMISED),
  chosen: copiedPrice('copies the price where the other 8 voices of 20 stand', 8, true, PROMISED),
  alone: copiedPrice('copies the price that all 12 voices copy', 0, false, PROMISED),
}
