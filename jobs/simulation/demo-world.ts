// The simulated world of `fvs demo`: questions whose true odds are known here and nowhere else, and simulated agents
// and forecasters who read them more or less well. The same seed gives the same probabilities and outcomes.
import { v5 as uuidv5 } from 'uuid'
import { type Random, logistic, normal, sfc32 } from './random.ts'
import {
  ERROR_LEFT,
  SPREAD,
  type SimulatedForecast,
  type SimulatedForecaster,
  type SimulatedQuestion,
  forecastTwice,
  said,
} from './simulated.ts'

/** Namespace of the simulated ids, an arbitrary UUID. */
const DEMO_IDS = '3d7e1c52-9a0b-4c6e-8f21-5b0d6a7c9e14'
export const SEED = 20_260_101
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const PAST_QUESTIONS = 60
const LIVE_QUESTIONS = 110
const OPEN_QUESTIONS = 6
/** The part of the questions that a forecaster takes part in. */
const PARTICIPATION = 0.8
export const ROUNDS = ERROR_LEFT.length

export interface SimulatedAgent {
  name: string
  modelType: string
  /** What it submits in each round. */
  rounds: { questionId: string; probability: number }[][]
}

/** From the best reader to the worst. */
export const FORECASTERS: readonly SimulatedForecaster[] = Array.from({ length: 24 }, (_, index) => ({
  userId: uuidv5(`forecaster ${index + 1}`, DEMO_IDS),
  name: `simulated-forecaster-${twoDigits(index + 1)}`,
  noise: 0.5 + index / 16,
}))

/** How an agent turns the true log-odds of a question into a probability. */
interface Profile {
  traits: string
  /** The standard deviation of its error, in log-odds. */
  noise: number
  /** Above 1 it says more than it knows, below 1 less. */
  scale?: number
  /** How many of the live questions it answers; all without it. */
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

/** Questions that were over before `now`, on which forecasters alone took part. */
export function simulatePast(now: Date): { questions: SimulatedQuestion[]; forecasts: SimulatedForecast[] } {
  const random = sfc32(SEED)
  const questions = Array.from({ length: PAST_QUESTIONS }, (_, index) => {
    const opensMs = now.getTime() - 14 * DAY_MS + index * 4 * HOUR_MS
    return simulateQuestion('past', index + 1, { opensMs, horizonMs: 3 * DAY_MS }, random)
  })
  return { questions, forecasts: simulateForecasters(questions, random) }
}

export interface LiveWorld {
  /** Open at `opensAt` for `windowMs`. */
  questions: SimulatedQuestion[]
  /** Open at `opensAt` for a week. */
  staysOpen: SimulatedQuestion[]
  agents: SimulatedAgent[]
  forecasts: SimulatedForecast[]
}

export function simulateLive(opensAt: Date, windowMs: number): LiveWorld {
  const random = sfc32(SEED + 1)
  const opensMs = opensAt.getTime()
  const questions = Array.from({ length: LIVE_QUESTIONS }, (_, index) =>
    simulateQuestion('live', index + 1, { opensMs, horizonMs: windowMs }, random),
  )
  const staysOpen = Array.from({ length: OPEN_QUESTIONS }, (_, index) =>
    simulateQuestion('open', index + 1, { opensMs, horizonMs: 7 * DAY_MS }, random),
  )
  const agents = PROFILES.map((profile, index) => simulateAgent(profile, index + 1, questions, random))
  return { questions, staysOpen, agents, forecasts: simulateForecasters(questions, random) }
}

function simulateQuestion(
  kind: string,
  number: number,
  { opensMs, horizonMs }: { opensMs: number; horizonMs: number },
  random: Random,
): SimulatedQuestion {
  const logOdds = SPREAD * normal(random)
  return {
    questionId: uuidv5(`${kind} question ${number}`, DEMO_IDS),
    title: `Simulated ${kind} question ${number}: will simulated coin ${number} show heads?`,
    category: `simulated-${kind}`,
    openedAt: new Date(opensMs),
    closesAt: new Date(opensMs + horizonMs),
    outcome: random() < logistic(logOdds) ? 'yes' : 'no',
    logOdds,
  }
}

function simulateAgent(
  { traits, noise, scale = 1, questions = LIVE_QUESTIONS }: Profile,
  number: number,
  live: readonly SimulatedQuestion[],
  random: Random,
): SimulatedAgent {
  const readings = live.slice(0, questions).map((question) => ({ question, error: noise * normal(random) }))
  return {
    name: `simulated-agent-${twoDigits(number)}`,
    modelType: `simulated: ${traits}`,
    rounds: ERROR_LEFT.map((left) =>
      readings.map(({ question, error }) => ({
        questionId: question.questionId,
        probability: said(scale * (question.logOdds + left * error)),
      })),
    ),
  }
}

/** Two forecasts on each question that a forecaster takes part in, in the first and in the second third of its time. */
function simulateForecasters(questions: readonly SimulatedQuestion[], random: Random): SimulatedForecast[] {
  return FORECASTERS.flatMap((forecaster) =>
    questions
      .filter(() => random() < PARTICIPATION)
      .flatMap((question) => forecastTwice(forecaster, question, 3, random)),
  )
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0')
}
