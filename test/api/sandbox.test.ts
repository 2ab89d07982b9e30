// The wall between production and the sandbox, as callers meet it: the same calls, and nothing else in
// common.
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { startService } from '../../jobs/serve/service.ts'
import { signatureHolds } from '../../pipeline/proof/hmac.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { manifestPath } from '../../pipeline/store/paths.ts'
import { ENVIRONMENTS, type Environment } from '../../schemas/values.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { expectValid } from '../support/json-schema.ts'
import { expectProblem } from '../support/http/problem.ts'
import {
  Client,
  Clock,
  SANDBOX_SECRET,
  SECRET,
  bearer,
  importRows,
  registerAgent,
  release,
  testComponents,
} from '../support/http/service.ts'
import { contentOf } from '../support/store-content.ts'
import { NOW, QUESTION, csvOf, forecasterId, importWorld } from '../support/worlds/world.ts'

interface Walled {
  folder: string
  components: Record<Environment, Components>
  stores: Record<Environment, FaultStore>
  clients: Record<Environment, Client>
  stop: () => Promise<void>
}

/** The sandbox with a release, for each test to copy. */
const released = new MemoryStore()
const ownFolder = await suiteFolder()
beforeAll(async () => {
  const options = { store: released, folder: ownFolder, clock: new Clock(NOW) }
  const components = await testComponents({ ...options, environment: 'sandbox' })
  await importWorld(components)
  await release(components)
})

/** Both environments of one service, in one folder as an operator has them. */
async function walled(settings: Record<string, string> = {}): Promise<Walled> {
  const folder = await testFolder()
  const stores = {
    production: new FaultStore(await FileStore.begin(join(folder, 'store'))),
    sandbox: new FaultStore(await FileStore.begin(join(folder, 'store', 'sandbox'))),
  }
  const of = (environment: Environment) =>
    testComponents({
      folder,
      environment,
      store: stores[environment],
      clock: new Clock(NOW),
      settings: { REFRESH_MS: '60000', USAGE_FLUSH_MS: '50', ...settings },
    })
  const components = { production: await of('production'), sandbox: await of('sandbox') }
  for (const [path, bytes] of released.objects) await stores.sandbox.put(path, bytes)
  const service = await startService(components, { scheduler: false, firstCallsMs: 0 })
  await service.loaded
  let stopping: Promise<void> | undefined
  const stop = () => (stopping ??= service.stop())
  onTestFinished(stop)
  const clients = { production: new Client(service.url), sandbox: new Client(`${service.url}/sandbox`) }
  return { folder, components, stores, clients, stop }
}

const FORECAST = { question_id: QUESTION.open, probability: 0.5 }
const PERSON = forecasterId(0)

describe('under /sandbox', () => {
  test('every call is there, and what it publishes says so', { tags: ['slow'] }, async () => {
    const { clients, components } = await walled()
    const { sandbox: client } = clients
    const { agentId, key } = await registerAgent(client)
    expect(key).toMatch(/^fv_test_/)
    const forecast = await client.post(`/agents/${agentId}/forecast`, FORECAST, bearer(key))
    expect(forecast.status).toBe(200)
    expectValid('acknowledged-forecast', forecast.json())
    const verification = await client.get(`/forecaster/${PERSON}/verification`, { 'X-API-Key': key })
    expect(verification.json()).toMatchObject({ user_id: PERSON, environment: 'sandbox', release: 1 })
    for (const call of ['metrics', 'rankings', 'advanced-metrics']) {
      const answer = await client.get(`/forecaster/${PERSON}/${call}`)
      expect(answer.json()).toMatchObject({ environment: 'sandbox' })
    }
    const history = await client.get(`/snapshots/forecaster/${PERSON}`)
    expect(history.json<{ snapshots: object[] }>().snapshots).toHaveLength(1)
    expect((await client.get(`/questions/${QUESTION.open}`)).json()).toMatchObject({ status: 'open' })
    expect((await client.get('/questions?limit=1')).json()).toHaveProperty('next_cursor')
    const waiting = await client.get(`/agents/${agentId}/verification`)
    expectProblem(waiting, 404, /no release has covered it yet/)
    expect(components.sandbox.environment).toBe('sandbox')
  })

  test(
    'what is signed holds with the secret of the sandbox, and not with the one of production',
    { tags: ['slow'] },
    async () => {
      const { clients } = await walled()
      const holds = (bytes: Uint8Array, signature: string | undefined) => [
        signatureHolds(bytes, signature ?? '', [SANDBOX_SECRET]),
        signatureHolds(bytes, signature ?? '', [SECRET]),
      ]
      const { bytes, headers } = await clients.sandbox.get(`/forecaster/${PERSON}/verification`)
      expect(holds(bytes, headers['x-service-signature'] as string)).toEqual([true, false])
      const bulk = await clients.sandbox.post('/verification/bulk', {
        entity_type: 'forecaster',
        ids: [PERSON],
      })
      const [result] = bulk.json<{ results: { signature: string }[] }>().results
      expect(holds(bytes, result?.signature)).toEqual([true, false])
    },
  )

  test('there is nothing of production, nor the other way round', { tags: ['slow'] }, async () => {
    const { clients } = await walled()
    const agents = {
      production: await registerAgent(clients.production),
      sandbox: await registerAgent(clients.sandbox),
    }
    const { production, sandbox } = clients
    expectProblem(await production.get(`/forecaster/${PERSON}/verification`), 404, /no release has a/)
    expectProblem(await production.get(`/questions/${QUESTION.open}`), 404, /no question/)
    expectProblem(
      await production.get(`/agents/${agents.sandbox.agentId}/verification`),
      404,
      /there is no agent/,
    )
    expectProblem(
      await sandbox.get(`/agents/${agents.production.agentId}/verification`),
      404,
      /there is no agent/,
    )
  })

  test(
    'one Idempotency-Key stands for one registration in each environment',
    { tags: ['slow'] },
    async () => {
      const { clients } = await walled()
      const headers = { 'Idempotency-Key': 'the-same-key-in-both-environments' }
      const ask = (environment: Environment) =>
        clients[environment].post('/agents/register', { name: 'a', model_type: 'm' }, headers)
      const answers = [
        await ask('production'),
        await ask('sandbox'),
        await ask('production'),
        await ask('sandbox'),
      ]
      const keys = answers.map((answer) => answer.json<{ api_key: string }>().api_key)
      expect(keys.map((key) => key.slice(0, 8))).toEqual(['fv_live_', 'fv_test_', 'fv_live_', 'fv_test_'])
      expect(keys.slice(2)).toEqual(keys.slice(0, 2))
    },
  )
})

describe('a key of the other environment', () => {
  let world: Walled
  let agents: Record<Environment, { agentId: string; key: string }>
  beforeEach(async () => {
    world = await walled()
    const { production, sandbox } = world.clients
    agents = { production: await registerAgent(production), sandbox: await registerAgent(sandbox) }
  })

  test.for([
    ['production', 'sandbox', /^a key that begins with fv_test_ works under \/sandbox only$/],
    [
      'sandbox',
      'production',
      /^a key that begins with fv_live_ works in production only, not under \/sandbox$/,
    ],
  ] as const)(
    'is answered 401 in %s, with the reason and without a look at the store',
    { tags: ['slow'] },
    async ([here, there, why]) => {
      const { clients, stores } = world
      const { agentId, key } = agents[there]
      const client = clients[here]
      for (const environment of ENVIRONMENTS) stores[environment].calls.length = 0
      const answers = [
        await client.post(`/agents/${agentId}/forecast`, FORECAST, bearer(key)),
        await client.post(`/agents/${agents[here].agentId}/forecast`, FORECAST, bearer(key)),
        await client.get(`/forecaster/${PERSON}/verification`, { 'X-API-Key': key }),
        await client.get(`/agents/${agentId}/verification`, { 'X-API-Key': key }),
        await client.post(
          '/verification/bulk',
          { entity_type: 'agent', ids: [agentId] },
          { 'X-API-Key': key },
        ),
      ]
      for (const [index, answer] of answers.entries()) {
        expectProblem(answer, 401, why)
        const challenge = index < 2 ? 'Bearer' : 'Bearer, ApiKey header="X-API-Key"'
        expect(answer.headers['www-authenticate']).toBe(challenge)
      }
      expect([...stores.production.calls, ...stores.sandbox.calls]).toEqual([])
    },
  )
})

describe('the limits of the sandbox', () => {
  test('are settings of its own, and are counted apart', { tags: ['slow'] }, async () => {
    const { clients } = await walled({
      ANONYMOUS_PER_MINUTE: '2',
      SANDBOX_ANONYMOUS_PER_MINUTE: '3',
      REGISTRATIONS_PER_HOUR: '1',
      SANDBOX_REGISTRATIONS_PER_HOUR: '2',
      FORECASTS_PER_MINUTE: '7',
      FORECASTS_BURST: '7',
      SANDBOX_FORECASTS_PER_MINUTE: '5',
      SANDBOX_FORECASTS_BURST: '5',
    })
    const verify = (name: Environment) =>
      clients[name].post('/verification/bulk', { entity_type: 'forecaster', ids: [PERSON] })
    const register = (name: Environment) =>
      clients[name].post('/agents/register', { name: 'a', model_type: 'm' })
    const statuses = async (times: number, ask: () => Promise<{ status: number }>) => {
      const answers: number[] = []
      for (let time = 0; time < times; time++) answers.push((await ask()).status)
      return answers
    }
    expect(await statuses(3, () => verify('production'))).toEqual([200, 200, 429])
    expect(await statuses(4, () => verify('sandbox'))).toEqual([200, 200, 200, 429])
    expect((await verify('sandbox')).headers['ratelimit-policy']).toBe('"verifications";q=3;w=60')
    expect(await statuses(3, () => register('sandbox'))).toEqual([201, 201, 429])
    expect(await statuses(2, () => register('production'))).toEqual([201, 429])
  })

  test('of an agent and of a month are its own, too', { tags: ['slow'] }, async () => {
    const { clients } = await walled({
      SANDBOX_FORECASTS_PER_MINUTE: '1',
      SANDBOX_FORECASTS_BURST: '2',
      SANDBOX_FREE_MONTHLY_CALLS: '3',
    })
    const { agentId, key } = await registerAgent(clients.sandbox)
    const submit = () => clients.sandbox.post(`/agents/${agentId}/forecast`, FORECAST, bearer(key))
    expect((await submit()).headers['ratelimit-policy']).toBe('"forecasts";q=2;w=120')
    expect([(await submit()).status, (await submit()).status]).toEqual([200, 429])
    const verified = await clients.sandbox.get(`/forecaster/${PERSON}/verification`, { 'X-API-Key': key })
    expect(verified.headers['ratelimit']).toMatch(/^"monthly-calls";r=2;t=\d+$/)
  })
})

const MANIFEST = manifestPath(1)

describe('what the sandbox writes', () => {
  test(
    'lies under sandbox/, and a release of production is the same without it',
    { tags: ['slow'] },
    async () => {
      const { clients, components, folder, stores, stop } = await walled()
      const csv = csvOf([`forecaster,${PERSON},${QUESTION.open},0.1,2026-02-01T00:00:00Z`])
      await importRows(components.sandbox, 'forecasts', csv)
      expect(await release(components.sandbox)).toMatchObject({ made: true, release: 2 })
      const { agentId, key } = await registerAgent(clients.sandbox)
      const headers = { ...bearer(key), 'Idempotency-Key': 'once' }
      expect((await clients.sandbox.post(`/agents/${agentId}/forecast`, FORECAST, headers)).status).toBe(200)
      await clients.sandbox.get(`/forecaster/${PERSON}/verification`, { 'X-API-Key': key })
      await stop()
      const root = await FileStore.begin(join(folder, 'store'))
      const written = Object.keys(await contentOf(root))
      expect(written.filter((name) => !name.startsWith('sandbox/'))).toEqual([])
      const kinds = new Set(written.map((name) => name.split('/').slice(1, 3).join('/')))
      for (const kind of ['registry/keys', 'inbox/forecasts', 'inbox/usage', 'tables/questions'])
        expect(kinds).toContain(kind)
      expect(written.some((name) => name.startsWith('sandbox/idempotency/'))).toBe(true)

      const alone = await testComponents({ clock: new Clock(NOW) })
      const sandboxBefore = await contentOf(root, 'sandbox/')
      stores.production.calls.length = 0
      for (const production of [components.production, alone]) {
        await importWorld(production)
        // The sandbox has people with the same ids, with other forecasts.
        await importRows(
          production,
          'forecasts',
          csvOf([`forecaster,${PERSON},${QUESTION.open},0.9,2026-02-01T00:00:00Z`]),
        )
        expect(await release(production)).toMatchObject({ made: true, release: 1 })
      }
      for (const prefix of ['releases/', 'snapshots/']) {
        const published = await contentOf(components.production.store, prefix)
        expect(Object.keys(published).length).toBeGreaterThan(1)
        // The names of data files follow from the ids of what was imported.
        const { [MANIFEST]: _own, ...own } = published
        const { [MANIFEST]: _other, ...other } = await contentOf(alone.store, prefix)
        expect(own).toEqual(other)
      }
      const [own, other] = await Promise.all(
        [components.production, alone].map(({ store }) => readManifest(store, 1)),
      )
      expect({ ...own, inputs: [] }).toEqual({ ...other, inputs: [] })
      expect(stores.production.calls.filter(({ path }) => path === '' || path.startsWith('sandbox'))).toEqual(
        [],
      )
      expect(await contentOf(root, 'sandbox/')).toEqual(sandboxBefore)
    },
  )
})
