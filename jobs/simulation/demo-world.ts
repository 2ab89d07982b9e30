// What `fvs demo` simulates beside the simulation that it seeds: questions that are over, that are open for seconds
// and for days, and agents and people who read them more or less well. The same seed gives the same answers.
import { normal, sfc32 } from './random.ts'
import type { SimulatedRows } from './rows.ts'
import {
  ERROR_LEFT,
  FORECASTERS,
  type SimulatedQuestion,
  type Simulation,
  forecastsOn,
  questionsOf,
  simulatedForecaster,
  wholePercent,
} from './world.ts'

/** That of the questions that are over. Each world has a seed of its own, so that none asks another one's questions. */
export const SEED = 20_260_101
const OPEN_SEED = SEED + 1
/** These two are chosen so that every kind of certification is shown. */
const LIVE_SEED = SEED + 3
const AGENTS_SEED = SEED + 37
const DAY_MS = 86_400_000
const PAST_ROUNDS = 13
/** How many forecasts an agent submits on each question. */
export const ROUNDS = ERROR_LEFT.length

/** The forecasters of the sandbox's simulation, and 21 more. */
export const DEMO_FORECASTERS = [
  ...FORECASTERS,
  ...Array.from({ length: 21 }, (_, index) =>
    simulatedForecaster(FORECASTERS.length + index + 1, 0.5 + index / 16),
  ),
]

export interface SimulatedAgent {
  name: string
  traits: string
  /** What it submits in each round. */
  rounds: { questionId: string; probability: number }[][]
}

/** How an agent turns the true log-odds of a question into a probability. */
interface Profile {
  traits: string
  /** Standard deviation of its error, in log-odds. */
  noise: number
  /** Above 1 it says more than it knows, below 1 less. */
  scale?: number
  /** How many of the questions it answers; all of them by default. */
  questions?: number
}

const PROFILES: readonly Profile[] = [
  { traits: 'reads well', noise: 0.2 },
  { traits: 'reads well', noise: 0.3 },
  { traits: 'reads well, answers 60', noise: 0.3, questions: 60 },
  { traits: 'reads well, answers 20', noise: 0.3, questions: 20 },
  { traits: 'reads fairly', noise: 0.7 },
  { traits: 'reads fairly', noise: 0.9 },
  { traits: 'reads badly', noise: 1.6 },
  { traits: 'reads badly', noise: 2 },
  { traits: 'overconfident', noise: 0.7, scale: 3 },
  { traits: 'underconfident', noise: 0.7, scale: 0.3 },
  { traits: 'always says 0.5', noise: 0, scale: 0 },
  { traits: 'says anything', noise: 6 },
]

type Asked = Pick<SimulatedRows, 'questions' | 'forecasts'>

/** Questions that closed before `now`, a few each day, on which people alone took part. */
export function simulatePast(now: Date): Asked {
  const startedAt = new Date(now.getTime() - (PAST_ROUNDS + 1) * DAY_MS)
  return firstRounds(PAST_ROUNDS, worldFrom(startedAt, SEED, DAY_MS, 5))
}

/** Questions that open together, for `windowMs`. */
export function simulateLive(opensAt: Date, windowMs: number): Asked {
  return firstRounds(1, worldFrom(opensAt, LIVE_SEED, windowMs, 110))
}

/** Questions that are open for a week, for forecasts of the user's own. */
export function simulateOpen(opensAt: Date): SimulatedQuestion[] {
  return questionsOf(worldFrom(opensAt, OPEN_SEED, 7 * DAY_MS, 6), 0)
}

export function simulateAgents(questions: readonly SimulatedQuestion[]): SimulatedAgent[] {
  return PROFILES.map(({ traits, noise, scale = 1, questions: count }, index) => {
    const random = sfc32(AGENTS_SEED, index)
    const answered = questions.slice(0, count)
    const errors = answered.map(() => noise * normal(random))
    return {
      name: `simulated-agent-${String(index + 1).padStart(2, '0')}`,
      traits: `simulated: ${traits}`,
      rounds: ERROR_LEFT.map((left) =>
        answered.map(({ questionId, logOdds }, place) => ({
          questionId,
          probability: wholePercent(scale * (logOdds + left * errors[place]!)),
        })),
      ),
    }
  })
}

function worldFrom(startedAt: Date, seed: number, round_ms: number, questions_per_round: number): Simulation {
  return { seed, started_at: startedAt.toISOString(), round_ms, questions_per_round }
}

function firstRounds(rounds: number, world: Simulation): Asked {
  const questions = Array.from({ length: rounds }, (_, round) => questionsOf(world, round)).flat()
  return { questions, forecasts: questions.flatMap((each) => forecastsOn(world, each, DEMO_FORECASTERS)) }
}
