// Limits by address and by agent: what counts, for how long, from where, and what every answer says of it.
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { countInMemory } from '../../../api/limits/counters.ts'
import { Limits } from '../../../api/limits/limits.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { parseSettings, settingsOf } from '../../../schemas/config.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { BULK, FOUND, MISSING, bulkOf, expectLimited, standingOf } from '../../support/counted-calls.ts'
import { FaultStore } from '../../support/fault-store.ts'
import { suiteFolder } from '../../support/folder.ts'
import { inboxRows } from '../../support/inbox-rows.ts'
import { limitedService } from '../../support/limited-service.ts'
import { expectProblem } from '../../support/problem.ts'
import { type Answer, type Client, bearer } from '../../support/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { NOW, QUESTION, forecasterId, copyReleasedWorld } from '../../support/world.ts'

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

describe('every limited call says how its caller stands', () => {
  test('by the limits that hold where nothing else is set', async () => {
    const { client } = await served()
    expect(standingOf(await register(client))).toEqual({
      policy: 'registrations',
      quota: 10,
      windowS: 3600,
      remaining: 9,
      resetS: 3600,
    })
    // 120 a minute, of which 240 may come at once.
    expect(standingOf(await submit(client, 0.5))).toEqual({
      policy: 'forecasts',
      quota: 240,
      windowS: 120,
      remaining: 239,
      resetS: 120,
    })
    expect(standingOf(await client.get(FOUND))).toEqual({
      policy: 'verifications',
      quota: 60,
      windowS: 60,
      remaining: 59,
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
    expect(standingOf(await register(client))).toMatchObject({ quota: 7, windowS: 3600 })
    expect(standingOf(await submit(client, 0.5))).toMatchObject({ quota: 45, windowS: 90 })
    expect(standingOf(await client.get(FOUND))).toMatchObject({ quota: 8, windowS: 60 })
  })

  test('with the rate for the burst where a smaller burst is set', async () => {
    const { client } = await served({ FORECASTS_PER_MINUTE: '30', FORECASTS_BURST: '5' })
    expect(standingOf(await submit(client, 0.5))).toMatchObject({ quota: 30, windowS: 60 })
  })

  test('also when it fails, and no other call says anything', async () => {
    const { client } = await served()
    const failures = [
      await client.post('/agents/register', { name: '' }),
      await submit(client, 2),
      await submit(client, 0.5, QUESTION.closed),
      await client.post(`/agents/${forecasterId(0)}/forecast`, {}, bearer(agent.key)),
      await client.get(MISSING),
      await client.get(`${FOUND}?x=1`),
      await client.post(BULK, '{'),
    ]
    expect(failures.map((answer) => [answer.status, standingOf(answer).policy])).toEqual([
      [422, 'registrations'],
      [422, 'forecasts'],
      [409, 'forecasts'],
      [422, 'forecasts'],
      [404, 'verifications'],
      [422, 'verifications'],
      [400, 'verifications'],
    ])
    for (const path of ['/livez', '/questions', '/methodology/version', FOUND.replace('ver', 'x')]) {
      expect((await client.get(path)).headers, path).not.toHaveProperty('ratelimit')
    }
    const noKey = await client.post(`/agents/${agent.agentId}/forecast`, {})
    expectProblem(noKey, 401, /no API key/)
    expect(noKey.headers).not.toHaveProperty('ratelimit-policy')
  })
})

describe('verifications without a key', () => {
  test('are 60 a minute from an address, of all kinds together, found or not', async () => {
    const { client } = await served()
    const calls = [
      () => client.get(FOUND),
      () => client.get(MISSING),
      () => client.send('HEAD', FOUND),
      () => client.post(BULK, bulkOf(10)),
      () => client.post(BULK, bulkOf(11)),
    ]
    const statuses: number[] = []
    for (let call = 0; call < 60; call++) {
      const answer = await calls[call % calls.length]!()
      expect(standingOf(answer).remaining).toBe(59 - call)
      statuses.push(answer.status)
    }
    expect(statuses.slice(0, 5)).toEqual([200, 404, 200, 200, 422])
    expect(statuses.slice(-5)).toEqual([200, 404, 200, 200, 422])
    for (const refused of [await client.get(FOUND), await client.post(BULK, bulkOf(1))]) {
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
    for (const failure of failures) expect(standingOf(failure)).toMatchObject({ quota: 2, remaining: 2 })
    for (const left of [1, 0]) {
      const registered = await register(client)
      expect([registered.status, standingOf(registered).remaining]).toEqual([201, left])
    }
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
  test('are limited by agent, right or wrong, and the one too many is not recorded', async () => {
    const { client, components } = await served({ FORECASTS_PER_MINUTE: '2', FORECASTS_BURST: '4' })
    const other = (await register(client)).json<{ agent_id: string; api_key: string }>()
    const answers = [
      await submit(client, 0.1),
      await submit(client, 2),
      await submit(client, 0.2, QUESTION.closed),
      await submit(client, 0.3),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 422, 409, 200])
    expect(answers.map((answer) => standingOf(answer).remaining)).toEqual([3, 2, 1, 0])
    expect(expectLimited(await submit(client, 0.4), 'forecasts')).toMatchObject({ quota: 4, windowS: 120 })
    const its = await client.post(
      `/agents/${other.agent_id}/forecast`,
      { question_id: QUESTION.open, probability: 0.5 },
      bearer(other.api_key),
    )
    expect([its.status, standingOf(its).remaining]).toEqual([200, 3])
    const recorded = await inboxRows(components.store, 'forecasts')
    expect(recorded.map(({ probability }) => probability)).toEqual([0.1, 0.3, 0.5])
  })

  test('are 240 at once', async () => {
    const { client } = await served()
    const answers = await Promise.all(Array.from({ length: 250 }, (_, index) => submit(client, index / 1000)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(240)
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  })
})

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
      counters: countInMemory(),
      now: () => new Date(),
    })
    return {
      verify: () => limits.admit('verification', { kind: 'anonymous' }, '1.2.3.4'),
      register: () => limits.admit('register', { kind: 'anonymous' }, '1.2.3.4'),
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
    await first.takeBack!()
    expect(await admit()).toMatchObject({ admitted: true, state: { remaining: 1 } })
    await second.takeBack!()
    expect(await admit()).toMatchObject({ admitted: true, state: { remaining: 0 } })
    expect(await admit()).toMatchObject({ admitted: false })
  })

  test('that is over by a clock that was set ahead takes nothing back either', async () => {
    const { register: admit } = clockedLimits()
    const { takeBack } = await admit()
    // No timer has heard of it.
    vi.setSystemTime(new Date(Date.parse(NOW) + 3_600_000))
    await takeBack!()
    expect(await admit()).toMatchObject({ admitted: true, state: { remaining: 1 } })
    expect(await admit()).toMatchObject({ admitted: true, state: { remaining: 0 } })
    expect(await admit()).toMatchObject({ admitted: false })
  })
})
