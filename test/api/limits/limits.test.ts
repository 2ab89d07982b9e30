// Limits by address and by agent: what counts, for how long, from where, and what every answer says of it.
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Limits } from '../../../api/limits/limits.ts'
import { countInMemory } from '../../../api/limits/memory-counter.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { parseSettings, settingsOf } from '../../../schemas/config.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { BULK, FOUND, MISSING, bulkOf, expectLimited, quotaIn } from '../../support/http/counted-calls.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { suiteFolder } from '../../support/folder.ts'
import { inboxRows } from '../../support/inbox-rows.ts'
import { MONTH_S, REST_OF_MONTH_S, limitedService } from '../../support/http/limited-service.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { type Answer, type Client, bearer } from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { NOW, QUESTION, forecasterId, copyReleasedWorld, uuidOf } from '../../support/worlds/world.ts'

const folder = await suiteFolder()
const released = new MemoryStore()
let agent: { agentId: string; key: string }
beforeAll(async () => {
  agent = await copyReleasedWorld(released)
})

/** A service over the released world with the usual limits, but for those that stand in the settings. */
const served = (settings: Record<string, string> = {}, store: Store = copyOf(released)) =>
  limitedService({ store, folder, settings })

const register = (client: Client, name = 'an agent', headers = {}) =>
  client.post('/agents/register', { name, model_type: 'm' }, headers)
const submit = (client: Client, probability: number, question = QUESTION.open) =>
  client.post(`/agents/${agent.agentId}/forecast`, { question_id: question, probability }, bearer(agent.key))

describe('calls that no other limit counts', () => {
  test.for(['/livez', '/readyz', '/metrics', '/readyz?x=1', '/nowhere', '/sandbox/livez'])(
    'are limited by address, apart from all others: GET %s',
    { tags: ['slow'] },
    async (path) => {
      const settings = { OTHER_CALLS_PER_MINUTE: '2', SANDBOX_OTHER_CALLS_PER_MINUTE: '2' }
      const { client } = await served(settings)
      const first = await client.get(path)
      expect([200, 404, 422]).toContain(first.status)
      await client.get(path)
      expect(expectLimited(await client.get(path), 'other-calls').quota).toBe(2)
      expect((await client.get('/questions')).status).toBe(200)
    },
  )

  test.for([
    ['OPTIONS', '/questions', 204],
    ['OPTIONS', '/agents/register', 204],
    ['DELETE', '/questions', 405],
  ] as const)('are those by another method: %s %s', async ([method, path, status]) => {
    const { client } = await served({ OTHER_CALLS_PER_MINUTE: '1' })
    const headers = { 'Access-Control-Request-Method': 'GET' }
    expect((await client.send(method, path, { headers })).status).toBe(status)
    expectLimited(await client.send(method, path, { headers }), 'other-calls')
  })

  test('may be many, and do not fail where attempts are used up', async () => {
    const { client } = await served({ ATTEMPTS_PER_MINUTE: '1' })
    await client.get('/questions?x=1')
    expectLimited(await client.get('/questions'), 'attempts')
    expect(quotaIn(await client.get('/livez'))).toMatchObject({
      policy: 'other-calls',
      quota: 6_000,
      windowS: 60,
    })
  })
})

test('a limit of 0 is none: such an answer tells no limit', async () => {
  const none = { OTHER_CALLS_PER_MINUTE: '0', ADDRESS_FORECASTS_PER_MINUTE: '0' }
  const { client } = await served(none)
  const { status, headers } = await client.get('/livez')
  expect(status).toBe(200)
  expect(headers).not.toHaveProperty('ratelimit')
  expect((await submit(client, 0.5)).status).toBe(200)
})

describe('a call that keeps the service busy counts as several', () => {
  /** As how many calls each of these counts that follow one another from one address. */
  async function counted(
    client: Client,
    paths: readonly string[],
    headers = {},
    limit = 'reads',
  ): Promise<number[]> {
    const calls: number[] = []
    let left = 600
    for (const path of paths) {
      const answer = await client.get(path, headers)
      expect(answer.status, path).toBe(200)
      const { policy, remaining } = quotaIn(answer)
      expect(policy).toBe(limit)
      calls.push(left - remaining)
      left = remaining
    }
    return calls
  }

  test.for(['/questions', '/leaderboard/forecaster', `/forecaster/${forecasterId(0)}/scores`])(
    'by the entries of a page: %s',
    async (path) => {
      const { client } = await served()
      const sizes = ['', '?limit=1', '?limit=100', '?limit=101', '?limit=1000']
      expect(
        await counted(
          client,
          sizes.map((size) => path + size),
        ),
      ).toEqual([1, 1, 1, 3, 20])
    },
  )

  test('by the entries of a page of current forecasts', async () => {
    const { client } = await served()
    const path = `/agents/${agent.agentId}/forecasts`
    expect(await counted(client, [path, `${path}?limit=1000`], bearer(agent.key))).toEqual([1, 20])
  })

  test('and is refused whole where not so many are left', async () => {
    const { client } = await served({ READS_PER_MINUTE: '21' })
    expect((await client.get('/questions?limit=1000')).status).toBe(200)
    expect((await client.get('/questions?limit=1000')).status).toBe(429)
    expect(quotaIn(await client.get('/questions'))).toMatchObject({ policy: 'reads', remaining: 0 })
  })

  test('by the questions of a profile, when it has to be rendered', async () => {
    const { client } = await served()
    const path = `/view/forecasters/${forecasterId(0)}`
    const [first, again] = await counted(client, [path, path], {}, 'pages')
    const { resolved_questions: settled, pending_questions: pending } = (await client.get(FOUND)).json<
      Record<string, number>
    >()
    // Besides, it reads the file of the person, and no day before the release.
    expect(first).toBe(1 + 2 + Math.ceil((settled! + pending!) / 300))
    expect(again).toBe(1)
  })

  test('by what is read or drawn first', { tags: ['slow'] }, async () => {
    const person = `/forecaster/${forecasterId(0)}`
    for (const [path, first] of [
      [`${person}/metrics`, 1 + 2],
      [`${person}/card.svg`, 1 + 2],
      [`${person}/card.png`, 1 + 2 + 7],
      [`/snapshots${person}`, 1 + 1],
      [`/agents/${agent.agentId}/report`, 1 + 2 + 20],
    ] as const) {
      const { client } = await served()
      expect([path, await counted(client, [path, path])]).toEqual([path, [first, 1]])
    }
  })

  test('but for a verification, which is always one', async () => {
    const { client } = await served()
    expect(quotaIn(await client.get(FOUND)).remaining).toBe(19)
  })

  test('by the questions of a page with texts, of which the first has to read them', async () => {
    const { client } = await served()
    const path = '/questions?include=texts'
    const counts = await counted(client, [path, path, `${path}&limit=1000`, `${path}&limit=11`])
    expect(counts.slice(1)).toEqual([10, 10, 2])
    expect(counts[0]).toBeGreaterThan(counts[1]!)
  })

  test('when the texts of a question have to be read', async () => {
    const { client } = await served()
    const path = `/questions/${QUESTION.open}`
    expect(await counted(client, [path, path])).toEqual([4, 1])
  })
})

describe('forecasts are limited by address, too', () => {
  test('of all agents there together, those of a batch one by one', async () => {
    const { client } = await served({ ADDRESS_FORECASTS_PER_MINUTE: '4' })
    const other = (await register(client)).json<{ agent_id: string; api_key: string }>()
    const forecasts = [QUESTION.open, QUESTION.closed].map((question_id) => ({
      question_id,
      probability: 0.5,
    }))
    const batch = () =>
      client.post(`/agents/${other.agent_id}/forecasts`, { forecasts }, bearer(other.api_key))
    expect(quotaIn(await submit(client, 0.5))).toEqual({
      policy: 'forecasts-by-address',
      quota: 4,
      windowS: 60,
      remaining: 3,
      resetS: 60,
    })
    expect((await batch()).status).toBe(200)
    expect((await batch()).status).toBe(429)
    expect((await submit(client, 0.6)).status).toBe(200)
    expectLimited(await submit(client, 0.7), 'forecasts-by-address')
  })
})

describe('every limited call says how its caller stands', () => {
  test('by the limits that hold where nothing else is set', async () => {
    const { client } = await served()
    expect(quotaIn(await register(client))).toEqual({
      policy: 'registrations',
      quota: 10,
      windowS: 3600,
      remaining: 9,
      resetS: 3600,
    })
    // 120 a minute, of which 240 may come at once.
    expect(quotaIn(await submit(client, 0.5))).toEqual({
      policy: 'forecasts',
      quota: 240,
      windowS: 120,
      remaining: 239,
      resetS: 120,
    })
    expect(quotaIn(await client.get(FOUND))).toEqual({
      policy: 'verifications',
      quota: 20,
      windowS: 60,
      remaining: 19,
      resetS: 60,
    })
    expect(quotaIn(await client.get('/questions'))).toEqual({
      policy: 'reads',
      quota: 600,
      windowS: 60,
      remaining: 599,
      resetS: 60,
    })
  })

  test('by those that are set', async () => {
    const { client } = await served({
      REGISTRATIONS_PER_HOUR: '7',
      FORECASTS_PER_MINUTE: '30',
      FORECASTS_BURST: '45',
      ANONYMOUS_PER_MINUTE: '8',
    })
    expect(quotaIn(await register(client))).toMatchObject({ quota: 7, windowS: 3600 })
    expect(quotaIn(await submit(client, 0.5))).toMatchObject({ quota: 45, windowS: 90 })
    expect(quotaIn(await client.get(FOUND))).toMatchObject({ quota: 8, windowS: 60 })
  })

  test('with the rate for the burst where a smaller burst is set', async () => {
    const { client } = await served({ FORECASTS_PER_MINUTE: '30', FORECASTS_BURST: '5' })
    expect(quotaIn(await submit(client, 0.5))).toMatchObject({ quota: 30, windowS: 60 })
  })

  test('also when it fails, and then it costs nothing', async () => {
    const { client } = await served()
    const failures = [
      await client.post('/agents/register', { name: '' }),
      await submit(client, 2),
      await submit(client, 0.5, QUESTION.closed),
      await client.post(`/agents/${forecasterId(0)}/forecast`, {}, bearer(agent.key)),
      await client.get(MISSING),
      await client.get(`${FOUND}?x=1`),
      await client.post(BULK, '{'),
      await client.get(MISSING.replace('verification', 'metrics')),
    ]
    const quotas = failures.map((answer) => {
      const { policy, quota, remaining } = quotaIn(answer)
      return [answer.status, policy, quota - remaining]
    })
    expect(quotas).toEqual([
      [422, 'registrations', 0],
      [422, 'forecasts', 0],
      [409, 'forecasts', 0],
      [422, 'forecasts', 0],
      [404, 'verifications', 0],
      [422, 'verifications', 0],
      [400, 'verifications', 0],
      [404, 'reads', 0],
    ])
  })

  test('but one without the key that it needs', async () => {
    const { client } = await served()
    const noKey = await client.post(`/agents/${agent.agentId}/forecast`, {})
    expectProblem(noKey, 401, /no API key/)
    expect(noKey.headers).not.toHaveProperty('ratelimit-policy')
  })
})

describe('verifications without a key', () => {
  test('are 20 a minute from an address, of all kinds together', async () => {
    const { client } = await served()
    const calls = [
      () => client.get(FOUND),
      () => client.send('HEAD', FOUND),
      () => client.post(BULK, bulkOf(10)),
      () => client.get(FOUND, { 'If-None-Match': '*' }),
    ]
    const statuses: number[] = []
    for (let call = 0; call < 20; call++) {
      const answer = await calls[call % calls.length]!()
      expect(quotaIn(answer).remaining).toBe(19 - call)
      statuses.push(answer.status)
    }
    expect(statuses.slice(0, 4)).toEqual([200, 200, 200, 304])
    for (const refused of [
      await client.get(FOUND),
      await client.post(BULK, bulkOf(1)),
      await client.get(MISSING),
    ]) {
      const { resetS } = expectLimited(refused, 'verifications')
      expect(resetS).toBeGreaterThan(0)
      expect(resetS).toBeLessThanOrEqual(60)
    }
    expect((await client.get(FOUND.replace('verification', 'metrics'))).status).toBe(200)
  })

  test('are exactly as many as are allowed when they come all at once', async () => {
    const { client } = await served({ ANONYMOUS_PER_MINUTE: '40' })
    const answers = await Promise.all(Array.from({ length: 100 }, () => client.get(FOUND)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(40)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(60)
  })

  test('are those of the free tier for the month, of which failures cost nothing', async () => {
    const { client, clock } = await served({ ANONYMOUS_PER_MONTH: '3', ANONYMOUS_PER_MINUTE: '5' })
    const quotas: unknown[] = []
    for (const path of [FOUND, MISSING, FOUND, FOUND]) {
      const { policy, remaining } = quotaIn(await client.get(path))
      quotas.push([policy, remaining])
    }
    const month = 'monthly-calls-by-address'
    expect(quotas).toEqual([
      [month, 2],
      [month, 2],
      [month, 1],
      [month, 0],
    ])
    // Refused by the month, a call leaves the minute as it is.
    for (let call = 0; call < 6; call++) {
      const refused = await client.get(FOUND)
      expect(expectLimited(refused, month)).toMatchObject({
        quota: 3,
        windowS: MONTH_S,
        resetS: REST_OF_MONTH_S,
      })
      expect(refused.text).toContain('of this address without a key for this month are used up')
    }
    clock.set('2026-04-01T00:00:00.000Z')
    expect(quotaIn(await client.get(FOUND))).toMatchObject({ policy: 'verifications', remaining: 1 })
  })

  test('are 100 a month where nothing else is set, and leave nothing in the store', async () => {
    const { client, components, stop } = await served({ ANONYMOUS_PER_MINUTE: '1000' })
    for (let call = 0; call < 100; call++) expect((await client.get(FOUND)).status).toBe(200)
    expectLimited(await client.get(FOUND), 'monthly-calls-by-address')
    await stop()
    expect(await inboxRows(components.store, 'usage')).toEqual([])
  })
})

describe('reads', () => {
  const paths = [
    FOUND.replace('verification', 'metrics'),
    FOUND.replace('verification', 'rankings'),
    FOUND.replace('verification', 'advanced-metrics'),
    `/snapshots/forecaster/${forecasterId(0)}`,
    '/questions?status=open',
    `/questions/${QUESTION.open}`,
    '/methodology',
    '/methodology/version',
    '/openapi.json',
    '/releases.atom',
  ]

  test(
    'of all kinds together have one limit for an address, whatever key is sent',
    { tags: ['slow'] },
    async () => {
      // The first calls for a person, for days and for a question have to read them.
      const more: Record<string, number> = { [paths[0]!]: 2, [paths[3]!]: 1, [paths[5]!]: 3 }
      const quota = 2 * paths.length + 2 + 1 + 3
      const { client, newKey } = await served({ READS_PER_MINUTE: String(quota) })
      const key = { 'X-API-Key': await newKey() }
      let left = quota
      for (const path of paths) {
        for (const headers of [{}, key]) {
          const answer = await client.get(path, headers)
          left -= 1 + (headers === key ? 0 : (more[path] ?? 0))
          expect(answer.status, path).toBe(200)
          expect(quotaIn(answer)).toMatchObject({ policy: 'reads', remaining: left })
        }
      }
      for (const path of paths) expectLimited(await client.get(path, key), 'reads')
      expect((await client.get(FOUND)).status).toBe(200)
      expect((await register(client)).status).toBe(201)
    },
  )

  test('that fail are counted as attempts alone', async () => {
    const { client } = await served({ READS_PER_MINUTE: '1', ATTEMPTS_PER_MINUTE: '3' })
    for (const path of ['/questions?limit=0', `/questions/${uuidOf(9, 9)}`]) {
      expect(quotaIn(await client.get(path)).remaining).toBe(1)
    }
    expect((await client.get('/questions')).status).toBe(200)
    expectLimited(await client.get('/questions'), 'reads')
  })
})

describe('registrations', () => {
  test('are ten an hour from an address; the one too many leaves no trace', async () => {
    const { client, components } = await served()
    for (let call = 0; call < 10; call++) expect((await register(client)).status).toBe(201)
    const before = (await Array.fromAsync(components.store.list(''))).length
    const { resetS } = expectLimited(await register(client), 'registrations')
    expect(resetS).toBeLessThanOrEqual(3600)
    expect((await Array.fromAsync(components.store.list(''))).length).toBe(before)
    expect(await inboxRows(components.store, 'agents')).toHaveLength(10)
  })

  test('that fail do not count', async () => {
    let broken = false
    const store = new FaultStore(copyOf(released), {
      before: ({ operation }) => {
        if (broken && operation === 'putIfAbsent') throw new ServiceError('unavailable', 'injected')
      },
    })
    const { client } = await served({ REGISTRATIONS_PER_HOUR: '2' }, store)
    const failures: Answer[] = [
      await client.post('/agents/register', '{'),
      await register(client, ''),
      await register(client, 'a', { 'Idempotency-Key': '"guessable"' }),
    ]
    broken = true
    failures.push(await register(client))
    broken = false
    expect(failures.map(({ status }) => status)).toEqual([400, 422, 422, 503])
    for (const failure of failures) expect(quotaIn(failure)).toMatchObject({ quota: 2, remaining: 2 })
    for (const left of [1, 0]) {
      const registered = await register(client)
      expect([registered.status, quotaIn(registered).remaining]).toEqual([201, left])
    }
    expectLimited(await register(client), 'registrations')
  })

  test('that are repeated by their Idempotency-Key count once, also when none is left', async () => {
    const { client } = await served({ REGISTRATIONS_PER_HOUR: '2' })
    const once = { 'Idempotency-Key': uuidOf(7, 1) }
    const first = await register(client, 'a', once)
    expect([first.status, quotaIn(first).remaining]).toEqual([201, 1])
    const again = await register(client, 'a', once)
    expect([again.status, quotaIn(again).remaining]).toEqual([201, 1])
    expect(again.text).toBe(first.text)
    expect((await register(client)).status).toBe(201)
    const late = await register(client, 'a', once)
    expect([late.status, quotaIn(late).remaining]).toEqual([201, 0])
    expect(late.text).toBe(first.text)
    expectLimited(await register(client, 'a', { 'Idempotency-Key': uuidOf(7, 2) }), 'registrations')
    expectLimited(await register(client), 'registrations')
  })

  test('that fail leave their place to others, also after others were refused meanwhile', async () => {
    const arrived = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    onTestFinished(() => {
      gate.resolve()
    })
    let first = true
    const store = new FaultStore(copyOf(released), {
      before: async ({ operation }) => {
        if (operation !== 'putIfAbsent' || !first) return
        first = false
        arrived.resolve()
        await gate.promise
        throw new ServiceError('unavailable', 'injected')
      },
    })
    const { client } = await served({ REGISTRATIONS_PER_HOUR: '1' }, store)
    const failing = register(client)
    await arrived.promise
    for (let call = 0; call < 3; call++) expectLimited(await register(client), 'registrations')
    gate.resolve()
    expect((await failing).status).toBe(503)
    expect((await register(client)).status).toBe(201)
    expectLimited(await register(client), 'registrations')
  })
})

describe('forecasts', () => {
  test('are limited by agent, those that fail cost nothing, and the one too many is not recorded', async () => {
    const { client, components } = await served({ FORECASTS_PER_MINUTE: '1', FORECASTS_BURST: '2' })
    const other = (await register(client)).json<{ agent_id: string; api_key: string }>()
    const answers = [
      await submit(client, 0.1),
      await submit(client, 2),
      await submit(client, 0.2, QUESTION.closed),
      await submit(client, 0.3),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 422, 409, 200])
    expect(answers.map((answer) => quotaIn(answer).remaining)).toEqual([1, 1, 1, 0])
    expect(expectLimited(await submit(client, 0.4), 'forecasts')).toMatchObject({ quota: 2, windowS: 120 })
    const its = await client.post(
      `/agents/${other.agent_id}/forecast`,
      { question_id: QUESTION.open, probability: 0.5 },
      bearer(other.api_key),
    )
    expect([its.status, quotaIn(its).remaining]).toEqual([200, 1])
    const recorded = await inboxRows(components.store, 'forecasts')
    expect(recorded.map(({ probability }) => probability)).toEqual([0.1, 0.3, 0.5])
  })

  test('are 240 at once', { tags: ['slow'] }, async () => {
    const { client } = await served()
    const answers = await Promise.all(Array.from({ length: 250 }, (_, index) => submit(client, index / 1000)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(240)
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  })
})

const monotonicMs = () => performance.now()

describe('a window', () => {
  function clockedLimits() {
    vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'], now: new Date(NOW) })
    onTestFinished(() => void vi.useRealTimers())
    const settings = settingsOf(
      parseSettings({ REGISTRATIONS_PER_HOUR: '2', ANONYMOUS_PER_MINUTE: '2' }),
      'production',
    )
    const limits = new Limits({
      environment: 'production',
      settings,
      quotas: countInMemory(monotonicMs),
      now: () => new Date(),
      monotonicMs,
    })
    const networks = [{ name: '1.2.3.4', times: 1 }]
    return {
      verify: () => limits.admit('verification', { kind: 'anonymous' }, networks),
      register: () => limits.admit('register', { kind: 'anonymous' }, networks),
    }
  }

  test('begins with the first call, ends when it says, and then everything is allowed again', async () => {
    const { verify } = clockedLimits()
    expect(await verify()).toMatchObject({ admitted: true, state: { remaining: 1, resetS: 60 } })
    vi.advanceTimersByTime(45_500)
    expect(await verify()).toMatchObject({ admitted: true, state: { remaining: 0, resetS: 15 } })
    expect(await verify()).toMatchObject({ admitted: false, state: { remaining: 0, resetS: 15 } })
    vi.advanceTimersByTime(14_499)
    expect(await verify()).toMatchObject({ admitted: false, state: { resetS: 1 } })
    vi.advanceTimersByTime(1)
    expect(await verify()).toMatchObject({ admitted: true, state: { remaining: 1, resetS: 60 } })
  })

  test('that is over takes nothing back, neither of the next nor of none', async () => {
    const { register: admit } = clockedLimits()
    const [first, second] = [await admit(), await admit()]
    vi.advanceTimersByTime(3_600_000)
    await first.takeBack()
    expect(await admit()).toMatchObject({ admitted: true, state: { remaining: 1 } })
    await second.takeBack()
    expect(await admit()).toMatchObject({ admitted: true, state: { remaining: 0 } })
    expect(await admit()).toMatchObject({ admitted: false })
  })

  test('is as long as it says whatever time the clock is set to', async () => {
    const { register: admit } = clockedLimits()
    expect(await admit()).toMatchObject({ admitted: true, state: { remaining: 1, resetS: 3600 } })
    for (const hours of [1, 24, -24]) {
      vi.setSystemTime(new Date(Date.parse(NOW) + hours * 3_600_000))
      const { takeBack, ...admission } = await admit()
      expect(admission).toMatchObject({ admitted: true, state: { remaining: 0, resetS: 3600 } })
      await takeBack()
    }
  })
})

test('a counter counts nothing for a call that is one too many', async () => {
  const counter = countInMemory(monotonicMs).counter({ name: 'calls', durationS: 60, mostCallers: 1 })
  const consumed = async () => (await counter.consume('someone', 1, 1)).used
  // With the refused ones counted, even until they are given back, the call after one that failed would be
  // refused.
  expect([await consumed(), await consumed(), await consumed()]).toEqual([1, 2, 2])
  await counter.giveBack('someone')
  expect(await consumed()).toBe(1)
})

test('counts in memory are those of the callers that called last, however many there are', async () => {
  const counter = countInMemory(monotonicMs).counter({ name: 'test', durationS: 60, mostCallers: 3 })
  const count = async (caller: string) => (await counter.consume(caller)).used
  for (const caller of ['a', 'b', 'c', 'a']) await count(caller)
  // The fourth caller takes the place of the one that has not called for longest.
  expect([await count('d'), await count('a'), await count('c'), await count('b')]).toEqual([1, 3, 2, 1])
})
