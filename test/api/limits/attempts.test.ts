// Calls that fail: whose attempts they are, how many there may be, and what is not done for those that are
// too many.
import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { newApiKey } from '../../../pipeline/access/api-key.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import {
  BULK,
  FOUND,
  MISSING,
  bulkOf,
  expectLimited,
  quotaIn,
  withKey,
} from '../../support/http/counted-calls.ts'
import { FaultStore, madeByCalls } from '../../support/faults/fault-store.ts'
import { suiteFolder } from '../../support/folder.ts'
import { limitedService } from '../../support/http/limited-service.ts'
import { type Answer, type Client, bearer } from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { QUESTION, copyReleasedWorld, forecasterId, uuidOf } from '../../support/worlds/world.ts'

const folder = await suiteFolder()
const released = new MemoryStore()
let agent: { agentId: string; key: string }
beforeAll(async () => {
  agent = await copyReleasedWorld(released)
})

const served = async (settings: Record<string, string> = {}) => {
  const store = new FaultStore(copyOf(released))
  const service = await limitedService({ store, folder, settings: { REFRESH_MS: '60000', ...settings } })
  store.calls.length = 0
  return { ...service, calls: () => madeByCalls(store) }
}
const wrongKey = () => newApiKey('production', randomBytes).key
const from = (address: string) => ({ 'X-Forwarded-For': address })

async function statusesOf(
  times: number,
  call: (index: number) => Promise<Answer>,
): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (let index = 0; index < times; index++) {
    const { status } = await call(index)
    counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

describe('an attempt is every kind of call that fails by the doing of its caller:', () => {
  test.for<[string, number, (client: Client) => Promise<Answer>]>([
    ['what there is not', 404, (client) => client.get(MISSING)],
    ['an agent nobody registered', 404, (client) => client.get(`/agents/${uuidOf(9, 9)}/metrics`)],
    ['an id that is none', 422, (client) => client.get('/questions/x')],
    ['an unknown parameter', 422, (client) => client.get('/questions?x=1')],
    ['a wrong value', 422, (client) => client.post('/agents/register', { name: '' })],
    ['too many ids', 422, (client) => client.post(BULK, bulkOf(11))],
    ['half a body', 400, (client) => client.post(BULK, '{')],
    ['another media type', 415, (client) => client.post(BULK, '', { 'Content-Type': 'a/b' })],
    ['no key', 401, (client) => client.post(`/agents/${uuidOf(9, 9)}/forecast`, {})],
    ['a key of no form', 401, (client) => client.get(FOUND, withKey('nonsense'))],
    ['a key that was never given', 401, (client) => client.get(FOUND, withKey(wrongKey()))],
  ])('%s', { tags: ['slow'] }, async ([, status, call]) => {
    const { client } = await served({ ATTEMPTS_PER_MINUTE: '3' })
    expect(await statusesOf(5, () => call(client))).toEqual({ [status]: 3, 429: 2 })
    expect(expectLimited(await client.get(FOUND), 'attempts')).toMatchObject({ quota: 3, windowS: 60 })
  })

  test('and no other: neither success, nor a call too many, nor a failure of the service', async () => {
    let broken = false
    const store = new FaultStore(copyOf(released), {
      before: ({ path }) => {
        if (broken && path.startsWith('registry/keys/')) throw new ServiceError('unavailable', 'injected')
      },
    })
    const { client } = await limitedService({
      store,
      folder,
      settings: { ATTEMPTS_PER_MINUTE: '1', ANONYMOUS_PER_MINUTE: '2' },
    })
    broken = true
    expect(await statusesOf(3, () => client.get(`/agents/${uuidOf(9, 9)}/metrics`))).toEqual({ 503: 3 })
    broken = false
    expect(await statusesOf(5, () => client.get(FOUND))).toEqual({ 200: 2, 429: 3 })
    expectLimited(await client.get(FOUND), 'verifications')
    expect(await statusesOf(3, () => client.get('/questions'))).toEqual({ 200: 3 })
  })

  test('60 a minute where nothing else is set', async () => {
    const { client } = await served()
    expect(await statusesOf(70, () => client.get('/questions/x'))).toEqual({ 422: 60, 429: 10 })
  })
})

describe('a good key', () => {
  test('has attempts of its own, which all its calls share', async () => {
    const { client, newKey } = await served({ ATTEMPTS_PER_MINUTE: '4' })
    const [first, second] = [withKey(await newKey()), withKey(await newKey())]
    const failures = [
      () => client.get(MISSING, first),
      () => client.get(`${FOUND}?x=1`, first),
      () => client.post(BULK, '{', first),
      () => client.post(BULK, bulkOf(11), first),
    ]
    for (const fail of failures) expect(quotaIn(await fail()).remaining).toBe(100)
    expectLimited(await client.get(FOUND, first), 'attempts')
    expect(quotaIn(await client.get(FOUND, second)).remaining).toBe(99)
    expect(quotaIn(await client.get(FOUND)).remaining).toBe(19)
  })

  test('of an agent too: its forecasts that fail cost attempts and no forecasts', async () => {
    const { client } = await served({
      ATTEMPTS_PER_MINUTE: '3',
      FORECASTS_PER_MINUTE: '5',
      FORECASTS_BURST: '5',
    })
    const submit = (question: string) =>
      client.post(
        `/agents/${agent.agentId}/forecast`,
        { question_id: question, probability: 0.5 },
        bearer(agent.key),
      )
    expect(await statusesOf(3, () => submit(QUESTION.closed))).toEqual({ 409: 3 })
    expectLimited(await submit(QUESTION.open), 'attempts')
    expectLimited(await client.get(FOUND, withKey(agent.key)), 'attempts')
    expect((await client.get(FOUND)).status).toBe(200)
  })

  test('is served though its address has no attempt left', async () => {
    const { client, newKey } = await served({ ATTEMPTS_PER_MINUTE: '2' })
    const key = withKey(await newKey())
    expect((await client.get(FOUND, key)).status).toBe(200)
    expect(await statusesOf(3, () => client.get('/questions/x'))).toEqual({ 422: 2, 429: 1 })
    expect((await client.get(FOUND, key)).status).toBe(200)
  })
})

describe('keys that nobody was given', () => {
  test(
    'cause no more look-ups than an address has attempts, one after another',
    { tags: ['slow'] },
    async () => {
      const { client, calls } = await served({ ATTEMPTS_PER_MINUTE: '10' })
      expect(await statusesOf(300, () => client.get(FOUND, withKey(wrongKey())))).toEqual({
        401: 10,
        429: 290,
      })
      expect(calls()).toHaveLength(10)
    },
  )

  test('nor when they come all at once, by any header', { tags: ['slow'] }, async () => {
    const { client, calls } = await served({ ATTEMPTS_PER_MINUTE: '10' })
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        index % 2 === 0
          ? client.get(FOUND, withKey(wrongKey()))
          : client.post(`/agents/${agent.agentId}/forecast`, {}, bearer(wrongKey())),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]))
    for (const answer of answers) if (answer.status === 429) expectLimited(answer, 'attempts')
    expect(calls().length).toBeLessThanOrEqual(10)
  })

  test('leave other addresses alone', async () => {
    const { client } = await served({ ATTEMPTS_PER_MINUTE: '3', TRUSTED_PROXIES: 'loopback' })
    const wrong = () => client.get(FOUND, { ...withKey(wrongKey()), ...from('192.0.2.1') })
    expect(await statusesOf(5, wrong)).toEqual({ 401: 3, 429: 2 })
    expect((await client.get(FOUND, from('192.0.2.2'))).status).toBe(200)
  })
})

test('a good key that comes in many calls at once is looked up once, and costs no attempt', async () => {
  const { client, newKey, calls } = await served({ ATTEMPTS_PER_MINUTE: '1' })
  const key = withKey(await newKey())
  const before = calls().length
  const answers = await Promise.all(Array.from({ length: 60 }, () => client.get(FOUND, key)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(
    calls()
      .slice(before)
      .filter(({ path }) => path.startsWith('registry/')),
  ).toHaveLength(1)
  expect((await client.get(`/forecaster/${forecasterId(0)}/metrics`)).status).toBe(200)
})

describe('a reader at an address without attempts', () => {
  const BROWSER = { Accept: 'text/html' }
  const PROFILE = `/view/forecasters/${forecasterId(0)}`

  test(
    'is shown every page with its style, also one that nobody has asked for',
    { tags: ['slow'] },
    async () => {
      const { client } = await served({ ATTEMPTS_PER_MINUTE: '3' })
      expect(await statusesOf(5, () => client.get(FOUND, withKey(wrongKey())))).toEqual({ 401: 3, 429: 2 })
      const profile = await client.get(PROFILE, BROWSER)
      const style = /href="(\/assets\/[^"]+style\.css)"/.exec(profile.text)![1]!
      const pages = ['/', PROFILE, `${PROFILE}/questions.csv`, '/view/terms', '/view/search?q=a', '/docs']
      for (const path of [...pages, style, '/favicon.ico', '/robots.txt']) {
        expect([path, (await client.get(path, BROWSER)).status]).toEqual([path, 200])
      }
      expectLimited(await client.get('/questions'), 'attempts')
    },
  )

  test('is refused on a page of its own where there were too many pages, of which failed ones count', async () => {
    const { client } = await served({ PAGES_PER_MINUTE: '3', ATTEMPTS_PER_MINUTE: '1' })
    const failing = ['/view/questions/x', `/view/questions/${uuidOf(9, 9)}`, '/view/terms?x=1']
    for (const [nth, path] of failing.entries()) {
      expect(quotaIn(await client.get(path, BROWSER))).toMatchObject({ policy: 'pages', remaining: 2 - nth })
    }
    for (const path of [...failing, '/view/terms']) {
      expectLimited(await client.get(path), 'pages')
      const refused = await client.get(path, BROWSER)
      expect(refused.status).toBe(429)
      expect(refused.headers['content-type']).toBe('text/html; charset=utf-8')
      expect(refused.text).toMatch(/at most 3 pages a minute .+; try again in \d+ s/)
    }
    expect((await client.get('/questions')).status).toBe(200)
  })

  test('learns nothing of a key, which no page looks at', async () => {
    const { client, calls } = await served({ ATTEMPTS_PER_MINUTE: '3' })
    expect(await statusesOf(6, () => client.get('/view/terms', withKey(wrongKey())))).toEqual({ 200: 6 })
    expect(calls().filter(({ path }) => path.startsWith('registry/keys/'))).toEqual([])
  })
})

describe('a good key on a call that needs none', () => {
  test('pays for its failures itself, and has no attempt left anywhere then', async () => {
    const { client } = await served({ ATTEMPTS_PER_MINUTE: '3' })
    const own = withKey(agent.key)
    expect(await statusesOf(5, () => client.get('/questions/x', own))).toEqual({ 422: 3, 429: 2 })
    expectLimited(await client.get('/leaderboard/agent', own), 'attempts')
    expect((await client.get('/leaderboard/agent')).status).toBe(200)
    expect((await client.get(FOUND)).status).toBe(200)
  })
})
