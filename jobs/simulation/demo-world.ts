// The world that `fvs demo` simulates in addition to its seeded simulation: questions that are over, that are
// open for seconds and for days, and people's forecasts on them. The same seed gives the same answers.
import type { SimulatedRows } from './rows.ts'
import {
  FORECASTERS,
  type SimulatedQuestion,
  type Simulation,
  forecastsOn,
  questionsOf,
  simulatedForecaster,
} from './world.ts'

/**
 * The seed of the questions that are over. Each world has its own seed, so that no two worlds ask the same
 * questions.
 */
export const SEED = 20_260_101
const OPEN_SEED = SEED + 1
/**
 * This seed and that of the agents are chosen so that the demo shows what
 * test/jobs/simulation/demo-world.test.ts names.
 */
const LIVE_SEED = SEED + 3
const DAY_MS = 86_400_000
const PAST_ROUNDS = 13

/** The forecasters of the sandbox's simulation, and 18 more. */
export const DEMO_FORECASTERS = [
  ...FORECASTERS,
  ...Array.from({ length: 18 }, (_, index) =>
    simulatedForecaster(FORECASTERS.length + index + 1, 0.5 + index / 16),
  ),
]

export type ForecastQuestions = Pick<SimulatedRows, 'questions' | 'forecasts'>

/** Questions that closed before `now`, a few each day, on which people alone took part. */
export function simulatePast(now: Date): ForecastQuestions {
  const startedAt = new Date(now.getTime() - (PAST_ROUNDS + 1) * DAY_MS)
  return firstRounds(PAST_ROUNDS, worldFrom(startedAt, SEED, DAY_MS, 5))
}

/** Questions that open together, for `windowMs`. */
export function simulateLive(opensAt: Date, windowMs: number): ForecastQuestions {
  return firstRounds(1, worldFrom(opensAt, LIVE_SEED, windowMs, 150))
}

/** Simulates questions that are open for a week, for the user's own forecasts. */
export function simulateOpen(opensAt: Date): SimulatedQuestion[] {
  return questionsOf(worldFrom(opensAt, OPEN_SEED, 7 * DAY_MS, 6), 0)
}

function worldFrom(startedAt: Date, seed: number, round_ms: number, questions_per_round: number): Simulation {
  return { seed, started_at: startedAt.toISOString(), round_ms, questions_per_round }
}

function firstRounds(rounds: number, world: Simulation): ForecastQuestions {
  const questions = Array.from({ length: rounds }, (_, round) => questionsOf(world, round)).flat()
  return { questions, forecasts: questions.flatMap((each) => forecastsOn(world, each, DEMO_FORECASTERS)) }
}
