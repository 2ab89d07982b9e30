// Where in the store a call can reach: whatever it names, only what it is about.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isPath } from '../../../pipeline/store/paths.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { FaultStore, madeByCalls } from '../../support/faults/fault-store.ts'
import { suiteFolder } from '../../support/folder.ts'
import { exchange } from '../../support/http/raw-http.ts'
import {
  Clock,
  type TestService,
  bearer,
  startTestService,
  testComponents,
} from '../../support/http/service.ts'
import { NOW, QUESTION, forecasterId, copyReleasedWorld, uuidOf } from '../../support/worlds/world.ts'

const folder = await suiteFolder()
const store = new FaultStore(new MemoryStore())
let service: TestService
let agent: { agentId: string; key: string }
beforeAll(async () => {
  const settings = { REFRESH_MS: '60000', USAGE_FLUSH_MS: '600000' }
  const components = await testComponents({ store, folder, clock: new Clock(NOW), settings })
  agent = await copyReleasedWorld(store)
  service = await startTestService(components)
})
afterAll(() => service.stop())

const FORECAST = { question_id: QUESTION.open, probability: 0.5 }
const AGENT = { name: 'a', model_type: 'm' }
const VERIFICATION = `/forecaster/${forecasterId(0)}/verification`
const forecastPath = () => `/agents/${agent.agentId}/forecast`

/** As it is written: a client would take the dots out of a path. */
async function getAsWritten(path: string): Promise<{ status: number }> {
  const sent = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  const [answer] = await exchange(service.url, sent)
  if (!answer) throw new Error(`${path} was not answered`)
  return answer
}

describe('no call reaches anything else', () => {
  const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
  const PLACES = [
    `registry/retired/${UUID}\\.json`,
    'registry/keys/[0-9A-Za-z]{8}\\.json',
    'idempotency/[0-9a-f]{64}\\.json',
    `inbox/(?:agents|forecasts)/${UUID}-[0-9a-f]{16}\\.parquet`,
    `releases/00000001/(?:agent|forecaster)/${UUID}\\.json`,
    'snapshots/2026-03-01/(?:manifest|(?:agent|forecaster)/.*)\\.json',
    'tables/(?:questions|resolutions|forecasts)/_delta_log/[0-9]{20}\\.json',
    'tables/(?:questions|resolutions|forecasts)/_delta_log/',
    // Of what stands a node reads the table beside serving, on a busy machine also during the first calls.
    'tables/forecasts/recorded_date=[-0-9]{10}/[-0-9a-z]+\\.parquet',
  ]
  const PLACE = new RegExp(`^(?:${PLACES.join('|')})$`)
  const ESCAPES = [
    '../../x',
    '..%2f..%2fx',
    '%2e%2e%2f%2e%2e%2fx',
    '/etc/passwd',
    'a/b',
    '.staging',
    '..',
    'x\0y',
    'C:\\x',
    '~root',
    `${uuidOf(1, 1)}/../../../keys/x`,
    `${uuidOf(1, 1)}.json`,
    `${uuidOf(1, 1)}\n`,
    'x'.repeat(300),
  ]

  test('whatever it names', async () => {
    const { client } = service
    store.calls.length = 0
    const statuses = new Set<number>()
    const take = ({ status }: { status: number }) => void statuses.add(status)
    for (const escape of ESCAPES) {
      const part = encodeURIComponent(escape)
      for (const path of [
        `/agents/${part}/verification`,
        `/forecaster/${part}/metrics`,
        `/questions/${part}`,
      ]) {
        take(await getAsWritten(path))
        take(await getAsWritten(path.replace(part, escape.replaceAll(/[\0\n ]/g, '_'))))
      }
      take(await getAsWritten(`/snapshots/agent/${part}`))
      take(await getAsWritten(`/snapshots/${part}/${agent.agentId}`))
      take(await getAsWritten(`/snapshots/agent/${agent.agentId}?start_date=${part}`))
      take(await client.post(`/agents/${part}/forecast`, FORECAST, bearer(agent.key)))
      take(await client.post(forecastPath(), { ...FORECAST, question_id: escape }, bearer(agent.key)))
      take(await client.post('/verification/bulk', { entity_type: 'agent', ids: [escape] }))
      take(await client.post('/verification/bulk', { entity_type: escape, ids: [agent.agentId] }))
      take(await client.get(VERIFICATION, { 'X-API-Key': part }))
      take(await client.post(forecastPath(), FORECAST, bearer(part)))
    }
    expect(statuses).toEqual(new Set([401, 404, 422]))
    // Who calls is asked for; what is called is not.
    const others = madeByCalls(store).filter(
      ({ path }) =>
        !/^registry\/(keys\/(?:[0-9a-f]{64}|[0-9A-Za-z]{8})|retired\/[0-9a-f-]{36})\.json$/.test(path),
    )
    expect(others).toEqual([])
  })

  test('an Idempotency-Key least of all', async () => {
    const { client } = service
    store.calls.length = 0
    for (const escape of [
      '../../../../x',
      '/etc/passwd',
      'a/../b',
      '..%2f..',
      '\\..\\x',
      '.',
      '{}',
      '"../x"',
    ]) {
      const headers = { ...bearer(agent.key), 'Idempotency-Key': escape }
      expect((await client.post(forecastPath(), FORECAST, headers)).status).toBe(200)
      const long = escape.replaceAll('"', '').padEnd(20, '/..')
      expect((await client.post('/agents/register', AGENT, { 'Idempotency-Key': long })).status).toBe(201)
    }
    await client.get(VERIFICATION)
    await client.get(`/agents/${uuidOf(9, 9)}/verification`)
    await client.get(`/snapshots/agent/${agent.agentId}`)
    await client.get(`/questions/${uuidOf(9, 9)}`)
    expect(store.calls.length).toBeGreaterThan(50)
    const elsewhere = store.calls.filter(({ path }) => !PLACE.test(path) || !isPath(path.replace(/\/$/, '')))
    expect(elsewhere).toEqual([])
  })

  test.for([...ESCAPES, '', 'keys/../x', 'ABCDEFGH.json'])('the id of a key, as %j', async (id) => {
    const { registry } = service.components
    store.calls.length = 0
    const unknown = { kind: 'notFound', message: expect.stringContaining('no key has the id') as string }
    await expect(registry.revokeKey(id, new Date(NOW))).rejects.toMatchObject(unknown)
    await expect(registry.rotateKey(id, new Date(NOW))).rejects.toMatchObject(unknown)
    expect(store.calls).toEqual([])
  })
})
