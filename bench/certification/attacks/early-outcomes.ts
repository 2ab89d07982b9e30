// Early outcomes: questions "before 2026" can end early in one direction only, so that whoever leans that way
// is right until the close comes.
import { logistic, normal } from '../../../jobs/sandbox/random.ts'
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { HORIZON_MS, NOISE, drawOutcome, drawTruth, reading, readers, saying } from '../questions.ts'
import { PROMISED, type Range, type Study } from '../study.ts'

const QUESTIONS = 600
const OCTOBER = 0.75
const LEAN = 1

/** `closesEarly`: whether the operator moves the close to the outcome. */
export function earlyOutcomes(closesEarly: boolean, how: string, range: Range): Study {
  return {
    worlds: 100,
    quick: 6,
    withoutSkill: 'The agent reads as its peers do, and adds 1 in log-odds to everything.',
    simulate: (random) => {
      const asked = Array.from({ length: QUESTIONS }, (_, cluster) => {
        const truth = drawTruth(random)
        const outcome = drawOutcome(random, truth)
        const resolvedAtMs = outcome === 1 ? Math.ceil(random() * HORIZON_MS) : HORIZON_MS
        const leaning = saying(0, random() / 2, logistic(truth + LEAN + NOISE * normal(random)))
        const forecasts = [leaning, ...readers(20, 1).map((peer) => reading(random, peer, truth))]
        return { forecasts, outcome, cluster, resolvedAtMs }
      })
      const lookAt = (share: number) => {
        const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
        for (const question of asked) {
          if (question.resolvedAtMs > share * HORIZON_MS) continue
          field.ask({ ...question, isSettled: share === 1 || closesEarly })
        }
        const { title, skill } = field.judge(0)
        return { title: title === 'certified' ? QUESTIONS : Infinity, skill }
      }
      const [october, january] = [lookAt(OCTOBER), lookAt(1)]
      return { october: october.title, january: january.title, skill: january.skill! }
    },
    titles: [
      { how: `${how}: looked at in October`, value: 'october', range },
      { how: `${how}: in January`, value: 'january', range: PROMISED },
    ],
    measures: [{ about: `${how}: skill in January`, value: 'skill', shown: 'number' }],
  }
}

export const studies: Record<string, Study> = {
  '': earlyOutcomes(false, 'early outcomes: +1 in log-odds on 600 questions "before 2026"', PROMISED),
}
