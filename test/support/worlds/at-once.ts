// Commands that write to the tables, to be run two or more at once: each waits at a barrier when it has read and
// checked everything and is about to write. `expectSerial` says what must hold whoever came first.
import { expect } from 'vitest'
import type { Components } from '../../../jobs/components/components.ts'
import { withDatabase } from '../../../pipeline/duckdb.ts'
import { assignOwner, retire } from '../../../pipeline/import/agents.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { compact } from '../../../pipeline/tables/compact.ts'
import { onKnown } from '../../../pipeline/import/waiting.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { SCORED_TABLES, type ScoredTable } from '../../../schemas/tables.ts'
import { type Call, FaultStore } from '../faults/fault-store.ts'
import { Clock, importRows, release, testComponents } from '../http/service.ts'
import { namesOf } from '../people.ts'
import { copyOf } from '../store-content.ts'
import { pathsOf, send } from '../tables.ts'
import { NOW, uuidOf } from './world.ts'

const OLD_QUESTION = uuidOf(1, 1)
const AGENT = uuidOf(7, 1)
const PEOPLE = [uuidOf(2, 1), uuidOf(2, 2), uuidOf(2, 3)]
const SPAN = '2026-01-01T00:00:00Z,2026-12-01T00:00:00Z'
const QUESTION_COLUMNS = 'question_id,title,source,source_id,opened_at,closes_at'

export const csv = (...lines: string[]) => `${lines.join('\n')}\n`

/** A question of its own in each variant, always with the same source and `source_id`. */
export const questionCsv = (variant: number) =>
  csv(QUESTION_COLUMNS, `${uuidOf(1, 100 + variant)},New ${variant}?,forum,1,${SPAN}`)
export const namesCsv = (variant: number) =>
  csv('user_id,display_name', ...PEOPLE.map((id, index) => `${id},Person ${index} of ${variant}`))
export const forecastsCsv = (variant: number) =>
  csv(
    'entity_type,entity_id,question_id,probability,forecast_at',
    ...PEOPLE.map((id) => `forecaster,${id},${OLD_QUESTION},0.5,2026-01-02T00:00:0${variant}Z`),
  )

/** How many rows a command said that it has added or changed, by table. */
type Said = Partial<Record<ScoredTable, number>>
type Command = (components: Components, variant: number) => Promise<Said>

interface Added {
  added: number
  changed: number
  forecasters_created: number
}
const imported = async (components: Components, kind: Parameters<typeof importRows>[1], text: string) =>
  (await importRows(components, kind, text)) as Added
const rowsOf = ({ added, changed }: Added) => added + changed

export const COMMANDS = {
  'import questions': async (components, variant) => ({
    questions: rowsOf(await imported(components, 'questions', questionCsv(variant))),
  }),
  'correct questions': async (components, variant) => {
    const text = csv(QUESTION_COLUMNS, `${OLD_QUESTION},Changed ${variant}?,forum,1,${SPAN}`)
    return { questions: rowsOf(await imported(components, 'questions', text)) }
  },
  'import resolutions': async (components, variant) => {
    const text = csv(
      'question_id,outcome,resolved_at',
      `${OLD_QUESTION},${variant % 2 === 0 ? 'yes' : 'no'},2026-02-01T00:00:00Z`,
    )
    return { resolutions: rowsOf(await imported(components, 'resolutions', text)) }
  },
  'import forecasters': async (components, variant) => ({
    // A name is no row of a table.
    forecasters: (await imported(components, 'forecasters', namesCsv(variant))).added,
  }),
  'import forecasts': async (components, variant) => {
    const { added, forecasters_created } = await imported(components, 'forecasts', forecastsCsv(variant))
    return { forecasts: added, forecasters: forecasters_created }
  },
  'assign an agent': async (components, variant) => ({
    agents: await said(components, (context) => assignOwner(context, [AGENT], `Owner ${variant}`)),
  }),
  'retire an agent': async (components) => ({
    agents: await said(components, (context) => retire(context, new Map([[AGENT, NOW]]))),
  }),
  'take in forecasts': async (components, variant) => {
    const row = {
      forecast_id: uuidOf(5, variant),
      entity_type: 'agent',
      entity_id: AGENT,
      question_id: OLD_QUESTION,
      probability: 0.4,
      forecast_at: new Date(NOW),
      recorded_at: new Date(NOW),
      source: 'api',
    }
    await send(components.store, 'forecasts', uuidOf(6, variant), [row])
    await withDatabase(components.openDatabase, (database) =>
      compact({ ...components, database }, 'forecasts'),
    )
    return { forecasts: 1 }
  },
  release: async (components) => {
    await release(components)
    return {}
  },
} satisfies Record<string, Command>

export type CommandName = keyof typeof COMMANDS
const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[]

/** Every command with itself and with every other. */
export const PAIRS = COMMAND_NAMES.flatMap((one, index) =>
  COMMAND_NAMES.slice(index).map((other) => [one, other] as const),
)

async function said(
  components: Components,
  say: (context: Parameters<typeof assignOwner>[0]) => Promise<{ changed: number }>,
): Promise<number> {
  return (await withDatabase(components.openDatabase, (database) => say({ ...components, database }))).changed
}

const clock = new Clock(NOW)
const componentsOver = (store: ConstructorParameters<typeof FaultStore>[0], folder: string) =>
  testComponents({ store, clock, folder })

/** A store with one question and one agent. */
export async function storeAtOnce(folder: string): Promise<MemoryStore> {
  const store = new MemoryStore()
  await send(store, 'agents', uuidOf(8, 1), [
    {
      agent_id: AGENT,
      name: 'an agent',
      model_type: 'm',
      organization_name: null,
      owner_id: null,
      registered_at: new Date('2026-01-01T00:00:00Z'),
      retired_at: null,
      recorded_at: new Date('2026-01-01T00:00:00Z'),
    },
  ])
  const text = csv(QUESTION_COLUMNS, `${OLD_QUESTION},Old?,,,${SPAN}`)
  await importRows(await componentsOver(store, folder), 'questions', text)
  return store
}

/** Opens once everybody who still takes part has come to it. */
class Barrier {
  readonly #opened = Promise.withResolvers<void>()
  #parties: number
  #waiting = 0

  constructor(parties: number) {
    this.#parties = parties
  }

  async come(): Promise<void> {
    this.#waiting += 1
    this.#look()
    await this.#opened.promise
  }

  /** Says that somebody who has not come will not. */
  leave(): void {
    this.#parties -= 1
    this.#look()
  }

  #look(): void {
    if (this.#waiting >= this.#parties) this.#opened.resolve()
  }
}

/** The objects whose creation decides or brings rows. */
const DECIDES = /^(inbox|offers|intake|tables)\//

/**
 * Runs commands at once on a copy of a store. Each waits for the others when it is about to create its
 * object number `at` of those that decide or bring rows. Returns the store, and what each command said:
 * undefined if it was refused.
 */
export async function runAtOnce(
  prepared: MemoryStore,
  folder: string,
  names: readonly CommandName[],
  at = 1,
): Promise<{ store: MemoryStore; told: (Said | undefined)[] }> {
  const store = copyOf(prepared)
  const barrier = new Barrier(names.length)
  const run = async (name: CommandName, variant: number): Promise<Said | undefined> => {
    let creations = 0
    const before = async ({ operation, path }: Call) => {
      if (operation !== 'putIfAbsent' || !DECIDES.test(path)) return
      creations += 1
      if (creations === at) await barrier.come()
    }
    try {
      const components = await componentsOver(new FaultStore(store, { before }), folder)
      return await COMMANDS[name](components, variant)
    } catch (error) {
      if (error instanceof ServiceError && error.kind === 'invalid') return undefined
      throw error
    } finally {
      if (creations < at) barrier.leave()
    }
  }
  const told = await Promise.all(names.map((name, variant) => run(name, variant)))
  return { store, told }
}

/**
 * Checks the tables after commands at once: no two current questions share source and `source_id`, no name
 * is lost, and the rows are those of the commands that said so.
 */
export async function expectSerial(
  prepared: MemoryStore,
  folder: string,
  names: readonly CommandName[],
  { store, told }: Awaited<ReturnType<typeof runAtOnce>>,
): Promise<void> {
  const [before, after] = await Promise.all([rowCounts(prepared, folder), rowCounts(store, folder)])
  const expected = { ...before.counts }
  for (const added of told) {
    for (const table of SCORED_TABLES) expected[table] += added?.[table] ?? 0
  }
  expect(after.counts).toEqual(expected)
  expect(after.shared, 'questions that share source and source_id').toEqual([])
  if (names.includes('import forecasters')) {
    expect(
      after.names.map((name) => name?.replace(/\d+$/, '')),
      'names',
    ).toEqual(PEOPLE.map((_, index) => `Person ${index} of `))
  }
  expect(await pathsOf(store, 'offers/')).toEqual([])
}

/** The number of rows by table, the shared sources, and the names of people. */
export async function rowCounts(store: MemoryStore, folder: string) {
  const components = await componentsOver(store, folder)
  return withDatabase(components.openDatabase, (database) => readSerial({ ...components, database }))
}

export async function readSerial(context: Parameters<typeof assignOwner>[0]): Promise<{
  counts: Record<ScoredTable, number>
  shared: object[]
  names: (string | null)[]
}> {
  const { database } = context
  return onKnown(context, async () => {
    const counts: [ScoredTable, number][] = []
    for (const table of SCORED_TABLES) {
      const [row] = await database.rows<{ n: bigint }>(`SELECT count(*) AS n FROM ${table}`)
      counts.push([table, Number(row!.n)])
    }
    const people = await database.rows<{ id: string }>(
      `SELECT user_id AS id FROM current_forecasters ORDER BY user_id`,
    )
    return {
      counts: Object.fromEntries(counts) as Record<ScoredTable, number>,
      shared: await database.rows(
        `SELECT source, source_id FROM current_questions WHERE source IS NOT NULL GROUP BY ALL HAVING count(*) > 1`,
      ),
      names: await namesOf(
        context.store,
        people.map(({ id }) => id),
      ),
    }
  })
}
