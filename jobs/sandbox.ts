// `fvs sandbox seed`: decides, once, what the sandbox simulates.
import { canonical } from '../pipeline/proof/canonical.ts'
import { SIMULATION_PATH } from '../pipeline/store/paths.ts'
import { ServiceError } from '../schemas/errors.ts'
import type { Components } from './components.ts'
import type { Report } from './output.ts'
import { assertSandbox, readSimulation, simulate } from './simulation/sandbox-step.ts'
import type { SimulationRecord } from './simulation/sandbox-world.ts'

export interface SeedOptions {
  seed: number
  /** How long a round of questions is open. */
  roundMinutes: number
  /** How many questions a round has. */
  questionsPerRound: number
}

export const SEED_DEFAULTS: SeedOptions = { seed: 1, roundMinutes: 5, questionsPerRound: 10 }
/** They bound the work of a step. */
const LONGEST_ROUND_MINUTES = 24 * 60
const MOST_QUESTIONS = 100

/**
 * Writes down what the sandbox simulates from here on, and takes the first step. Seeding again as before only
 * takes a step.
 *
 * @throws ServiceError `invalid` for options out of bounds or another environment, `conflict` where the sandbox
 *   was seeded with other options: nothing is written then.
 */
export async function seedSandbox(components: Components, options: SeedOptions): Promise<Report> {
  assertSandbox(components)
  assertBounds(options)
  const { store } = components
  const record: SimulationRecord = {
    seed: options.seed,
    started_at: components.now().toISOString(),
    round_ms: options.roundMinutes * 60_000,
    questions_per_round: options.questionsPerRound,
  }
  const seeded = await store.putIfAbsent(SIMULATION_PATH, canonical(record))
  const present = seeded ? record : await readSimulation(components)
  if (!present) throw new ServiceError('corrupt', `${SIMULATION_PATH} exists for a create but not for a read`)
  if (described(present) !== described(record)) {
    throw new ServiceError(
      'conflict',
      `${store.url} has been seeded at ${present.started_at} with ${described(present)}, not with ${described(record)}; use another store, or delete its ${SIMULATION_PATH} first`,
    )
  }
  const step = await simulate(components)
  const what = seeded ? 'seeded with' : `has been seeded already, at ${present.started_at}, with`
  return {
    ok: true,
    json: { seeded, ...present, ...step },
    text: `${store.url} ${what} ${described(present)}: ${step.asked} questions asked, ${step.forecasts} forecasts made, ${step.resolved} questions resolved`,
  }
}

function described({ seed, round_ms, questions_per_round }: SimulationRecord): string {
  return `seed ${seed}, rounds of ${round_ms / 60_000} min and ${questions_per_round} questions a round`
}

function assertBounds({ seed, roundMinutes, questionsPerRound }: SeedOptions): void {
  assertWhole('--seed', seed, 99_999_999)
  assertWhole('--round-minutes', roundMinutes, LONGEST_ROUND_MINUTES)
  assertWhole('--questions', questionsPerRound, MOST_QUESTIONS)
}

function assertWhole(option: string, value: number, most: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= most) return
  throw new ServiceError('invalid', `${option} is ${value}; it must be a whole number from 1 to ${most}`)
}
