// A store that holds an object of every kind, and what releases, audits and nodes make of it when one is
// damaged.
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import type { Components } from '../../../jobs/components/components.ts'
import { auditRelease } from '../../../pipeline/audit/release.ts'
import { thinReleases } from '../../../pipeline/release/retention.ts'
import { withDatabase } from '../../../pipeline/duckdb.ts'
import { signatureHolds } from '../../../pipeline/proof/hmac.ts'
import { LocalFiles } from '../../../pipeline/store/local-files.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { writeCheckpoint } from '../../../pipeline/tables/checkpoint.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { FaultStore } from '../faults/fault-store.ts'
import {
  type Answer,
  type Client,
  Clock,
  SECRET,
  bearer,
  importRows,
  registerAgent,
  release,
  startTestService,
  testComponents,
} from '../http/service.ts'
import { contentOf, copyOf } from '../store-content.ts'
import { currentVersion } from '../tables.ts'
import { QUESTION, type WorldAgent, copyReleasedWorld, forecasterId, uuidOf } from './world.ts'

const NEXT_DAY = '2026-03-02T12:00:00.000Z'
const NOW_ON = new Clock('2026-03-03T12:00:00.000Z')
export const CURRENT = 3
const WRITTEN_BY_A_RELEASE = /^(?:releases\/00000004|snapshots\/2026-03-03)\//

export interface DamagedWorld {
  store: MemoryStore
  /** For the files of machines. */
  folder: string
  /** One that the releases have, and one that has registered since. */
  agents: [WorldAgent, WorldAgent]
}

/** What becomes of a store, in words of the table. */
export interface Outcome {
  release: string
  audit: string
  serving: string
}

/** Components as on a machine that has not read the store before. */
async function machine(store: Store, folder: string, clock = NOW_ON) {
  return testComponents({ store, folder: await mkdtemp(join(folder, 'machine-')), clock })
}

/** A store for a run that dies when it creates an object of these paths. */
function cutOffAt(store: Store, paths: RegExp): Store {
  return new FaultStore(store, {
    before: ({ operation, path }) => {
      if (operation === 'putIfAbsent' && paths.test(path)) throw new ServiceError('unavailable', 'cut off')
    },
  })
}

/**
 * Three releases of two days, two of them thinned; checkpoints; and since then an import that was cut off,
 * and calls.
 */
export async function worldToDamage(folder: string): Promise<DamagedWorld> {
  const store = new MemoryStore(NOW_ON.now)
  const agent = await copyReleasedWorld(store)
  const nextDay = await machine(store, folder, new Clock(NEXT_DAY))
  await release(nextDay)
  await release(nextDay)
  await thinReleases(nextDay, CURRENT, 1)
  await withDatabase(nextDay.openDatabase, async (database) => {
    for (const table of ['agents', 'forecasters'] as const) {
      await writeCheckpoint({ ...nextDay, database }, await currentVersion(store, table))
    }
  })
  const rows = `question_id,title,opened_at,closes_at\n${uuidOf(1, 2000)},New?,2026-01-01T00:00:00Z,2026-12-01T00:00:00Z\n`
  const cutOff = cutOffAt(store, /^tables\/questions\/recorded_date/)
  await importRows(await machine(cutOff, folder), 'questions', rows).catch(() => undefined)
  const { client, stop } = await startTestService(await machine(store, folder))
  const later = await registerAgent(client)
  for (const key of ['one', 'two']) await submit(client, later, key)
  await stop()
  return { store, folder, agents: [agent, later] }
}

/** The same world with a release that was planned and cut off. */
export async function worldWithPlan({ store, ...world }: DamagedWorld): Promise<DamagedWorld> {
  const planned = copyOf(store)
  const cutOff = cutOffAt(planned, /^releases\/00000004\/(?!plan\.json$)/)
  await release(await machine(cutOff, world.folder)).catch(() => undefined)
  return { store: planned, ...world }
}

const submit = (client: Client, { agentId, key }: WorldAgent, idempotencyKey: string) =>
  client.post(
    `/agents/${agentId}/forecast`,
    { question_id: QUESTION.open, probability: 0.5 },
    { ...bearer(key), 'Idempotency-Key': idempotencyKey },
  )

const CALLS: Record<string, (client: Client, agents: DamagedWorld['agents']) => Promise<Answer>> = {
  'an agent': (client, [agent]) => client.get(`/agents/${agent.agentId}/verification`),
  'a forecaster': (client) => client.get(`/forecaster/${forecasterId(0)}/verification`),
  'its scores': (client, [agent]) => client.get(`/agents/${agent.agentId}/scores`),
  'its history': (client, [agent]) => client.get(`/snapshots/agent/${agent.agentId}`),
  'a new agent': (client, [, later]) => client.get(`/agents/${later.agentId}/verification`),
  'a question': (client) => client.get(`/questions/${QUESTION.resolved}`),
  'a submission': (client, [, later]) => submit(client, later, 'three'),
  'a repeated submission': (client, [, later]) => submit(client, later, 'one'),
}

/**
 * Runs a release and audits on a machine whose copies of all data files were damaged by `damage` since it
 * made them.
 */
export async function outcomeOfCopies(
  { store, folder }: DamagedWorld,
  whole: Whole,
  damage: (cache: string) => Promise<void>,
): Promise<Outcome> {
  const copy = copyOf(store)
  const first = await machine(copy, folder)
  await faultsOf(first, CURRENT)
  const cache = join(first.directory, 'cache')
  await damage(cache)
  // Another process on the same machine.
  const afresh = (over: Store) => ({ ...first, store: over, local: new LocalFiles(over, cache) })
  await release(afresh(copy))
  const same = JSON.stringify(await releasedIn(copy)) === JSON.stringify(whole.released)
  await damage(cache)
  const faults = await faultsOf(afresh(copy), CURRENT)
  return {
    release: same ? 'same bytes' : 'other bytes',
    audit: faults.length === 0 ? 'passes' : 'finds it',
    serving: 'not tried',
  }
}

/** What a whole store gives, to compare with. */
export interface Whole {
  released: Record<string, string>
  answers: Record<string, { status: number; text: string }>
}

export async function wholeOf(world: DamagedWorld): Promise<Whole> {
  const store = copyOf(world.store)
  await release(await machine(store, world.folder))
  const answers = await answersOf(world)
  if (typeof answers === 'string') throw new Error(answers)
  return { released: await releasedIn(store), answers }
}

async function releasedIn(store: Store): Promise<Record<string, string>> {
  const content = Object.entries(await contentOf(store))
  return Object.fromEntries(content.filter(([path]) => WRITTEN_BY_A_RELEASE.test(path)))
}

async function answersOf({ store, folder, agents }: DamagedWorld): Promise<Whole['answers'] | string> {
  try {
    const { client, stop } = await startTestService(await machine(copyOf(store), folder))
    const answers: Whole['answers'] = {}
    for (const [name, call] of Object.entries(CALLS)) {
      const { status, text, headers, bytes } = await call(client, agents)
      const signature = headers['x-service-signature']
      if (signature !== undefined && !signatureHolds(bytes, String(signature), [SECRET])) {
        throw new Error(`${name} has a signature that does not hold`)
      }
      answers[name] = { status, text }
    }
    await stop()
    return answers
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return error.message
  }
}

/** Runs a release, an audit of an earlier one, and a node, each over a copy of the damaged store. */
export async function outcomeOf(
  world: DamagedWorld,
  whole: Whole,
  victims: readonly string[],
  audited: number,
): Promise<Outcome> {
  const isNamed = (message: string) => victims.some((path) => message.includes(path))
  return {
    release: await releaseOf(world, whole, isNamed),
    audit: await auditOf(
      world,
      audited,
      (message) => isNamed(message) || victims.some((path) => message.startsWith(inRelease(path))),
    ),
    serving: await servingOf(world, whole, isNamed),
  }
}

/** The path in its release, by which an audit calls a file. */
const inRelease = (path: string) => `${path.replace(/^releases\/\d{8}\//, '')}: `

async function releaseOf(
  { store, folder }: DamagedWorld,
  whole: Whole,
  isNamed: (message: string) => boolean,
): Promise<string> {
  const copy = copyOf(store)
  try {
    const result = await release(await machine(copy, folder))
    if (!result.made) return 'made by another run'
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const made = Object.keys(await releasedIn(copy)).filter((path) => !path.endsWith('/plan.json'))
    if (made.length > 0) {
      throw new Error(`a release was refused after it had written ${made.join()}`, { cause: error })
    }
    return isNamed(error.message) ? 'refused' : 'refused for what it lacks'
  }
  const released = JSON.stringify(await releasedIn(copy))
  return released === JSON.stringify(whole.released) ? 'same bytes' : 'other bytes'
}

async function auditOf(
  { store, folder }: DamagedWorld,
  audited: number,
  isNamed: (message: string) => boolean,
): Promise<string> {
  const components = await machine(copyOf(store), folder)
  const found = await faultsOf(components, audited).catch((error: unknown) => {
    if (error instanceof ServiceError) return [error.message]
    throw error
  })
  if (found.length === 0) return 'passes'
  return found.some(isNamed) ? 'finds it' : 'finds what it lacks'
}

function faultsOf(components: Components, audited: number): Promise<string[]> {
  return withDatabase(components.openDatabase, async (database) => {
    const { faults } = await auditRelease({ ...components, database, secrets: [SECRET] }, audited)
    return faults
  })
}

async function servingOf(
  world: DamagedWorld,
  whole: Whole,
  isNamed: (message: string) => boolean,
): Promise<string> {
  const answers = await answersOf(world)
  if (typeof answers === 'string')
    return isNamed(answers) ? 'does not start' : 'does not start for what it lacks'
  const different = Object.entries(answers).flatMap(([name, { status, text }]) => {
    const expected = whole.answers[name]!
    // A submission has another id each time, and a refusal may say when to try again.
    const maySayElse = name === 'a submission' || status !== 200
    if (status === expected.status && (text === expected.text || maySayElse)) return []
    return [`${name}: ${status === expected.status ? `${status} with other content` : status}`]
  })
  return different.length === 0 ? 'as before' : different.join(', ')
}
