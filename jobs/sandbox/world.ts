// A simulated world: questions in rounds, people's forecasts on them, and their outcomes. All of it follows
// from a few numbers and the clock, so that any run on any machine continues where another one stopped.
import { v5 as uuidv5 } from 'uuid'
import { z } from 'zod'
import { instant } from '../../schemas/values.ts'
import { type Random, logistic, normal, sfc32 } from './random.ts'

/** Namespace of the simulated ids, an arbitrary UUID. */
export const SIMULATED_IDS = '8c1f0a36-47d2-4e0b-b5a9-2f6e9d1c7b40'
/** Standard deviation of the true log-odds over questions. */
const SPREAD = 1.8
export const WEEK_MS = 7 * 86_400_000
/** Each simulated coin is tossed this often in a row: these questions are one event. */
const TOSSES = 2
/** The share of a forecaster's error that remains at the first, second and third forecast on a question. */
export const ERROR_LEFT = [1, 0.75, 0.55] as const
/**
 * Each step asks at least this many rounds beyond the open one. The next step may come two rounds later: a
 * step at the end of a round, then one a whole round and a little later.
 */
export const ROUNDS_AHEAD = 2
/**
 * A step asks this many rounds at once, because each import adds a data file that every later reader opens.
 */
export const ROUNDS_AT_ONCE = 12

/** The values that determine a simulation. */
export const simulation = z.strictObject({
  seed: z.int(),
  /** When the first round opens. */
  started_at: instant,
  /** How long each round is open. Rounds follow each other without a gap. */
  round_ms: z.int().min(1),
  questions_per_round: z.int().min(1),
  /** How many weeks before the start are simulated too, with agents; none if left out. */
  weeks: z.int().min(1).optional(),
})
export type Simulation = z.infer<typeof simulation>

export interface SimulatedQuestion {
  /** Its place among all questions of the simulation, from 0 on. */
  index: number
  questionId: string
  title: string
  resolutionCriteria: string
  background: string
  category: string
  /** The simulated coin whose toss it asks about. */
  eventId: string
  source: string
  sourceId: string
  openedAt: Date
  closesAt: Date
  outcome: 'yes' | 'no'
  /** The true log-odds, given as a percentage in the title. */
  logOdds: number
}

export interface SimulatedForecaster {
  userId: string
  name: string
  /** Standard deviation of its error, in log-odds. */
  noise: number
  /** Standard deviation of its own evidence of the outcome; 0 by default. */
  news?: number
}

export interface SimulatedForecast {
  userId: string
  questionId: string
  probability: number
  forecastAt: Date
}

function simulatedForecaster(number: number, noise: number): SimulatedForecaster {
  const userId = uuidv5(`forecaster ${number}`, SIMULATED_IDS)
  return { userId, name: `simulated-forecaster-${number}`, noise }
}

/**
 * The people of a simulation, from the best forecaster to the worst. With fewer, no question would be
 * contested for them, and every agent would be a voice.
 */
export const FORECASTERS: readonly SimulatedForecaster[] = [0.3, 1, 1.8, 2.2, 2.6, 3].map((noise, index) =>
  simulatedForecaster(index + 1, noise),
)

/** The people of a simulation with weeks before its start: 17 more, and one with much evidence of its own. */
export const PEOPLE: readonly SimulatedForecaster[] = [
  ...FORECASTERS,
  ...Array.from({ length: 17 }, (_, index) =>
    simulatedForecaster(FORECASTERS.length + index + 1, 0.5 + index / 16),
  ),
  { ...simulatedForecaster(24, 0.2), news: 3.5 },
]

/** Returns the round that is open at an instant, from 0 on. */
export function roundAt({ started_at, round_ms }: Simulation, now: Date): number {
  return Math.max(0, Math.floor((now.getTime() - Date.parse(started_at)) / round_ms))
}

/** Returns the questions of a round. They open together at its start and close together at its end. */
export function questionsOf(world: Simulation, round: number): SimulatedQuestion[] {
  const { started_at, round_ms, weeks } = world
  // The weeks before the start and the week after it come first.
  const before = weeks === undefined ? 0 : weeks + 1
  return questionsIn(world, before + round, Date.parse(started_at) + round * round_ms, round_ms)
}

/** Returns the questions of the weeks before the start, week by week. The last ones close at the start. */
export function questionsOfWeeks(world: Simulation): SimulatedQuestion[][] {
  return Array.from({ length: world.weeks ?? 0 }, (_, week) => questionsOfWeek(world, week))
}

/** Returns questions that open at the start and stay open for a week, for the user's own forecasts. */
export function questionsOpenForAWeek(world: Simulation): SimulatedQuestion[] {
  return questionsOfWeek(world, world.weeks ?? 0)
}

function questionsOfWeek(world: Simulation, week: number): SimulatedQuestion[] {
  const openedMs = Date.parse(world.started_at) - ((world.weeks ?? 0) - week) * WEEK_MS
  return questionsIn(world, week, openedMs, WEEK_MS)
}

/** Returns the questions of a week or round. `place` counts weeks and rounds from the first week. */
function questionsIn(
  { seed, started_at, questions_per_round: size }: Simulation,
  place: number,
  openedMs: number,
  openMs: number,
): SimulatedQuestion[] {
  const openedAt = new Date(openedMs)
  const closesAt = new Date(openedMs + openMs)
  return Array.from({ length: size }, (_, within) => {
    const index = place * size + within
    const coin = Math.floor(index / TOSSES)
    const probability = wholePercent(SPREAD * normal(sfc32(seed, coin * TOSSES)))
    const random = sfc32(seed, index)
    // A question's stream begins with the coin's odds, and goes on with the toss.
    normal(random)
    const percent = Math.round(100 * probability)
    return {
      index,
      // Derive the id from the start too, so that a sandbox seeded again does not ask its old questions anew.
      questionId: uuidv5(`question ${seed} ${started_at} ${index}`, SIMULATED_IDS),
      title: `Simulated question ${index + 1}: will simulated coin ${coin + 1}, which shows heads ${percent} times in 100 tosses, show heads?`,
      resolutionCriteria: `Yes, if simulated coin ${coin + 1} shows heads in toss ${(index % TOSSES) + 1} of ${TOSSES}.\n\nNo, if it shows tails. The outcome becomes known at the close.`,
      background: `Simulated coin ${coin + 1} shows heads ${percent} times in 100 tosses. Nothing else is known about it, and no toss depends on another.`,
      category: 'simulated',
      eventId: `simulated-coin-${seed}-${started_at}-${coin + 1}`,
      source: 'simulation',
      sourceId: `${seed}-${started_at}-${index + 1}`,
      openedAt,
      closesAt,
      outcome: random() < probability ? 'yes' : 'no',
      logOdds: Math.log(probability / (1 - probability)),
    }
  })
}

/**
 * Returns the questions to ask by `now`: those of the open round and of the rounds after it, to the end of a
 * dozen.
 */
export function questionsWanted(world: Simulation, now: Date): SimulatedQuestion[] {
  const first = roundAt(world, now)
  const end = (Math.floor((first + ROUNDS_AHEAD) / ROUNDS_AT_ONCE) + 1) * ROUNDS_AT_ONCE
  return Array.from({ length: end - first }, (_, ahead) => questionsOf(world, first + ahead)).flat()
}

/**
 * Returns the questions of the round or week that closes at an instant after the start; none if none does.
 */
export function questionsClosingAt(world: Simulation, closesAt: Date): SimulatedQuestion[] {
  const afterMs = closesAt.getTime() - Date.parse(world.started_at)
  const round = afterMs / world.round_ms - 1
  return [
    ...(world.weeks !== undefined && afterMs === WEEK_MS ? questionsOpenForAWeek(world) : []),
    ...(Number.isInteger(round) && round >= 0 ? questionsOf(world, round) : []),
  ]
}

/** Returns two forecasts of each forecaster on a question, one in each half of its open time. */
export function forecastsOn(
  { seed }: Simulation,
  question: SimulatedQuestion,
  forecasters: readonly SimulatedForecaster[] = FORECASTERS,
): SimulatedForecast[] {
  // The questions use the random streams from 0 upwards, the forecasts those from -1 downwards.
  const random = sfc32(seed, -1 - question.index)
  const openedMs = question.openedAt.getTime()
  const halfMs = (question.closesAt.getTime() - openedMs) / 2
  return forecasters.flatMap(({ userId, noise, news = 0 }) => {
    const error = noise * normal(random)
    const informed = question.logOdds + evidenceOf(question.outcome, news, random)
    return ERROR_LEFT.slice(0, 2).map((left, half) => ({
      userId,
      questionId: question.questionId,
      probability: wholePercent(informed + left * error),
      forecastAt: new Date(openedMs + Math.floor((half + random()) * halfMs)),
    }))
  })
}

/**
 * Returns a normal log-likelihood ratio with this standard deviation. True log-odds plus this ratio are true
 * log-odds again.
 */
export function evidenceOf(outcome: 'yes' | 'no', deviation: number, random: Random): number {
  if (deviation === 0) return 0
  const mean = (outcome === 'yes' ? 1 : -1) * (deviation ** 2 / 2)
  return mean + deviation * normal(random)
}

/** Turns log-odds into a probability as people give it: in whole percents, and never certain. */
export function wholePercent(logOdds: number): number {
  return Math.min(99, Math.max(1, Math.round(100 * logistic(logOdds)))) / 100
}
