// The step that keeps the sandbox's simulation going: rounds of simulated questions that open, get forecasts and
// resolve by the clock. Everything goes in as an operator's import would.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type Database, literal, withDatabase } from '../../pipeline/duckdb.ts'
import { canonical } from '../../pipeline/proof/canonical.ts'
import type { ImportKind } from '../../pipeline/import/checks.ts'
import { attachCurrent } from '../../pipeline/tables/views.ts'
import { SIMULATED_ROUND_PATH, SIMULATION_PATH } from '../../pipeline/store/paths.ts'
import { readRecord } from '../../pipeline/store/records.ts'
import { importFile } from '../../pipeline/import/import.ts'
import { TableLog } from '../../pipeline/tables/delta-log.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { instant } from '../../schemas/values.ts'
import type { Components } from '../components.ts'
import {
  SANDBOX_FORECASTERS,
  type SandboxQuestion,
  type SimulationRecord,
  forecastsOn,
  questionsClosingAt,
  questionsWanted,
  roundAt,
  simulationRecord,
} from './sandbox-world.ts'
import {
  type SimulatedForecaster,
  forecastRow,
  forecasterRow,
  questionRow,
  resolutionRow,
} from './simulated.ts'

/** What a step added to the tables. */
export interface Simulated {
  asked: number
  forecasts: number
  resolved: number
}

const NOTHING_DUE: Simulated = { asked: 0, forecasts: 0, resolved: 0 }

/** The round whose first step has come to its end, of the simulation that was seeded then. */
const simulatedRound = z.strictObject({ started_at: instant, round: z.int().min(0) })

/**
 * Brings the simulation up to the present: the questions of this round and the next ones, and, of rounds that have
 * ended, the forecasts and last the outcomes. The first step of a round does all that is due in it, and the others
 * read two small objects. Steps that were missed, cut off or taken twice come to the same rows; in a store that was
 * never seeded they do nothing.
 */
export async function simulate(components: Components): Promise<Simulated> {
  assertSandbox(components)
  const record = await readSimulation(components)
  if (!record) return NOTHING_DUE
  const { store } = components
  const now = components.now()
  const { started_at } = record
  const round = roundAt(record, now)
  const done = await readRecord(store, SIMULATED_ROUND_PATH, simulatedRound)
  if (done?.started_at === started_at && done.round >= round) return NOTHING_DUE
  const step = await takeStep(components, record, now)
  // Last, and only to spare the tables until the next round: were it wrong, that round would make up for it.
  await store.put(SIMULATED_ROUND_PATH, canonical({ started_at, round }))
  return step
}

function takeStep(components: Components, record: SimulationRecord, now: Date): Promise<Simulated> {
  return withDatabase(components.openDatabase, async (database) => {
    const { strangers, unasked, over } = await readDue(components, database, record, now)
    const add = (kind: ImportKind, rows: readonly object[]) => importRows(components, database, kind, rows)
    await add('forecasters', strangers.map(forecasterRow))
    const asked = await add('questions', unasked.map(questionRow))
    const made = over.flatMap((question) => forecastsOn(record, question))
    const forecasts = await add('forecasts', made.map(forecastRow))
    // Last: a question without an outcome is looked at again, so where a step is cut off, nothing is missed.
    return { asked, forecasts, resolved: await add('resolutions', over.map(resolutionRow)) }
  })
}

/** The simulation of a store, undefined where it was never seeded. */
export function readSimulation({ store }: Components): Promise<SimulationRecord | undefined> {
  return readRecord(store, SIMULATION_PATH, simulationRecord)
}

interface Due {
  /** Forecasters that the tables do not name. */
  strangers: SimulatedForecaster[]
  /** Questions that must be there and are not. */
  unasked: SandboxQuestion[]
  /** Simulated questions that have closed and have no outcome. */
  over: SandboxQuestion[]
}

/** Holds the plan against the tables. What waits in the inbox does not show here; an import knows it. */
async function readDue(
  { store, local }: Components,
  database: Database,
  record: SimulationRecord,
  now: Date,
): Promise<Due> {
  for (const table of ['forecasters', 'questions', 'resolutions'] as const) {
    const log = new TableLog(store, table)
    await log.refresh()
    await attachCurrent(database, local, { ...log.current, table })
  }
  const wanted = questionsWanted(record, now)
  // Grain: one row per forecaster.
  const forecasters = await database.rows<{ user_id: string }>('SELECT user_id FROM current_forecasters')
  // Grain: one row per question that is wanted, or closed without an outcome; whoever asked it.
  const questions = await database.rows<{ question_id: string; closes_at: Date }>(
    `SELECT question_id, closes_at FROM current_questions
     WHERE question_id IN (${wanted.map(({ questionId }) => literal(questionId)).join(', ')})
       OR closes_at <= ${literal(now.toISOString())}::TIMESTAMPTZ
         AND question_id NOT IN (SELECT question_id FROM current_resolutions)
     ORDER BY closes_at`,
  )
  const present = new Set(forecasters.map(({ user_id }) => user_id))
  const closes = new Map(questions.map(({ question_id, closes_at }) => [question_id, closes_at.getTime()]))
  const past = new Set([...closes.values()].filter((ms) => ms <= now.getTime()))
  return {
    strangers: SANDBOX_FORECASTERS.filter(({ userId }) => !present.has(userId)),
    unasked: wanted.filter(({ questionId }) => !closes.has(questionId)),
    // One whose close an operator has changed is the operator's.
    over: [...past]
      .flatMap((ms) => questionsClosingAt(record, new Date(ms)))
      .filter(({ questionId, closesAt }) => closes.get(questionId) === closesAt.getTime()),
  }
}

/** Imports rows and returns how many were new; without rows it touches nothing. */
async function importRows(
  components: Components,
  database: Database,
  kind: ImportKind,
  rows: readonly object[],
): Promise<number> {
  if (rows.length === 0) return 0
  const file = join(components.directory, `simulated-${kind}-${components.newId()}.ndjson`)
  try {
    await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    return (await importFile({ ...components, database }, kind, file)).added
  } finally {
    await rm(file, { force: true })
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
