// A small released world: a question in every state, people and an agent with enough resolved questions to be
// ranked.
import { link, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { Components } from '../../../jobs/components/components.ts'
import type { ReleaseRequest } from '../../../pipeline/release/make.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { makeFolder } from '../folder.ts'
import {
  Clock,
  importRows,
  registerAgent,
  release,
  startTestService,
  testComponents,
} from '../http/service.ts'
import { submitForecasts } from './submitted-forecasts.ts'

/** The time of the tests that use this world. */
export const NOW = '2026-03-01T12:00:00.000Z'

export const uuidOf = (kind: number, number: number): string =>
  `00000000-0000-4000-8${String(kind).padStart(3, '0')}-${number.toString(16).padStart(12, '0')}`

const RESOLVED = 52
export const FORECASTERS = 6

/** A question in each state. */
export const QUESTION = {
  resolved: uuidOf(1, 0),
  annulled: uuidOf(1, 1000),
  open: uuidOf(1, 1001),
  closed: uuidOf(1, 1002),
  upcoming: uuidOf(1, 1003),
}
export const forecasterId = (index: number): string => uuidOf(2, index)

const DAY_MS = 86_400_000
const at = (day: number) => new Date(Date.UTC(2026, 0, 1) + day * DAY_MS).toISOString()

export const QUESTIONS_CSV = [
  'question_id,title,category,url,event_id,opened_at,closes_at,source,source_id,resolution_criteria,background',
  ...Array.from(
    { length: RESOLVED },
    (_, index) =>
      `${uuidOf(1, index)},"Question ""${index}""",simulated,,event-${index},${at(0)},${at(30)},,,,`,
  ),
  `${QUESTION.annulled},Annulled?,simulated,,,${at(0)},${at(30)},,,,`,
  `${QUESTION.open},Open?,,https://example.org/open,,${at(0)},${at(400)},example-platform,o-1,"Yes, if it is open.\n\nNo, if ""closed"".","\t<b>Nobody</b> knows."`,
  `${QUESTION.closed},Closed?,,,,${at(0)},${at(40)},,,,`,
  `${QUESTION.upcoming},Upcoming?,,,,${at(300)},${at(400)},,,,`,
  '',
].join('\n')

const outcomeOf = (index: number) => (index % 3 === 0 ? 'yes' : 'no')

export const RESOLUTIONS_CSV = [
  'question_id,outcome,resolved_at',
  ...Array.from(
    { length: RESOLVED },
    (_, index) => `${uuidOf(1, index)},${outcomeOf(index)},${at(20 + (index % 15))}`,
  ),
  `${QUESTION.annulled},annulled,${at(25)}`,
  '',
].join('\n')

/** How many forecasts the agent of the world has, all of them by the API. */
export const AGENT_FORECASTS = 2 * RESOLVED

const FORECAST_COLUMNS = 'entity_type,entity_id,question_id,probability,forecast_at'

/**
 * Two forecasts by each forecaster on every resolved question. Those with lower numbers are nearer to the
 * outcome.
 */
function forecastLines(type: string, id: string, rank: number): string[] {
  return Array.from({ length: RESOLVED }, (_, index) => {
    const wrong = ((rank + 1) * (1 + (index % 4))) / (5 * FORECASTERS)
    const probability = (share: number) => (outcomeOf(index) === 'yes' ? 1 - share : share).toFixed(6)
    return [
      `${type},${id},${uuidOf(1, index)},${probability(Math.min(1, wrong + 0.05))},${at(1 + rank)}`,
      `${type},${id},${uuidOf(1, index)},${probability(wrong)},${at(10 + rank)}`,
    ]
  }).flat()
}

export const FORECAST_LINES = Array.from({ length: FORECASTERS }, (_, index) =>
  forecastLines('forecaster', forecasterId(index), index),
).flat()

/** A forecast of an agent on the open question: it is in the next release, and is scored on nothing. */
export const openForecastLine = (agentId: string): string =>
  `agent,${agentId},${QUESTION.open},0.500000,${at(11)}`

export const csvOf = (lines: readonly string[]): string => [FORECAST_COLUMNS, ...lines, ''].join('\n')

/** Imports the questions, the outcomes and the forecasts of people. */
export async function importWorld(components: Components): Promise<void> {
  await importRows(components, 'questions', QUESTIONS_CSV)
  await importRows(components, 'resolutions', RESOLUTIONS_CSV)
  await importRows(components, 'forecasts', csvOf(FORECAST_LINES))
}

export interface WorldAgent {
  agentId: string
  key: string
}

/** Makes the world with an agent that registers over HTTP, and releases it. */
export async function releaseWorld(
  components: Components,
  request: ReleaseRequest = {},
): Promise<WorldAgent> {
  const service = await startTestService(components)
  const agent = await registerAgent(service.client)
  await service.stop()
  await importWorld(components)
  await submitForecasts(components.store, forecastLines('agent', agent.agentId, 0))
  await release(components, request)
  return agent
}

interface SavedWorld {
  agent: WorldAgent
  /** The objects of its store in Base64, by their paths. */
  objects: Record<string, string>
}

/**
 * Copies the world, released at `NOW`, into a store. It is made once in a run, since it takes a third of a
 * second.
 */
export async function copyReleasedWorld(store: Store): Promise<WorldAgent> {
  const { agent, objects } = await savedWorld()
  for (const [path, base64] of Object.entries(objects)) {
    await store.put(path, Uint8Array.from(Buffer.from(base64, 'base64')))
  }
  return agent
}

async function savedWorld(): Promise<SavedWorld> {
  const path = join(inject('runFolder'), 'released-world.json')
  const saved = await readFile(path, 'utf8').catch(() => undefined)
  if (saved !== undefined) return JSON.parse(saved) as SavedWorld
  const { path: folder, remove } = await makeFolder()
  const store = new MemoryStore()
  const agent = await releaseWorld(await testComponents({ store, folder, clock: new Clock(NOW) }))
  await remove()
  const objects = Object.fromEntries(
    [...store.objects].map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]),
  )
  // Other test files may make it at the same time: the first counts for all.
  const own = `${path}.${process.pid}`
  await writeFile(own, JSON.stringify({ agent, objects } satisfies SavedWorld))
  await link(own, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return JSON.parse(await readFile(path, 'utf8')) as SavedWorld
}
