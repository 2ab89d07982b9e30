// The agents of the weeks before a simulation starts: their owners, and their ways of forecasting. The same
// seed gives the same answers.
import { normal, sfc32 } from './random.ts'
import {
  ERROR_LEFT,
  type SimulatedForecast,
  type SimulatedQuestion,
  evidenceOf,
  wholePercent,
} from './world.ts'

/** The distance of the agents' seed from that of the questions. */
const AGENTS_SEED = 45
/**
 * An agent submits forecasts once in each quarter of a question's life. Titles do not count the last quarter:
 * only an agent that submits known outcomes forecasts then.
 */
const ROUNDS = ERROR_LEFT.length + 1

/** Returns when the agents submit their forecasts of a round: in the middle of a quarter. */
export function roundStartsAt({ openedAt, closesAt }: SimulatedQuestion, round: number): Date {
  const [openedMs, closesMs] = [openedAt.getTime(), closesAt.getTime()]
  return new Date(openedMs + Math.floor(((round + 0.5) * (closesMs - openedMs)) / ROUNDS))
}

/** The owners of agents, as the operator has recorded them. */
export const OWNERS = {
  one: 'simulated-owner-1',
  several: 'simulated-owner-2',
  copying: 'simulated-owner-3',
  late: 'simulated-owner-4',
}

export interface SimulatedAgent {
  name: string
  traits: string
  owner: string | null
}

interface AgentAnswers extends SimulatedAgent {
  /** Its submissions in each round, the late one last. */
  rounds: { questionId: string; probability: number }[][]
}

/** An agent's way of forecasting. */
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
  /** The factor on its log-odds: above 1 the agent is overconfident, below 1 underconfident. */
  scale?: number
  /** The number of questions that it answers; all by default. */
  questions?: number
  /** Whether it submits the outcome in the late round. */
  isLate?: true
}

/**
 * The agents in the order in which they register: the first agent of an owner is a voice and is judged at the
 * mildest level.
 */
const PROFILES: readonly Profile[] = [
  { traits: 'has much news of its own', owner: OWNERS.one, noise: 0.2, news: 3.5 },
  { traits: 'has news of its own', owner: OWNERS.several, noise: 0.3, news: 2.5 },
  { traits: 'reads fairly', owner: OWNERS.several, noise: 1.2 },
  { traits: 'overconfident', owner: OWNERS.several, noise: 0.7, scale: 3 },
  { traits: 'says anything', owner: OWNERS.several, noise: 6 },
  { traits: 'copies the crowd', owner: OWNERS.copying },
  { traits: 'has news of its own', noise: 0.3, news: 2.5 },
  { traits: 'reads well, answers 60', noise: 0.3, questions: 60 },
  { traits: 'reads well, answers 20', noise: 0.3, questions: 20 },
  { traits: 'reads badly', noise: 2 },
  { traits: 'underconfident', noise: 0.7, scale: 0.3 },
  { traits: 'always says 0.5', noise: 0, scale: 0 },
  { traits: 'copies the crowd, says the outcome late', owner: OWNERS.late, isLate: true },
]

export const SIMULATED_AGENTS: readonly SimulatedAgent[] = PROFILES.map(
  ({ traits, owner = null }, index) => ({
    name: `simulated-agent-${String(index + 1).padStart(2, '0')}`,
    traits: `simulated: ${traits}`,
    owner,
  }),
)

/** Returns the forecasts of each agent on questions, in the order of the agents. */
export function answersOfAgents(
  seed: number,
  questions: readonly SimulatedQuestion[],
  forecasts: readonly SimulatedForecast[],
): AgentAnswers[] {
  const averages = ERROR_LEFT.map((_, round) => averagesAt(round, questions, forecasts))
  return PROFILES.map(({ noise, news = 0, scale = 1, questions: count, isLate = false }, index) => {
    const random = sfc32(seed + AGENTS_SEED, index)
    const answered = questions.slice(0, count)
    const errors = answered.map(() => (noise ?? 0) * normal(random))
    const learned = answered.map(({ outcome }) => evidenceOf(outcome, news, random))
    const rounds = ERROR_LEFT.map((left, round) =>
      answered.flatMap(({ questionId, logOdds }, place) => {
        const probability =
          noise === undefined
            ? averages[round]!.get(questionId)
            : wholePercent(scale * (logOdds + learned[place]! + left * errors[place]!))
        return probability === undefined ? [] : [{ questionId, probability }]
      }),
    )
    const late = isLate
      ? answered.map(({ questionId, outcome }) => ({
          questionId,
          probability: outcome === 'yes' ? 0.99 : 0.01,
        }))
      : []
    return { ...SIMULATED_AGENTS[index]!, rounds: [...rounds, late] }
  })
}

/**
 * Returns the average of people's current forecasts on each question at the beginning of a round. Leaves out
 * questions without any.
 */
function averagesAt(
  round: number,
  questions: readonly SimulatedQuestion[],
  forecasts: readonly SimulatedForecast[],
) {
  const made = Map.groupBy(forecasts, ({ questionId }) => questionId)
  return new Map(
    questions.flatMap((question): [string, number][] => {
      const { questionId } = question
      const atMs = roundStartsAt(question, round).getTime()
      const before = (made.get(questionId) ?? []).filter(({ forecastAt }) => forecastAt.getTime() < atMs)
      // The forecasts of each person are in the order of their times.
      const current = new Map(before.map(({ userId, probability }) => [userId, probability]))
      if (current.size === 0) return []
      const sum = [...current.values()].reduce((total, probability) => total + probability, 0)
      return [[questionId, Math.round((100 * sum) / current.size) / 100]]
    }),
  )
}
