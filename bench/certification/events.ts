// Questions about events: nine tenths of the truth and of each reader's error are shared by the questions of
// one, and one draw of luck decides all their outcomes.
import { type Random, logistic, normal } from '../../jobs/sandbox/random.ts'
import { ownedAgent, people } from './entities.ts'
import { SimulatedField } from './field.ts'
import {
  NOISE,
  type SimulatedQuestion,
  drawOutcome,
  drawTruth,
  reading,
  readers,
  saying,
} from './questions.ts'
import { type Range, type Study, dailyLooks } from './study.ts'

const [SHARED, OWN] = [Math.sqrt(0.9), Math.sqrt(0.1)]

/** `middle` is the mean of its log-odds; the agent's are multiplied by its overconfidence. */
export class Event {
  readonly #random: Random
  readonly #truth: number
  readonly #luck: number
  readonly #errors: number[]
  readonly #middle: number
  readonly #overconfidence: number

  constructor(random: Random, middle = 0, overconfidence = 1) {
    this.#random = random
    this.#truth = drawTruth(random)
    this.#luck = random()
    this.#errors = Array.from({ length: 21 }, () => normal(random))
    this.#middle = middle
    this.#overconfidence = overconfidence
  }

  ask(cluster: number): SimulatedQuestion {
    const random = this.#random
    const truth = this.#middle + SHARED * this.#truth + OWN * drawTruth(random)
    const errorOf = (entity: number) => SHARED * this.#errors[entity]! + OWN * normal(random)
    const own = logistic(this.#overconfidence * (truth + NOISE * errorOf(0)))
    const peers = readers(20, 1).map((peer) => reading(random, peer, truth, errorOf(peer.entity)))
    const outcome = drawOutcome(() => this.#luck, truth)
    return { forecasts: [saying(0, random() / 2, own), ...peers], outcome, cluster }
  }
}

/** Gives the question with this number. */
export type Asking = (question: number) => SimulatedQuestion

/** `eventOf` gives the event of a question, `clusterOf` its cluster. */
export function inEvents(
  eventOf: (question: number) => number,
  clusterOf: (question: number) => number,
  ...bias: [middle?: number, overconfidence?: number]
): (random: Random) => Asking {
  return (random) => {
    const begun = new Map<number, Event>()
    return (question) => {
      const number = eventOf(question)
      const event = begun.get(number) ?? new Event(random, ...bias)
      begun.set(number, event)
      return event.ask(clusterOf(question))
    }
  }
}

/** Consecutive tens of questions. */
export const tens = (question: number) => Math.floor(question / 10)

/** A year of questions about events, which an agent and 20 equal peers read. */
export function aboutEvents(how: string, asking: (random: Random) => Asking, range: Range): Study {
  return {
    worlds: 200,
    quick: 24,
    withoutSkill: 'The agent reads as its peers do, and shares their luck with an event.',
    simulate: (random) => {
      const field = new SimulatedField([ownedAgent('judged'), ...people(20)], [0])
      return dailyLooks(field, asking(random))
    },
    titles: [{ how, value: 'certified', range }],
  }
}
