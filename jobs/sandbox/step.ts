// The step of the sandbox's simulation: rounds of simulated questions open, get forecasts and resolve by the
// clock.
import { z } from 'zod'
import { type Database, literal, withDatabase } from '../../pipeline/duckdb.ts'
import { SIMULATED_ROUND_PATH, SIMULATION_PATH } from '../../pipeline/store/paths.ts'
import { recordAt } from '../../pipeline/store/records.ts'
import { TableLog } from '../../pipeline/tables/delta-log.ts'
import { attachCurrent } from '../../pipeline/tables/views.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { instant } from '../../schemas/values.ts'
import type { Components } from '../components/components.ts'
import { type Added, NOTHING_ADDED, type SimulatedRows, addRows } from './rows.ts'
import {
  FORECASTERS,
  type Simulation,
  forecastsOn,
  questionsClosingAt,
  questionsWanted,
  roundAt,
  simulation,
} from './world.ts'

/** The last round with a complete first step, and the start of its simulation. */
const simulatedRound = z.strictObject({ started_at: instant, round: z.int().min(0) })

/**
 * Brings the simulation up to the present: asks the questions of this round and the next ones. For rounds
 * that have ended, adds the forecasts and then the outcomes. The first step of a round does everything due in
 * it; every other step reads two small objects. Missed, unfinished and repeated steps lead to the same rows.
 * In a store that was never seeded a step does nothing.
 */
export async function takeStep(components: Components): Promise<Added> {
  assertSandbox(components)
  const world = await readSimulation(components)
  if (!world) return NOTHING_ADDED
  const { store } = components
  const now = components.now()
  const { started_at } = world
  const round = roundAt(world, now)
  const lastRound = recordAt(store, SIMULATED_ROUND_PATH, simulatedRound)
  const done = await lastRound.get()
  if (done?.started_at === started_at && done.round >= round) return NOTHING_ADDED
  const added = await withDatabase(components.openDatabase, async (database) =>
    // Leave the operator's own rows as they are.
    addRows(components, database, await readDue(components, database, world, now), { onlyUnknown: true }),
  )
  // Write this last. It only spares later steps of this round a look at the tables, which would find nothing
  // due.
  await lastRound.replace({ started_at, round })
  return added
}

/** Returns the simulation of a store, or undefined if it was never seeded. */
export function readSimulation({ store }: Components): Promise<Simulation | undefined> {
  return recordAt(store, SIMULATION_PATH, simulation).get()
}

/**
 * Returns the rows that the tables lack at `now`. They may include rows that wait in the inbox: the import
 * finds these and does not add them again.
 */
async function readDue(
  { store, local }: Components,
  database: Database,
  world: Simulation,
  now: Date,
): Promise<SimulatedRows> {
  for (const table of ['forecasters', 'questions', 'resolutions'] as const) {
    const log = new TableLog(store, table)
    await log.refresh()
    await attachCurrent(database, local, { ...log.current, table })
  }
  const wanted = questionsWanted(world, now)
  // Grain: one row per forecaster.
  const forecasters = await database.rows<{ user_id: string }>('SELECT user_id FROM current_forecasters')
  // Grain: one row per question, simulated or not, that is wanted or has closed without an outcome. Leaves a
  // question with a withdrawn outcome to the operator.
  const questions = await database.rows<{ question_id: string; closes_at: Date }>(
    `SELECT question_id, closes_at FROM current_questions
     WHERE question_id IN (${wanted.map(({ questionId }) => literal(questionId)).join(', ')})
       OR closes_at <= ${literal(now.toISOString())}::TIMESTAMPTZ
         AND question_id NOT IN (SELECT question_id FROM current_resolutions)
     ORDER BY closes_at`,
  )
  const known = new Set(forecasters.map(({ user_id }) => user_id))
  const closes = new Map(questions.map(({ question_id, closes_at }) => [question_id, closes_at.getTime()]))
  const past = new Set([...closes.values()].filter((ms) => ms <= now.getTime()))
  const resolved = [...past]
    .flatMap((ms) => questionsClosingAt(world, new Date(ms)))
    // Leave a question with a changed close to the operator.
    .filter(({ questionId, closesAt }) => closes.get(questionId) === closesAt.getTime())
  return {
    forecasters: FORECASTERS.filter(({ userId }) => !known.has(userId)),
    questions: wanted.filter(({ questionId }) => !closes.has(questionId)),
    forecasts: resolved.flatMap((question) => forecastsOn(world, question)),
    resolved,
  }
}

/** @throws ServiceError `invalid` for components of another environment. */
export function assertSandbox({ environment, store }: Components): void {
  if (environment === 'sandbox') return
  throw new ServiceError(
    'invalid',
    `${store.url} is of the environment ${environment}; only the sandbox is filled with simulated questions`,
  )
}
