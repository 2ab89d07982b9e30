// Seeding: decides once which world the sandbox simulates.
import { SIMULATION_PATH } from '../../pipeline/store/paths.ts'
import { recordAt } from '../../pipeline/store/records.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Components } from '../components/components.ts'
import { addHistory } from './history.ts'
import { type Added, NOTHING_ADDED, sumOf } from './rows.ts'
import { assertSandbox, readSimulation, takeStep } from './step.ts'
import { type Simulation, simulation } from './world.ts'

export interface SeedOptions {
  seed: number
  /** How many minutes a round of questions is open. */
  roundMinutes: number
  /** The number of questions in a round. */
  questionsPerRound: number
  /** How many weeks before now to simulate too. */
  weeks?: number
}

export const SEED_DEFAULTS: SeedOptions = { seed: 1, roundMinutes: 5, questionsPerRound: 10 }

/**
 * Stores the simulation, adds the weeks before, and takes the first step. Seeding again with the same options
 * adds missing rows. Returns the simulation, the counts of added rows, and whether this call has seeded the
 * sandbox.
 *
 * @throws ServiceError `invalid` for options out of bounds or another environment, `conflict` if the sandbox
 *   was seeded with other options: nothing is written then.
 */
export async function seedSandbox(
  components: Components,
  options: SeedOptions,
): Promise<Simulation & Added & { seeded: boolean }> {
  assertSandbox(components)
  assertBounds(options)
  const { store } = components
  const wanted: Simulation = {
    seed: options.seed,
    started_at: components.now().toISOString(),
    round_ms: options.roundMinutes * 60_000,
    questions_per_round: options.questionsPerRound,
    ...(options.weeks !== undefined && { weeks: options.weeks }),
  }
  const seeded = await recordAt(store, SIMULATION_PATH, simulation).create(wanted)
  const world = seeded ? wanted : await readSimulation(components)
  if (!world)
    throw new ServiceError(
      'corrupt',
      `${SIMULATION_PATH} cannot be created because it exists, but cannot be read either`,
    )
  if (describeSimulation(world) !== describeSimulation(wanted)) {
    throw new ServiceError(
      'conflict',
      `${store.url} has been seeded at ${world.started_at} with ${describeSimulation(world)}, not with ${describeSimulation(wanted)}; use another store, or delete its ${SIMULATION_PATH} first`,
    )
  }
  const before = world.weeks === undefined ? NOTHING_ADDED : await addHistory(components, world)
  return { seeded, ...world, ...sumOf(before, await takeStep(components)) }
}

export function describeSimulation({ seed, round_ms, questions_per_round, weeks }: Simulation): string {
  const before = weeks === undefined ? '' : `, after ${weeks} weeks`
  return `seed ${seed}, rounds of ${round_ms / 60_000} min and ${questions_per_round} questions a round${before}`
}

/** The bounds keep the work of a step small. */
function assertBounds({ seed, roundMinutes, questionsPerRound, weeks = 1 }: SeedOptions): void {
  const bounds = [
    ['--seed', seed, 99_999_999],
    ['--round-minutes', roundMinutes, 24 * 60],
    ['--questions', questionsPerRound, 100],
    ['--weeks', weeks, 52],
  ] as const
  for (const [option, value, most] of bounds) {
    if (Number.isInteger(value) && value >= 1 && value <= most) continue
    throw new ServiceError('invalid', `${option} is ${value}; it must be a whole number from 1 to ${most}`)
  }
}
