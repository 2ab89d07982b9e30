// Limits that are passed in: what goes through them, and what a caller hears who asks too often or for too much.
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { allRoutes, createApp } from '../../api/app.ts'
import { type Caller, Callers } from '../../api/callers.ts'
import { History } from '../../api/history.ts'
import type { Limits } from '../../api/limits.ts'
import { Metrics } from '../../api/metrics.ts'
import { PublishedReleases } from '../../api/published.ts'
import { QuestionBook } from '../../api/questions.ts'
import { type RunningServer, startServer } from '../../api/server.ts'
import type { Components } from '../../jobs/components.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { GroupCommit } from '../../pipeline/tables/group.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { TableName } from '../../schemas/tables.ts'
import { suiteFolder } from '../support/folder.ts'
import { inboxRows } from '../support/inbox-rows.ts'
import { expectProblem, pointersOf } from '../support/problem.ts'
import { Client, Clock, bearer, testComponents } from '../support/service.ts'
import { copyOf } from '../support/store-content.ts'
import { NOW, QUESTION, forecasterId, releaseWorld, uuidOf } from '../support/world.ts'

let released: MemoryStore
const folder = await suiteFolder()
let agent: { agentId: string; key: string }
let server: RunningServer | undefined

beforeAll(async () => {
  released = new MemoryStore()
  agent = await releaseWorld(await testComponents({ store: released, folder, clock: new Clock(NOW) }))
})
afterEach(() => server?.close(0))

/** The API over the released world, with limits of the test's own. */
async function served(limits: Limits): Promise<{ client: Client; components: Components }> {
  const components = await testComponents({ store: copyOf(released), folder, clock: new Clock(NOW) })
  const { store, secrets, registry, logger, now, newId } = components
  const questions = new QuestionBook(components)
  const releases = new PublishedReleases(store, secrets, 1_000_000)
  await Promise.all([questions.refresh(), releases.refresh()])
  const settings = { queueLimit: 10, timeoutMs: 10_000 }
  const group = (table: TableName) =>
    new GroupCommit(table, settings, { store, newId, monotonicMs: () => performance.now() })
  const app = createApp(
    {
      secrets,
      registry,
      callers: new Callers(registry, 1000),
      limits,
      questions,
      releases,
      history: new History(store, 1_000_000),
      forecasts: group('forecasts'),
      registrations: group('agents'),
      metrics: new Metrics(),
      logger,
      now,
      newId,
      nextReleaseAt: () => undefined,
      accepting: () => true,
    },
    allRoutes({ version: '1.0.0', methodology: new Uint8Array() }),
  )
  server = await startServer(app, {
    host: '127.0.0.1',
    port: 0,
    requestTimeoutMs: 10_000,
    idleTimeoutMs: 10_000,
    maxConnections: 100,
  })
  return { client: new Client(server.url), components }
}

/** Whoever it is: the kind, and of a key whose it is. */
const nameOf = (caller: Caller) =>
  caller.kind === 'anonymous' ? 'anonymous' : caller.kind === 'agent' ? caller.agent_id : caller.owner

const VERIFICATION = `/forecaster/${forecasterId(0)}/verification`
const FORECAST = { question_id: QUESTION.open, probability: 0.5 }
const bulkOf = (count: number) => ({
  entity_type: 'forecaster',
  ids: Array.from({ length: count }, (_, index) => uuidOf(7, index)),
})

describe('limits', () => {
  test('hear of every limited call, whose it is and from where', async () => {
    const heard: string[] = []
    const { client, components } = await served({
      admit: (call, caller, address) => {
        heard.push(`${call} by ${nameOf(caller)} from ${address}`)
        return Promise.resolve()
      },
      bulkIds: () => 10,
    })
    const key = await components.registry.createClientKey('Ada', new Date(NOW))
    await client.post('/agents/register', { name: 'a', model_type: 'm' })
    await client.post(`/agents/${agent.agentId}/forecast`, FORECAST, bearer(agent.key))
    await client.get(VERIFICATION)
    await client.get(VERIFICATION, { 'X-API-Key': key })
    await client.post('/verification/bulk', bulkOf(1), { 'X-API-Key': agent.key })
    expect(heard).toEqual([
      'register by anonymous from 127.0.0.1',
      `forecast by ${agent.agentId} from 127.0.0.1`,
      'verification by anonymous from 127.0.0.1',
      'verification by Ada from 127.0.0.1',
      `verification by ${agent.agentId} from 127.0.0.1`,
    ])
    for (const path of [
      '/livez',
      '/questions',
      `/forecaster/${forecasterId(0)}/metrics`,
      '/methodology/version',
    ]) {
      expect((await client.get(path)).status).toBe(200)
    }
    expect(heard).toHaveLength(5)
  })

  test('that refuse are answered 429 with Retry-After, and nothing is recorded', async () => {
    const { client, components } = await served({
      admit: (call) =>
        Promise.reject(new ServiceError('limited', `too many of ${call}`, { retryAfterS: 17 })),
      bulkIds: () => 10,
    })
    const answers = [
      await client.post('/agents/register', { name: 'a', model_type: 'm' }),
      await client.post(`/agents/${agent.agentId}/forecast`, FORECAST, bearer(agent.key)),
      await client.get(VERIFICATION),
      await client.post('/verification/bulk', bulkOf(1)),
    ]
    for (const answer of answers) {
      expectProblem(answer, 429, /^too many of \w+$/)
      expect(answer.headers['retry-after']).toBe('17')
      expect(answer.json()).toMatchObject({ title: 'Too Many Requests' })
    }
    expect(await inboxRows(components.store, 'agents')).toEqual([])
    expect(await inboxRows(components.store, 'forecasts')).toEqual([])
  })

  test('decide how many ids a caller may ask for at once, and the refusal names the maximum', async () => {
    const { client, components } = await served({
      admit: () => Promise.resolve(),
      bulkIds: ({ kind }) => (kind === 'client' ? 5 : 2),
    })
    const headers = { 'X-API-Key': await components.registry.createClientKey('Ada', new Date(NOW)) }
    expect((await client.post('/verification/bulk', bulkOf(2))).status).toBe(200)
    const refused = await client.post('/verification/bulk', bulkOf(3))
    expectProblem(refused, 422, /3 ids were sent; at most 2 are allowed/)
    expect(pointersOf(refused)).toEqual(['/ids'])
    expect((await client.post('/verification/bulk', bulkOf(5), headers)).status).toBe(200)
    expectProblem(await client.post('/verification/bulk', bulkOf(6), headers), 422, /at most 5 are allowed/)
  })
})
