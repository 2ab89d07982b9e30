// The plan of the sandbox's simulation: which questions each round asks, who forecasts what on them, and how they end.
// All of it follows from the record of the seeding, so that any run on any machine continues where another one stopped.
import { v5 as uuidv5 } from 'uuid'
import { z } from 'zod'
import { instant } from '../../schemas/values.ts'
import { normal, sfc32 } from './random.ts'
import {
  SPREAD,
  type SimulatedForecast,
  type SimulatedForecaster,
  type SimulatedQuestion,
  forecastTwice,
  said,
} from './simulated.ts'

/** Namespace of the simulated ids, an arbitrary UUID. */
const SANDBOX_IDS = '8c1f0a36-47d2-4e0b-b5a9-2f6e9d1c7b40'
/**
 * How many rounds beyond the open one are always there. A step at the end of a round may be followed, a whole round
 * later and a little late, by one in the round after the next.
 */
export const ROUNDS_AHEAD = 2
/** How many are asked at once: each time is a data file for ever, which every reader opens. */
export const ROUNDS_AT_ONCE = 12

/** What was decided when the sandbox was seeded. */
export const simulationRecord = z.strictObject({
  seed: z.int(),
  started_at: instant,
  /** How long each round is open; one follows the other without a gap. */
  round_ms: z.int().min(1),
  questions_per_round: z.int().min(1),
})
export type SimulationRecord = z.infer<typeof simulationRecord>

/** A good, a middling and a bad reader: peers enough for an agent to be measured against. */
export const SANDBOX_FORECASTERS: readonly SimulatedForecaster[] = [0.3, 1, 2.5].map((noise, index) => ({
  userId: uuidv5(`forecaster ${index + 1}`, SANDBOX_IDS),
  name: `simulated-forecaster-${index + 1}`,
  noise,
}))

export interface SandboxQuestion extends SimulatedQuestion {
  index: number
}

/** The round that is open at an instant, from 0 on. */
export function roundAt({ started_at, round_ms }: SimulationRecord, now: Date): number {
  return Math.max(0, Math.floor((now.getTime() - Date.parse(started_at)) / round_ms))
}

/** The questions of a round: they open together at its start and close together at its end. */
export function questionsOf(record: SimulationRecord, round: number): SandboxQuestion[] {
  const { questions_per_round: size, round_ms, started_at } = record
  const openedMs = Date.parse(started_at) + round * round_ms
  const openedAt = new Date(openedMs)
  const closesAt = new Date(openedMs + round_ms)
  return Array.from({ length: size }, (_, place) => {
    const index = round * size + place
    const random = sfc32(record.seed, index)
    const probability = said(SPREAD * normal(random))
    return {
      index,
      // With the time of the seeding: a sandbox that is seeded again does not ask its old questions anew.
      questionId: uuidv5(`question ${record.seed} ${started_at} ${index}`, SANDBOX_IDS),
      title: `Simulated question ${index + 1}: will a simulated coin that shows heads ${Math.round(100 * probability)} times in 100 show heads?`,
      category: 'simulated',
      openedAt,
      closesAt,
      outcome: random() < probability ? 'yes' : 'no',
      logOdds: Math.log(probability / (1 - probability)),
    }
  })
}

/** The questions that must be there at `now`: of the open round, and of those that follow to the end of a dozen. */
export function questionsWanted(record: SimulationRecord, now: Date): SandboxQuestion[] {
  const first = roundAt(record, now)
  const end = (Math.floor((first + ROUNDS_AHEAD) / ROUNDS_AT_ONCE) + 1) * ROUNDS_AT_ONCE
  return Array.from({ length: end - first }, (_, ahead) => questionsOf(record, first + ahead)).flat()
}

/** The questions of the round that closes at an instant; none where no round does. */
export function questionsClosingAt(record: SimulationRecord, closesAt: Date): SandboxQuestion[] {
  const round = (closesAt.getTime() - Date.parse(record.started_at)) / record.round_ms - 1
  return Number.isInteger(round) && round >= 0 ? questionsOf(record, round) : []
}

/** Two forecasts of each forecaster on a question, one in each half of the time that it is open. */
export function forecastsOn({ seed }: SimulationRecord, question: SandboxQuestion): SimulatedForecast[] {
  // Questions have the streams from 0 on.
  const random = sfc32(seed, -1 - question.index)
  return SANDBOX_FORECASTERS.flatMap((forecaster) => forecastTwice(forecaster, question, 2, random))
}
