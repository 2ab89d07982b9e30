// A truly better agent: after how many questions is it certified? Its peers share an error, so that their
// average is hardly better than one of them, and the size of this error gives the agent's edge over the
// average.
import { type Random, normal } from '../../../jobs/sandbox/random.ts'
import { PPM } from '../../../pipeline/scoring/logarithm.ts'
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { type SimulatedQuestion, drawOutcome, drawTruth, readers, reading } from '../questions.ts'
import { type Range, type Study, dailyLooks } from '../study.ts'

const MOST = 3500
/** The error that each reader has alone, in log-odds. */
const OWN_ERROR = 0.2
const ALL = readers(21, 0, OWN_ERROR)
const SURELY: Range = { least: 0.9, most: 1 }

function asked(random: Random, shared: number, cluster: number): SimulatedQuestion {
  const truth = drawTruth(random)
  const peersTruth = truth + shared * normal(random)
  const forecasts = ALL.map((reader) => reading(random, reader, reader.entity === 0 ? truth : peersTruth))
  return { forecasts, outcome: drawOutcome(random, truth), cluster }
}

/** By how much the Brier score of the first is below that of the average of the rest. */
function edgeOf({ forecasts, outcome }: SimulatedQuestion): number {
  const [own, ...others] = forecasts.map(({ ppm }) => ppm / PPM - outcome)
  const average = others.reduce((sum, error) => sum + error, 0) / others.length
  return average * average - own! * own!
}

/**
 * `shared` is the peers' error in log-odds that has the `edge`, and `eventQuestions` in a row are of one
 * event.
 */
function better(edge: number, shared: number, range = SURELY, eventQuestions = 1): Study {
  const how = `an edge of ${edge} over the average${eventQuestions > 1 ? `, events of ${eventQuestions}` : ', no event ids'}`
  return {
    worlds: 60,
    quick: 4,
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
      let gained = 0
      let questions = 0
      const looks = dailyLooks(
        field,
        (number) => {
          const question = asked(random, shared, Math.floor(number / eventQuestions))
          gained += edgeOf(question)
          questions += 1
          return question
        },
        MOST,
      )
      return { ...looks, edge: gained / questions }
    },
    titles: [{ how: `truly better: ${how}, within ${MOST} questions`, value: 'certified', range }],
    measures: [{ about: `its edge until it was certified: ${how}`, value: 'edge', shown: 'number' }],
  }
}

export const studies: Record<string, Study> = {
  'edge of 0.005': better(0.005, 0.43, { least: 0.4, most: 0.85 }),
  'edge of 0.01': better(0.01, 0.58),
  'edge of 0.02': better(0.02, 0.82),
  'edge of 0.04': better(0.04, 1.21),
  'edge of 0.02, in events': better(0.02, 0.82, SURELY, 3),
  'edge of 0.04, in events': better(0.04, 1.21, SURELY, 3),
}
