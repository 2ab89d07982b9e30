// A single agent that reads exactly as its peers do: is it ever certified?
import { normal } from '../../../jobs/sandbox/random.ts'
import { ownedAgent, people } from '../entities.ts'
import { SimulatedField } from '../field.ts'
import { NOISE, copyOf, drawOutcome, drawTruth, readBy, reading, readers } from '../questions.ts'
import { PROMISED, type Study, dailyLooks } from '../study.ts'

const ONE_LOOK = 400
const withoutSkill = 'The agent reads with the same error as its peers, or as the middle one.'

function among(peers: number, worlds: number, quick: number, spread = 1.5): Study {
  const fieldOf = `${peers} peers${spread === 1.5 ? '' : `, σ ${spread}`}`
  return {
    worlds,
    quick,
    withoutSkill,
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(peers)], [0])
      const all = readers(peers + 1)
      let once: number | undefined
      const { certified } = dailyLooks(field, (question) => {
        if (question === ONE_LOOK) {
          once = field.judge(0).title === 'certified' ? ONE_LOOK : Infinity
        }
        return readBy(random, all, question, drawTruth(random, spread))
      })
      return { once: once ?? ONE_LOOK, certified }
    },
    titles: [
      {
        how: `equal agent, one look after ${ONE_LOOK} questions, ${fieldOf}`,
        value: 'once',
        range: PROMISED,
      },
      { how: `equal agent, ever in a year, ${fieldOf}`, value: 'certified', range: PROMISED },
    ],
  }
}

/**
 * The agent says the average of as many readings of its own, all at the opening, so that its skill is 0 in
 * expectation.
 */
const yardstick: Study = {
  worlds: 600,
  quick: 40,
  withoutSkill: 'The agent is exactly as good as the average of the others.',
  simulate: (random) => {
    const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
    return dailyLooks(field, (cluster) => {
      const truth = drawTruth(random)
      const panel = () => readers(20, 1).map((reader) => ({ ...reading(random, reader, truth), atMs: 0 }))
      const own = { ...copyOf(0, panel()), atMs: 0 }
      return { forecasts: [own, ...panel()], outcome: drawOutcome(random, truth), cluster }
    })
  },
  titles: [{ how: 'exactly as good as the average of 20 others, ever', value: 'certified', range: PROMISED }],
}

/** Forty peers who read with noise from half the judged agent's to twice as much, as many better as worse. */
const mixed: Study = {
  worlds: 200,
  quick: 30,
  withoutSkill,
  simulate: (random) => {
    const field = new SimulatedField([ownedAgent('judged'), ...people(40)], [0])
    const all = [
      { entity: 0, noise: NOISE },
      ...Array.from({ length: 40 }, (_, i) => ({ entity: i + 1, noise: NOISE * 2 ** ((2 * i - 39) / 39) })),
    ]
    return dailyLooks(field, (question) => readBy(random, all, question))
  },
  titles: [{ how: 'the middle of 40 mixed peers, ever', value: 'certified', range: PROMISED }],
}

/**
 * Ten questions in a row are about one event: nine tenths of the truth and of each reader's error are shared.
 */
const clusters: Study = {
  worlds: 300,
  quick: 40,
  withoutSkill,
  simulate: (random) => {
    const [shared, own] = [Math.sqrt(0.9), Math.sqrt(0.1)]
    const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
    const all = readers(21)
    let [eventTruth, luck] = [0, 0]
    let errors: number[] = []
    return dailyLooks(field, (question) => {
      if (question % 10 === 0) {
        eventTruth = drawTruth(random)
        luck = random()
        errors = all.map(() => normal(random))
      }
      const truth = shared * eventTruth + own * drawTruth(random)
      return {
        forecasts: all.map((reader) =>
          reading(random, reader, truth, shared * errors[reader.entity]! + own * normal(random)),
        ),
        outcome: drawOutcome(() => luck, truth),
        cluster: Math.floor(question / 10),
      }
    })
  },
  titles: [
    { how: 'equal agent, questions in marked events of ten, ever', value: 'certified', range: PROMISED },
  ],
}

export const studies: Record<string, Study> = {
  'peers 100': among(100, 150, 8),
  'peers 20': among(20, 600, 60),
  'peers 20 wide': among(20, 400, 40, 3),
  'peers 5': among(5, 600, 60),
  yardstick,
  mixed,
  clusters,
}
