// The world that `fvs demo` simulates in addition to its seeded simulation: questions of the weeks before and
// of the week to come, and people's forecasts. The same seed gives the same answers.
import type { SimulatedRows } from '../sandbox/rows.ts'
import {
  FORECASTERS,
  type SimulatedForecaster,
  type SimulatedQuestion,
  type Simulation,
  forecastsOn,
  questionsOf,
  simulatedForecaster,
} from '../sandbox/world.ts'

/**
 * The seed of the questions of the weeks before. This seed and that of the agents are chosen so that the demo
 * shows what test/jobs/demo/world.test.ts names.
 */
export const SEED = 20_260_103
/** Another seed, so that no two worlds ask the same questions. */
const OPEN_SEED = SEED + 1
const WEEK_MS = 7 * 86_400_000
/** `certified` takes questions that close in ten weeks at least; with twenty it is not a near thing. */
const WEEKS = 20
const QUESTIONS_A_WEEK = 10
const PEOPLE = 24

/** The forecasters of the sandbox's simulation, 17 more, and one who has much news of its own. */
export const DEMO_FORECASTERS: readonly SimulatedForecaster[] = [
  ...FORECASTERS,
  ...Array.from({ length: PEOPLE - FORECASTERS.length - 1 }, (_, index) =>
    simulatedForecaster(FORECASTERS.length + index + 1, 0.5 + index / 16),
  ),
  { ...simulatedForecaster(PEOPLE, 0.2), news: 3.5 },
]

export type ForecastQuestions = Pick<SimulatedRows, 'questions' | 'forecasts'>

/** Questions that open and close together week by week, the last ones at `endsAt`. */
export function simulateWeeks(endsAt: Date): ForecastQuestions {
  const world = worldFrom(new Date(endsAt.getTime() - WEEKS * WEEK_MS), SEED, QUESTIONS_A_WEEK)
  const questions = Array.from({ length: WEEKS }, (_, week) => questionsOf(world, week)).flat()
  return { questions, forecasts: questions.flatMap((each) => forecastsOn(world, each, DEMO_FORECASTERS)) }
}

/** Simulates questions that are open for a week, for the user's own forecasts. */
export function simulateOpen(opensAt: Date): SimulatedQuestion[] {
  return questionsOf(worldFrom(opensAt, OPEN_SEED, 6), 0)
}

function worldFrom(startedAt: Date, seed: number, questions_per_round: number): Simulation {
  return { seed, started_at: startedAt.toISOString(), round_ms: WEEK_MS, questions_per_round }
}
