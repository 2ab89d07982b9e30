// A season: shocks that last for months push the outcomes of unrelated questions one way, and an agent leans
// that way or the other.
import { normal } from '../../../jobs/sandbox/random.ts'
import { ownedAgent, people } from '../entities.ts'
import { QUESTIONS_A_WEEK, SimulatedField } from '../field.ts'
import { NOISE, drawOutcome, drawTruth, reading, readers } from '../questions.ts'
import { type Study, dailyLooks } from '../study.ts'

const SEASON_WEEKS = 13

function season(shock: number, most: number): Study {
  return {
    worlds: 200,
    quick: 12,
    withoutSkill: 'Its lean loses as often as it gains.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
      const all = readers(20, 1)
      const lean = random() < 0.5 ? 0.5 : -0.5
      let push = 0
      return dailyLooks(field, (question) => {
        if (question % (SEASON_WEEKS * QUESTIONS_A_WEEK) === 0) push = shock * normal(random)
        const truth = drawTruth(random)
        const own = reading(random, { entity: 0, noise: NOISE / 2 }, truth + lean)
        const forecasts = [own, ...all.map((peer) => reading(random, peer, truth))]
        return { forecasts, outcome: drawOutcome(random, truth + push), cluster: question }
      })
    },
    titles: [
      {
        how: `leans one way through shocks of ${shock} that last a season`,
        value: 'certified',
        range: { least: 0, most, open: 'one bet of a season; `lean` shows it' },
      },
    ],
  }
}

export const studies: Record<string, Study> = { half: season(0.5, 0.05), one: season(1, 0.25) }
