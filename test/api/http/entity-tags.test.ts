// Entity tags: every GET has one, and whoever sends it back is answered 304, whatever else the
// request says.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { entityTag, isNamedBy } from '../../../api/http/entity-tag.ts'
import { allRoutes } from '../../../api/routes/all.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { assignAgents } from '../../../jobs/agents/agents.ts'
import { issueTo } from '../../support/credentials/issued.ts'
import { suiteFolder } from '../../support/folder.ts'
import {
  Clock,
  type TestService,
  release,
  startTestService,
  testComponents,
} from '../../support/http/service.ts'
import { send } from '../../support/tables.ts'
import { NOW, QUESTION, forecasterId, copyReleasedWorld } from '../../support/worlds/world.ts'
import { LOG_KEY, writeLog } from '../../support/worlds/written-log.ts'

const folder = await suiteFolder()
let service: TestService
let agentId: string
beforeAll(async () => {
  const store = new MemoryStore()
  const settings = { REFRESH_MS: '60000' }
  const components = await testComponents({ store, folder, clock: new Clock(NOW), settings })
  ;({ agentId } = await copyReleasedWorld(store))
  await send(store, 'forecasts', 'a', [FORECAST])
  await assignAgents(components, [agentId], { owner: 'somebody' })
  await release(components)
  await writeLog(store, 2)
  await issueTo(store, 2, agentId, forecasterId(0))
  service = await startTestService({ ...components, signers: [LOG_KEY] })
})
afterAll(() => service.stop())

const FORECAST = {
  forecast_id: '019ca944-1fa0-7a90-8b3e-6a7d5c4f3e21',
  entity_type: 'agent',
  entity_id: forecasterId(0),
  question_id: QUESTION.open,
  probability: 0.5,
  forecast_at: new Date('2026-03-01T11:59:00.000Z'),
  recorded_at: new Date('2026-03-01T11:59:00.000Z'),
  source: 'api',
}

const paths = allRoutes({ version: '1', methodology: METHODOLOGY, methodologyText: new Uint8Array() })
  // Without a key there is no usage, and nothing that is an agent's or the operator's own.
  .filter(
    ({ method, path, key }) => method === 'GET' && path !== '/usage' && key !== 'agent' && key !== 'operator',
  )
  .map(({ path }) => path)
  .concat('/leaderboard/agent?category=simulated')

const filled = (path: string) =>
  path
    .replace(/^\/compare$/, `/compare?a=${agentId}&b=${forecasterId(0)}`)
    .replace(/^\/people$/, `/people?ids=${forecasterId(0)}`)
    .replace('{agent_id}', agentId)
    .replace('{user_id}', forecasterId(0))
    .replace('{question_id}', path.endsWith('.csv') ? QUESTION.resolved : QUESTION.open)
    .replace('{category}', 'simulated')
    .replace('{list}', '0')
    .replace('{entity_type}', 'agent')
    .replace('{entity_id}', agentId)
    .replace('{forecast_id}', FORECAST.forecast_id)
    .replace('{release}', '1')
    .replace('{owner_id}', 'somebody')
    .replace('{type}', 'failed')
    .replace('/schemas/{name}', '/schemas/problem')
    .replace('{+tile}', '0/000.p/1')
    .replace('{+path}', 'releases/00000001/manifest.json')

describe.for(paths)('GET %s', (path) => {
  test('has a strong tag of the bytes, and HEAD the same', async () => {
    const { status, bytes, headers } = await service.client.get(filled(path))
    expect(status).toBe(200)
    // A table is sent while it is made: its tag is of what it is made from.
    if (path.endsWith('.csv')) expect(headers.etag).toMatch(/^"[0-9a-f]{64}"$/)
    else expect(headers.etag).toBe(`"${createHash('sha256').update(bytes).digest('hex')}"`)
    const head = await service.client.send('HEAD', filled(path))
    expect(head.headers.etag).toMatch(/^"[0-9a-f]{64}"$/)
    // Measurements change with every answer.
    if (path !== '/metrics') expect(head.headers.etag).toBe(headers.etag)
  })

  test('answers 304 to `fetch`, which sends Cache-Control: no-cache with a condition', async () => {
    const first = await fetch(service.url + filled(path))
    const condition = path === '/metrics' ? '*' : first.headers.get('etag')!
    for (const method of ['GET', 'HEAD']) {
      const again = await fetch(service.url + filled(path), {
        method,
        headers: { 'If-None-Match': condition },
      })
      expect(again.status).toBe(304)
      expect(await again.text()).toBe('')
      expect(again.headers.get('content-type')).toBeNull()
      for (const name of ['cache-control', 'vary', 'x-service-signature', 'access-control-allow-origin'])
        expect(again.headers.get(name), name).toBe(first.headers.get(name))
      if (path !== '/metrics') expect(again.headers.get('etag')).toBe(first.headers.get('etag'))
    }
  })
})

describe('a question', () => {
  test('has another tag once its status is another', async () => {
    const store = new MemoryStore()
    const clock = new Clock(NOW)
    const components = await testComponents({ store, folder, clock })
    await copyReleasedWorld(store)
    const own = await startTestService(components)
    try {
      const open = await own.client.get(`/questions/${QUESTION.open}`)
      clock.set('2099-01-01T00:00:00.000Z')
      const condition = { 'If-None-Match': open.headers.etag! }
      expect((await own.client.get(`/questions/${QUESTION.open}`, condition)).status).toBe(200)
    } finally {
      await own.stop()
    }
  })
})

describe('what is no success of a GET', () => {
  test('has no tag, and a condition does not change it', async () => {
    const missing = await service.client.get('/nowhere', { 'If-None-Match': '*' })
    expect(missing.status).toBe(404)
    expect(missing.headers).not.toHaveProperty('etag')
    const body = { entity_type: 'agent', ids: [agentId] }
    const bulk = await service.client.post('/verification/bulk', body, { 'If-None-Match': '*' })
    expect(bulk.status).toBe(200)
    expect(bulk.headers).not.toHaveProperty('etag')
  })
})

describe('an If-None-Match', () => {
  const tag = '"a,b"'

  test.for([
    ['"a,b"', true],
    ['W/"a,b"', true],
    ['"x", W/"y" ,"a,b"', true],
    ['*', true],
    [' * ', true],
    [undefined, false],
    ['', false],
    ['"a"', false],
    ['a,b', false],
    ['"a', false],
    ['w/"a,b"', false],
    ['"a,b', false],
    ['"*"', false],
    ['"x", *', false],
    ['"x"a,b"', false],
  ] as const)('%j names the tag: %j', ([header, named]) => {
    expect(isNamedBy(header, tag)).toBe(named)
  })
})

test('equal bytes have equal tags, whoever holds them', () => {
  expect(entityTag(Buffer.from('a'))).toBe(entityTag(new TextEncoder().encode('a')))
})
