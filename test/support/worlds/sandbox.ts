// A seeded sandbox for tests, and the expected results of its steps.
import type { Components } from '../../../jobs/components/components.ts'
import type { Added } from '../../../jobs/sandbox/rows.ts'
import { type SeedOptions, seedSandbox } from '../../../jobs/sandbox/seed.ts'
import { FORECASTERS, ROUNDS_AT_ONCE } from '../../../jobs/sandbox/world.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import type { Row, TableName } from '../../../schemas/tables.ts'
import { Clock, testComponents } from '../http/service.ts'
import { readRows } from '../tables.ts'

/** The instant at which it was seeded. */
export const START = '2026-03-01T12:00:00.000Z'
export const after = (minutes: number) => new Date(Date.parse(START) + minutes * 60_000).toISOString()
export const OPTIONS: SeedOptions = { seed: 7, roundMinutes: 5, questionsPerRound: 4 }
export const RECORD = { seed: 7, started_at: START, round_ms: 300_000, questions_per_round: 4 }
/** The additions of a step that has nothing to do. */
export const NOTHING: Added = { asked: 0, forecasts: 0, resolved: 0 }
/** The additions of the step that seeds. */
export const ASKED_AT_ONCE = ROUNDS_AT_ONCE * OPTIONS.questionsPerRound
export const SEEDED: Added = { ...NOTHING, asked: ASKED_AT_ONCE }

/** The additions of a step after this many completed rounds, without new questions. */
export function roundsOver(rounds: number): Added {
  const resolved = rounds * OPTIONS.questionsPerRound
  return { asked: 0, forecasts: resolved * 2 * FORECASTERS.length, resolved }
}

/** The sandbox in a store. `folder` is for temporary files. */
export async function sandboxOver(
  store: Store,
  folder: string,
  clock = new Clock(START),
): Promise<Components> {
  return testComponents({ store, folder, clock, environment: 'sandbox' })
}

/** A sandbox that was seeded at `START`, for tests to copy. */
export async function seededStore(folder: string): Promise<MemoryStore> {
  const store = new MemoryStore()
  await seedSandbox(await sandboxOver(store, folder), OPTIONS)
  return store
}

export async function rowsOf(components: Components, table: TableName): Promise<Row[]> {
  using database = await components.openDatabase()
  return await readRows({ ...components, database }, table)
}
