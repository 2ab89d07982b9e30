// The simulated worlds that certificates are measured on. Each gives the values of one world; the same number
// gives the same.
import { type Random, normal, sfc32 } from '../../jobs/simulation/random.ts'
import { agentsOf, ownedAgent, people } from './entities.ts'
import { SimulatedField } from './field.ts'
import { NOISE, type Reader, copyOf, drawOutcome, drawTruth, reading } from './questions.ts'
import { chosenQuestions, rankCoverage, sparseAnswers } from './skills.ts'

const SEED = 20_260_101
const DAYS = 365
const QUESTIONS_A_DAY = 2
const ONE_LOOK = 400
/** Peers who read so badly that the skill of an agent of the usual noise among them is about 0.096. */
const WORSE_NOISE = 1.2

/** What is measured in one world, by name. A share of the judged, or a mean over them. */
export type Values = Readonly<Record<string, number>>

export interface Scenario {
  /** How many worlds the full form simulates, and the quick one. */
  worlds: number
  quick: number
  simulate: (random: Random) => Values
}

const readers = (count: number, from = 0, noise = NOISE): Reader[] =>
  Array.from({ length: count }, (_, i) => ({ entity: from + i, noise }))

/** Everybody reads the question. */
function readBy(random: Random, all: readonly Reader[], cluster: number) {
  const truth = drawTruth(random)
  return {
    forecasts: all.map((reader) => reading(random, reader, truth)),
    outcome: drawOutcome(random, truth),
    cluster,
  }
}

/** One judged agent, entity 0, is looked at every day of a year, and once after 400 questions. */
function yearOfLooks(
  field: SimulatedField,
  ask: (question: number) => Parameters<SimulatedField['ask']>[0],
): Values {
  let ever = 0
  let once = 0
  let skill = 0
  for (let question = 0; question < DAYS * QUESTIONS_A_DAY; question++) {
    field.ask(ask(question))
    if ((question + 1) % QUESTIONS_A_DAY !== 0) continue
    if (ever === 0 && field.certified().length > 0) ever = 1
    if (question + 1 === ONE_LOOK) {
      const judged = field.judge(0)
      once = judged.title === 'certified' || judged.title === 'expert' ? 1 : 0
      skill = judged.skill!
    }
    if (ever === 1 && question + 1 >= ONE_LOOK) break
  }
  return { ever: Math.max(ever, once), once, skill }
}

function asGoodAsPeers(peers: number): Scenario['simulate'] {
  return (random) => {
    const field = new SimulatedField([ownedAgent('judged'), ...people(peers)], [0])
    const all = readers(peers + 1)
    return yearOfLooks(field, (question) => readBy(random, all, question))
  }
}

/** Forty peers who read with noise from half the judged agent's to twice as much, as many better as worse. */
function amongMixed(random: Random): Values {
  const field = new SimulatedField([ownedAgent('judged'), ...people(40)], [0])
  const all = [
    { entity: 0, noise: NOISE },
    ...Array.from({ length: 40 }, (_, i) => ({ entity: i + 1, noise: NOISE * 2 ** ((2 * i - 39) / 39) })),
  ]
  return yearOfLooks(field, (question) => readBy(random, all, question))
}

/**
 * Ten questions in a row are about one event: nine tenths of the truth and of each reader's error are shared.
 */
function inClusters(random: Random): Values {
  const [shared, own] = [Math.sqrt(0.9), Math.sqrt(0.1)]
  const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
  const all = readers(21)
  let eventTruth = 0
  let luck = 0
  let errors: number[] = []
  return yearOfLooks(field, (question) => {
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
}

/** One owner's agents, as good as 20 peers: begun together, or one after another through the year. */
function ofOneOwner(count: number, order: 'together' | 'one after another'): Scenario['simulate'] {
  return (random) => {
    const agents = agentsOf('owner', count)
    const field = new SimulatedField(
      [...agents, ...people(20)],
      agents.map((_, i) => i),
    )
    const all = readers(count + 20)
    // The last begins early enough for its fifty questions.
    const begins = (agent: number) =>
      order === 'together' ? 0 : Math.floor((agent * (DAYS - 120) * QUESTIONS_A_DAY) / count)
    for (let question = 0; question < DAYS * QUESTIONS_A_DAY; question++) {
      const present = all.filter(({ entity }) => entity >= count || begins(entity) <= question)
      field.ask(readBy(random, present, question))
      if ((question + 1) % QUESTIONS_A_DAY === 0 && field.certified().length > 0) return { ever: 1 }
    }
    return { ever: 0 }
  }
}

function copyOfTheCrowd(random: Random): Values {
  const field = new SimulatedField([ownedAgent('copy'), ...people(20)], [0])
  const peers = readers(20, 1)
  const ever = { certified: 0, expert: 0 }
  for (let question = 0; question < DAYS * QUESTIONS_A_DAY; question++) {
    const { forecasts, ...rest } = readBy(random, peers, question)
    field.ask({ ...rest, forecasts: [...forecasts, copyOf(0, forecasts)] })
    if ((question + 1) % QUESTIONS_A_DAY !== 0) continue
    if (ever.certified === 0 && field.certified().length > 0) ever.certified = 1
    if (field.certified('expert').length > 0) return { certified: 1, expert: 1 }
  }
  return ever
}

/** Five who say 0 or 1 against the truth, each with an owner of its own, or all without one. */
function withSybils(owned: boolean): Scenario['simulate'] {
  return (random) => {
    const sybils = owned ? Array.from({ length: 5 }, (_, i) => ownedAgent(`sybil ${i}`)) : agentsOf(null, 5)
    const field = new SimulatedField([ownedAgent('judged'), ...people(20), ...sybils], [0])
    const honest = readers(21)
    return yearOfLooks(field, (question) => {
      const truth = drawTruth(random)
      const against = sybils.map((_, i) => ({
        ...reading(random, { entity: 21 + i, noise: 0 }, truth),
        ppm: truth > 0 ? 0 : 1_000_000,
      }))
      return {
        forecasts: [...honest.map((reader) => reading(random, reader, truth)), ...against],
        outcome: drawOutcome(random, truth),
        cluster: question,
      }
    })
  }
}

/**
 * After how many questions a truly better agent is certified, looked at every day; Infinity if not within
 * 1,200.
 */
function trulyBetter(random: Random): Values {
  const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
  const all = [...readers(1), ...readers(20, 1, WORSE_NOISE)]
  let needed = Infinity
  let skill = 0
  for (let question = 1; question <= 1200; question++) {
    field.ask(readBy(random, all, question))
    if (question === 600) skill = field.judge(0).skill!
    if (question % QUESTIONS_A_DAY === 0 && needed === Infinity && field.certified().length > 0) {
      needed = question
    }
    if (needed < Infinity && question >= 600) break
  }
  const within = (questions: number) => (needed <= questions ? 1 : 0)
  return { needed, skill, by150: within(150), by300: within(300), by600: within(600), by1200: within(1200) }
}

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'peers 100': { worlds: 300, quick: 20, simulate: asGoodAsPeers(100) },
  'owner 100': { worlds: 150, quick: 10, simulate: ofOneOwner(100, 'together') },
  'owner 100 in turn': { worlds: 150, quick: 10, simulate: ofOneOwner(100, 'one after another') },
  'owner 20': { worlds: 300, quick: 20, simulate: ofOneOwner(20, 'together') },
  'owner 20 in turn': { worlds: 300, quick: 20, simulate: ofOneOwner(20, 'one after another') },
  'owner 5': { worlds: 600, quick: 80, simulate: ofOneOwner(5, 'together') },
  'peers 20': { worlds: 1000, quick: 120, simulate: asGoodAsPeers(20) },
  'peers 5': { worlds: 1500, quick: 200, simulate: asGoodAsPeers(5) },
  mixed: { worlds: 300, quick: 40, simulate: amongMixed },
  clusters: { worlds: 600, quick: 80, simulate: inClusters },
  copies: { worlds: 200, quick: 20, simulate: copyOfTheCrowd },
  'sybils without owners': { worlds: 300, quick: 40, simulate: withSybils(false) },
  'sybils with owners': { worlds: 300, quick: 40, simulate: withSybils(true) },
  choosers: { worlds: 100, quick: 16, simulate: chosenQuestions },
  sparse: { worlds: 100, quick: 16, simulate: sparseAnswers },
  ranks: { worlds: 60, quick: 8, simulate: rankCoverage },
  better: { worlds: 300, quick: 40, simulate: trulyBetter },
}

/** The values of the world with this number of a scenario. */
export function simulate(name: string, world: number): Values {
  const stream = Object.keys(SCENARIOS).indexOf(name) * 100_000 + world
  return SCENARIOS[name]!.simulate(sfc32(SEED, stream))
}
