// The agents of `fvs demo`: the owner of each, and how it makes its probabilities. The same seed gives the
// same answers.
import { type ForecastQuestions, SEED } from './demo-world.ts'
import { type Random, normal, sfc32 } from './random.ts'
import { ERROR_LEFT, wholePercent } from './world.ts'

const AGENTS_SEED = SEED + 38
/** The number of times that an agent submits forecasts. */
export const ROUNDS = ERROR_LEFT.length
/** The shortest time of a round; on a slow machine a round takes as long as its requests. */
export const ROUND_MS = 2_000

/**
 * How long the live questions stay open: until all rounds are over, and so long that the second one, in which
 * the last agent begins, ended in the first three quarters of that time.
 */
export function leastOpenMs(allRoundsMs: number, twoRoundsMs: number): number {
  return Math.max(allRoundsMs, Math.ceil((twoRoundsMs * 4) / 3))
}

/** The owners of agents, as the operator of the demo records them. */
export const OWNERS = { one: 'simulated-owner-1', several: 'simulated-owner-2', copying: 'simulated-owner-3' }

export interface DemoAgent {
  name: string
  traits: string
  owner: string | null
}

export interface SimulatedAgent extends DemoAgent {
  /** Its submissions in each round. */
  rounds: { questionId: string; probability: number }[][]
}

/** The way in which an agent makes its probabilities. */
interface Profile {
  traits: string
  owner?: string
  /**
   * Standard deviation of its error, in log-odds. An agent without one submits the average of people's
   * current forecasts.
   */
  noise?: number
  /**
   * Standard deviation of its own evidence of the outcome, a log-likelihood ratio that it adds to the
   * log-odds; 0 by default.
   */
  news?: number
  /** Above 1 the agent says more than it knows, below 1 less. */
  scale?: number
  /** The number of questions that it answers; all by default. */
  questions?: number
}

/**
 * The agents in the order in which they register: the first agent of an owner is a voice and is judged at the
 * mildest level.
 */
const PROFILES: readonly Profile[] = [
  { traits: 'has much news of its own', owner: OWNERS.one, noise: 0.2, news: 3.5 },
  { traits: 'has news of its own', owner: OWNERS.several, noise: 0.3, news: 2 },
  { traits: 'reads fairly', owner: OWNERS.several, noise: 1.2 },
  { traits: 'overconfident', owner: OWNERS.several, noise: 0.7, scale: 3 },
  { traits: 'says anything', owner: OWNERS.several, noise: 6 },
  { traits: 'copies the crowd', owner: OWNERS.copying },
  { traits: 'has news of its own', noise: 0.3, news: 1.5 },
  { traits: 'reads well, answers 60', noise: 0.3, questions: 60 },
  { traits: 'reads well, answers 20', noise: 0.3, questions: 20 },
  { traits: 'reads badly', noise: 2 },
  { traits: 'underconfident', noise: 0.7, scale: 0.3 },
  { traits: 'always says 0.5', noise: 0, scale: 0 },
]

export const DEMO_AGENTS: readonly DemoAgent[] = PROFILES.map(({ traits, owner = null }, index) => ({
  name: `simulated-agent-${String(index + 1).padStart(2, '0')}`,
  traits: `simulated: ${traits}`,
  owner,
}))

export function simulateAgents({ questions, forecasts }: ForecastQuestions): SimulatedAgent[] {
  const averages = ERROR_LEFT.map((_, round) => averagesAt(round, questions, forecasts))
  return PROFILES.map(({ noise, news = 0, scale = 1, questions: count }, index) => {
    const random = sfc32(AGENTS_SEED, index)
    const answered = questions.slice(0, count)
    const errors = answered.map(() => (noise ?? 0) * normal(random))
    const learned = answered.map(({ outcome }) => evidenceOf(outcome, news, random))
    return {
      ...DEMO_AGENTS[index]!,
      rounds: ERROR_LEFT.map((left, round) =>
        answered.flatMap(({ questionId, logOdds }, place) => {
          const probability =
            noise === undefined
              ? averages[round]!.get(questionId)
              : wholePercent(scale * (logOdds + learned[place]! + left * errors[place]!))
          return probability === undefined ? [] : [{ questionId, probability }]
        }),
      ),
    }
  })
}

/**
 * Returns a normal log-likelihood ratio with this standard deviation. Added to true log-odds, it gives true
 * log-odds again.
 */
function evidenceOf(outcome: 'yes' | 'no', deviation: number, random: Random): number {
  const mean = (outcome === 'yes' ? 1 : -1) * (deviation ** 2 / 2)
  return mean + deviation * normal(random)
}

/**
 * Returns by question the average of people's current forecasts at the beginning of a round. Leaves out
 * questions without any.
 */
function averagesAt(
  round: number,
  questions: ForecastQuestions['questions'],
  forecasts: ForecastQuestions['forecasts'],
) {
  const made = Map.groupBy(forecasts, ({ questionId }) => questionId)
  return new Map(
    questions.flatMap(({ questionId, openedAt, closesAt }): [string, number][] => {
      const [openedMs, closesMs] = [openedAt.getTime(), closesAt.getTime()]
      const atMs = openedMs + (round * (closesMs - openedMs)) / ROUNDS
      const before = (made.get(questionId) ?? []).filter(({ forecastAt }) => forecastAt.getTime() < atMs)
      // The forecasts of each person are in the order of their times.
      const current = new Map(before.map(({ userId, probability }) => [userId, probability]))
      if (current.size === 0) return []
      const sum = [...current.values()].reduce((total, probability) => total + probability, 0)
      return [[questionId, Math.round((100 * sum) / current.size) / 100]]
    }),
  )
}

export interface Submission {
  /** The index of its agent. */
  agent: number
  questionId: string
  probability: number
}

/**
 * Returns the submissions of all agents in a round, question by question, so that even on a slow machine no
 * agent answers a question much later than another one.
 */
export function submissionsOf(
  { questions }: Pick<ForecastQuestions, 'questions'>,
  agents: readonly SimulatedAgent[],
  round: number,
): Submission[] {
  const said = agents.map(({ rounds }) => new Map(rounds[round]!.map((each) => [each.questionId, each])))
  return questions.flatMap(({ questionId }) =>
    said.flatMap((own, agent) => {
      const forecast = own.get(questionId)
      return forecast ? [{ agent, ...forecast }] : []
    }),
  )
}
