// The world of the demo as it is scored, without a service, and a sandbox that has gone on for a number of
// rounds since.
import { SEED, WEEKS } from '../../../jobs/demo/show.ts'
import { simulateHistory } from '../../../jobs/sandbox/history.ts'
import { SIMULATED_AGENTS } from '../../../jobs/sandbox/simulated-agents.ts'
import {
  FORECASTERS,
  PEOPLE,
  type SimulatedForecast,
  type SimulatedForecaster,
  type SimulatedQuestion,
  type Simulation,
  forecastsOn,
  questionsOf,
} from '../../../jobs/sandbox/world.ts'
import type { World } from '../plain/world.ts'

/** The simulation of the demo, seeded at an instant. */
export function demoAt(started_at: string): Simulation {
  return { seed: SEED, started_at, round_ms: 300_000, questions_per_round: 10, weeks: WEEKS }
}

/** Agents by name, people by id. */
export function demoWorld(sandboxRounds: number): World {
  const demo = demoAt('2026-03-01T12:00:00.000Z')
  const { resolved, forecasts, submissions } = simulateHistory(demo)
  const later = sandboxWorld(demo, sandboxRounds, PEOPLE)
  const submitted = submissions.map(({ agent, questionId, probability, at }): Said => ({
    entity: SIMULATED_AGENTS[agent]!.name,
    question: questionId,
    at_ms: at.getTime(),
    ppm: ppmOf(probability),
    witnessed: true,
  }))
  return {
    as_of_ms: Infinity,
    events: [],
    prices: [],
    declarations: [],
    entities: [
      ...later.entities,
      ...SIMULATED_AGENTS.map(({ name, owner }, place) => ({
        id: name,
        kind: 'agent' as const,
        owner,
        registered_at_ms: place,
      })),
    ],
    questions: [...resolved.map(plainQuestion), ...later.questions],
    forecasts: numbered([...forecasts.map(plainForecast), ...submitted, ...later.forecasts]),
  }
}

/** The first rounds of a sandbox that has no agent. */
export function sandboxWorld(
  record: Simulation,
  rounds: number,
  people: readonly SimulatedForecaster[] = FORECASTERS,
): World {
  const questions = Array.from({ length: rounds }, (_, round) => questionsOf(record, round)).flat()
  return {
    as_of_ms: Infinity,
    events: [],
    prices: [],
    declarations: [],
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

function plainQuestion(question: SimulatedQuestion): World['questions'][number] {
  const { questionId, openedAt, closesAt, outcome, eventId } = question
  return {
    id: questionId,
    opened_at_ms: openedAt.getTime(),
    closes_at_ms: closesAt.getTime(),
    resolved_at_ms: closesAt.getTime(),
    outcome: outcome === 'yes' ? 1 : 0,
    category: null,
    known_at_ms: null,
    event_id: eventId,
  }
}

/** A forecast without an id. */
type Said = Omit<World['forecasts'][number], 'forecast_id'>

/** Gives each forecast its place as its id, so that of the same instant the last one stands. */
function numbered(forecasts: readonly Said[]): World['forecasts'] {
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
