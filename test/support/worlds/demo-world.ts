// The world of the demo as it is scored, without a service: agents whose requests take given times, and a
// sandbox that has gone on for a number of rounds since.
import { ROUND_MS, leastOpenMs, simulateAgents, submissionsOf } from '../../../jobs/simulation/demo-agents.ts'
import { DEMO_FORECASTERS, simulateLive, simulatePast } from '../../../jobs/simulation/demo-world.ts'
import {
  FORECASTERS,
  type SimulatedForecast,
  type SimulatedForecaster,
  type SimulatedQuestion,
  type Simulation,
  forecastsOn,
  questionsOf,
} from '../../../jobs/simulation/world.ts'
import type { PlainWorld } from '../plain/world.ts'

const OPENS_AT = new Date('2026-03-01T12:00:00Z')

export interface DemoTimes {
  /** From the opening of the live questions to the first request. */
  leadMs: number
  /** How long the requests of each round take. */
  roundsMs: readonly number[]
  sandboxRounds: number
}

/** Agents by name, people by id. */
export function demoWorld({ leadMs, roundsMs, sandboxRounds }: DemoTimes): PlainWorld {
  const startsMs = [leadMs]
  for (const ms of roundsMs) startsMs.push(startsMs.at(-1)! + Math.max(ROUND_MS, ms))
  const live = simulateLive(OPENS_AT, leastOpenMs(startsMs.at(-1)!, startsMs[2]!))
  const agents = simulateAgents(live)
  const later = sandboxWorld(
    { seed: 1, started_at: OPENS_AT.toISOString(), round_ms: 300_000, questions_per_round: 10 },
    sandboxRounds,
    DEMO_FORECASTERS,
  )
  const past = simulatePast(OPENS_AT)
  const submitted = roundsMs.flatMap((tookMs, round) => {
    const beganMs = OPENS_AT.getTime() + startsMs[round]!
    const requests = submissionsOf(live, agents, round)
    return requests.map(({ agent, questionId, probability }, place): Said => ({
      entity: agents[agent]!.name,
      question: questionId,
      at_ms: beganMs + Math.floor((place / requests.length) * tookMs),
      ppm: ppmOf(probability),
      witnessed: true,
    }))
  })
  return {
    as_of_ms: Infinity,
    entities: [
      ...later.entities,
      ...agents.map(({ name, owner }, place) => ({
        id: name,
        kind: 'agent' as const,
        owner,
        registered_at_ms: place,
      })),
    ],
    questions: [...past.questions, ...live.questions].map(plainQuestion).concat(later.questions),
    forecasts: numbered([
      ...[...past.forecasts, ...live.forecasts].map(plainForecast),
      ...submitted,
      ...later.forecasts,
    ]),
  }
}

/** The first rounds of a sandbox that has no agent. */
export function sandboxWorld(
  record: Simulation,
  rounds: number,
  people: readonly SimulatedForecaster[] = FORECASTERS,
): PlainWorld {
  const questions = Array.from({ length: rounds }, (_, round) => questionsOf(record, round)).flat()
  return {
    as_of_ms: Infinity,
    entities: people.map(({ userId }) => ({
      id: userId,
      kind: 'forecaster',
      owner: null,
      registered_at_ms: 0,
    })),
    questions: questions.map(plainQuestion),
    forecasts: numbered(questions.flatMap((question) => forecastsOn(record, question)).map(plainForecast)),
  }
}

const ppmOf = (probability: number) => Math.round(1e6 * probability)

function plainQuestion(question: SimulatedQuestion): PlainWorld['questions'][number] {
  const { questionId, openedAt, closesAt, outcome, eventId } = question
  return {
    id: questionId,
    opened_at_ms: openedAt.getTime(),
    closes_at_ms: closesAt.getTime(),
    resolved_at_ms: closesAt.getTime(),
    outcome: outcome === 'yes' ? 1 : 0,
    category: null,
    event_id: eventId,
  }
}

/** A forecast without an id. */
type Said = Omit<PlainWorld['forecasts'][number], 'forecast_id'>

/** Gives each forecast its place as its id, so that of the same instant the last one stands. */
function numbered(forecasts: readonly Said[]): PlainWorld['forecasts'] {
  return forecasts.map((said, place) => ({ ...said, forecast_id: String(place).padStart(9, '0') }))
}

function plainForecast({ userId, questionId, forecastAt, probability }: SimulatedForecast): Said {
  return {
    entity: userId,
    question: questionId,
    at_ms: forecastAt.getTime(),
    ppm: ppmOf(probability),
    witnessed: false,
  }
}
