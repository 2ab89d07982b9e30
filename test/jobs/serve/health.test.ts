// What a node says of itself while its store or its clock fails, and which calls it takes then.
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Components } from '../../../jobs/components/components.ts'
import { aheadMs } from '../../../pipeline/store/clock.ts'
import { FileStore } from '../../../pipeline/store/file.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { PROBES_PREFIX } from '../../../pipeline/store/paths.ts'
import type { Checks } from '../../../schemas/answers.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { errorLog } from '../../support/http/error-log.ts'
import { type Call, FaultStore } from '../../support/faults/fault-store.ts'
import { testFolder } from '../../support/folder.ts'
import { expectValid } from '../../support/json-schema.ts'
import { expectProblem } from '../../support/http/problem.ts'
import {
  type Answer,
  type Client,
  Clock,
  bearer,
  registerAgent,
  testComponents,
  testService,
} from '../../support/http/service.ts'
import { NOW, QUESTION, copyReleasedWorld, importWorld } from '../../support/worlds/world.ts'

const SETTINGS = { PROBE_MS: '50' }
/** For a store that hangs, so that it is soon given up. */
const IMPATIENT = { ...SETTINGS, COMMIT_TIMEOUT_MS: '100' }
const READS = ['get', 'range', 'list']
const isProbe = ({ path }: Call) => path.startsWith(PROBES_PREFIX)

const checksOf = (answer: Answer): Checks => answer.json<{ checks: Checks }>().checks
const allOk = (answer: Answer) => Object.values(checksOf(answer)).every(({ ok }) => ok)

/** A node over a store in memory whose calls fail, or wait, as `fault` wants. */
async function node(changes: Partial<Components> = {}, clock = new Clock(NOW), settings = SETTINGS) {
  const failing: { fault: (call: Call) => void | Promise<void> } = { fault: () => undefined }
  const memory = new MemoryStore(clock.now)
  await copyReleasedWorld(memory)
  const store = new FaultStore(memory, { before: (call) => failing.fault(call) })
  const { logger, lines } = errorLog()
  const components = { ...(await testComponents({ store, clock, settings })), logger, ...changes }
  const { client, stop } = await testService(components)
  const ready = () => client.get('/readyz')
  const readyForForecasts = () => client.get('/readyz?for=forecasts')
  return { client, stop, store, failing, lines, ready, readyForForecasts }
}

/** An error as a store in a folder throws it. */
const failure = (code: string) =>
  new ServiceError('unavailable', `the store could not write probe/x (${code}) in /secret/path`, {
    cause: Object.assign(new Error('/secret/path'), { code }),
  })

async function expectUntil(ask: () => Promise<Answer>, status: number): Promise<Answer> {
  let answer: Answer | undefined
  await expect.poll(async () => (answer = await ask()).status).toBe(status)
  return answer!
}

const metric = async (client: Client, check: string) =>
  new RegExp(`^fvs_check_ok\\{environment="production",check="${check}"\\} (\\d)$`, 'm').exec(
    (await client.get('/metrics')).text,
  )?.[1]

describe('a node that can do everything', () => {
  test('is ready, says what it found, and keeps one object for that, which goes with it', async () => {
    const { client, store, stop, ready, readyForForecasts } = await node()
    const first = await ready()
    expect(first.status).toBe(200)
    expectValid('readiness', first.json())
    expect(checksOf(first).release.detail).toMatch(/^release 1 is as of 2026-03-01T12:00:00\.000Z, 0 s ago$/)
    const puts = () => store.calls.filter((call) => call.operation === 'put' && isProbe(call))
    await expect.poll(() => puts().length).toBeGreaterThan(3)
    expect(new Set(puts().map(({ path }) => path)).size).toBe(1)
    const later = await ready()
    expect(checksOf(later)).toMatchObject({
      reads: { ok: true, detail: 'the store was read' },
      writes: { ok: true, detail: 'the store was written to' },
    })
    expect((await readyForForecasts()).status).toBe(200)
    for (const check of ['reads', 'writes', 'clock', 'release']) expect(await metric(client, check)).toBe('1')
    await stop()
    expect(await Array.fromAsync(store.list(PROBES_PREFIX))).toEqual([])
  })

  test('is asked for what it knows: the calls of readyz reach no store', { tags: ['slow'] }, async () => {
    const { store, ready } = await node({ settings: (await testComponents()).settings })
    const calls = store.calls.length
    for (let call = 0; call < 20; call++) expect((await ready()).status).toBe(200)
    expect(store.calls.slice(calls).filter(isProbe)).toEqual([])
  })

  test('knows no other question than for=forecasts', async () => {
    const { client } = await node()
    expectProblem(await client.get('/readyz?for=fun'), 422, /for must be forecasts, or be left out/)
  })
})

describe('a store that takes no writes, as a full or read-only disk', () => {
  test('leaves the node ready for readers, and not for forecasts, until it takes some again', async () => {
    const { client, failing, lines, ready, readyForForecasts } = await node()
    failing.fault = ({ operation }) => {
      if (!READS.includes(operation)) throw failure('ENOSPC')
    }
    const refused = await expectUntil(readyForForecasts, 503)
    expectProblem(refused, 503, /^the store could not be written to \(ENOSPC\)$/)
    expect(refused.headers['retry-after']).toBe('5')
    expect(checksOf(refused)).toMatchObject({
      reads: { ok: true },
      writes: { ok: false },
      clock: { ok: true },
    })
    const forReaders = await ready()
    expect(forReaders.status).toBe(200)
    expect(checksOf(forReaders).writes).toMatchObject({ ok: false })
    expect([await metric(client, 'writes'), await metric(client, 'reads')]).toEqual(['0', '1'])
    failing.fault = () => undefined
    expect(allOk(await expectUntil(readyForForecasts, 200))).toBe(true)
    // Once, and not for each time.
    const logged = lines.map((line) => JSON.parse(line) as { check?: string; err?: { message: string } })
    const told = logged.filter(({ check }) => check === 'writes')
    expect(told.map(({ err }) => err?.message)).toEqual([
      expect.stringContaining('the store could not write probe/x (ENOSPC) in /secret/path'),
    ])
  })
})

describe('a store that cannot be read', () => {
  test('makes the node not ready, says why without paths, and it is ready again with the store', async () => {
    const { client, failing, ready, readyForForecasts } = await node()
    failing.fault = () => {
      throw failure('EMFILE')
    }
    const refused = await expectUntil(ready, 503)
    expectProblem(refused, 503, /^the store could not be read \(EMFILE\)$/)
    expect(refused.text).not.toMatch(/secret|probe/)
    expect(refused.headers['retry-after']).toBe('5')
    expect(await metric(client, 'reads')).toBe('0')
    expect((await client.get('/livez')).status).toBe(200)
    failing.fault = () => undefined
    expect(allOk(await expectUntil(readyForForecasts, 200))).toBe(true)
  })

  test(
    'because it hangs is not asked again before it answers, and hinders neither readyz nor a stop',
    { tags: ['slow'] },
    async () => {
      const clock = new Clock(NOW)
      const { failing, store, ready, readyForForecasts, stop } = await node({}, clock, IMPATIENT)
      const hanging = Promise.withResolvers<void>()
      failing.fault = (call) => (isProbe(call) ? hanging.promise : undefined)
      const refused = await expectUntil(ready, 503)
      expectProblem(refused, 503, /^the store could not be read \(no answer within 100 ms\)$/)
      const asked = store.calls.filter(isProbe).length
      // The node looks on, since each look renews the time of what it found.
      const { checked_at } = checksOf(refused).reads
      clock.set('2026-03-01T12:00:01.000Z')
      await expect.poll(async () => checksOf(await ready()).reads.checked_at).not.toBe(checked_at)
      expect(store.calls.filter(isProbe)).toHaveLength(asked)
      hanging.resolve()
      expect(allOk(await expectUntil(readyForForecasts, 200))).toBe(true)
      failing.fault = (call) => (isProbe(call) ? new Promise(() => undefined) : undefined)
      await expectUntil(ready, 503)
      await stop()
    },
  )
})

describe('a folder that vanishes under a node', () => {
  test('makes it refuse everything that needs the store, and nothing is begun anew in its place', async () => {
    const folder = await testFolder()
    const components = await testComponents({ folder, settings: { ...SETTINGS, USAGE_FLUSH_MS: '50' } })
    const { client } = await testService(components)
    const ready = () => client.get('/readyz')
    await registerAgent(client)
    const [root, away] = [join(folder, 'store'), join(folder, 'away')]
    await rename(root, away)
    const leavings = { nothing: () => Promise.resolve(), 'an empty mount point': () => mkdir(root) }
    for (const [name, leave] of Object.entries(leavings)) {
      await leave()
      expect((await expectUntil(ready, 503)).headers['retry-after'], name).toBe('5')
      const refused = await client.post('/agents/register', { name: 'an agent', model_type: 'a model' })
      expectProblem(refused, 503, /^the store does not answer; try again$/)
      expect(refused.headers['retry-after']).toBe('5')
      expect(refused.text).not.toContain(folder)
    }
    expect(await readdir(root)).toEqual([])
    await rm(root, { recursive: true })
    await rename(away, root)
    expect(allOk(await expectUntil(() => client.get('/readyz?for=forecasts'), 200))).toBe(true)
    await registerAgent(client)
    const reopened = await FileStore.open(root)
    expect(await Array.fromAsync(reopened.list('registry/keys/'))).toHaveLength(2)
  })
})

describe('a clock that is not that of the store', () => {
  const submit = (client: Client, agent: { agentId: string; key: string }) =>
    client.post(
      `/agents/${agent.agentId}/forecast`,
      { question_id: QUESTION.open, probability: 0.5 },
      bearer(agent.key),
    )

  test.for<[string, string, string]>([
    ['ahead', '2026-03-01T12:01:01.000Z', '61 s ahead of that of the store'],
    ['behind', '2026-03-01T11:50:00.000Z', '600 s behind that of the store'],
  ])(
    '%s by more than a minute: no forecasts, until it is right',
    { tags: ['slow'] },
    async ([, wrong, words]) => {
      const clock = new Clock(NOW)
      const store = new MemoryStore(() => new Date(NOW))
      const components = await testComponents({ store, clock, settings: SETTINGS })
      await importWorld(components)
      clock.set(wrong)
      const { client } = await testService({
        ...components,
        clockAheadMs: Date.parse(wrong) - Date.parse(NOW),
      })
      // It is known from the start on.
      const agent = await registerAgent(client)
      const refused = await submit(client, agent)
      const detail = new RegExp(`^this node takes no forecasts now: .*, ${words}, which says `)
      expectProblem(refused, 503, detail, 'wrong-clock')
      expect(refused.headers['retry-after']).toBe('60')
      expect(await client.get('/readyz').then(({ status }) => status)).toBe(200)
      const unready = await client.get('/readyz?for=forecasts')
      expectProblem(unready, 503, new RegExp(words))
      expect(checksOf(unready).clock.ok).toBe(false)
      expect(await metric(client, 'clock')).toBe('0')
      clock.set(NOW)
      await expectUntil(() => client.get('/readyz?for=forecasts'), 200)
      expect((await submit(client, agent)).status).toBe(200)
    },
  )

  test('goes wrong while the node runs: no forecasts from the next look on', async () => {
    const clock = new Clock(NOW)
    const store = new MemoryStore(() => new Date(NOW))
    await copyReleasedWorld(store)
    const components = await testComponents({ store, clock, settings: SETTINGS })
    const { client } = await testService({ ...components, clockAheadMs: 0 })
    const agent = await registerAgent(client)
    expect((await submit(client, agent)).status).toBe(200)
    clock.set('2026-03-01T12:02:00.000Z')
    await expectUntil(() => client.get('/readyz?for=forecasts'), 503)
    expectProblem(
      await submit(client, agent),
      503,
      /says 2026-03-01T12:02:00\.000Z, 120 s ahead of .*:00:00\.000Z;/,
    )
  })

  test(
    'a minute apart, or a store that does not say what time it is: forecasts are taken',
    { tags: ['slow'] },
    async () => {
      for (const [storeTime, detail] of [
        ['2026-03-01T11:59:00.000Z', 'the clock of this node is 60 s ahead of that of the store'],
        ['', 'the store does not say what time it is'],
      ] as const) {
        const store = new MemoryStore(() => new Date(storeTime))
        await copyReleasedWorld(store)
        const clock = new Clock(NOW)
        const components = await testComponents({ store, clock, settings: SETTINGS })
        const { client } = await testService({ ...components, clockAheadMs: 600_000 })
        const answer = await expectUntil(() => client.get('/readyz?for=forecasts'), 200)
        expect(checksOf(answer).clock).toMatchObject({ ok: true, detail })
        expect((await submit(client, await registerAgent(client))).status).toBe(200)
      }
    },
  )

  test('was set right after it made a release of a later time: no forecast is taken before that', async () => {
    const clock = new Clock(NOW)
    const { client, ready, readyForForecasts } = await node({}, clock)
    const agent = await registerAgent(client)
    expect((await submit(client, agent)).status).toBe(200)
    clock.set('2026-03-01T11:00:00.000Z')
    const refused = await expectUntil(readyForForecasts, 503)
    const detail =
      'the clock of this node says 2026-03-01T11:00:00.000Z, and release 1 is as of 2026-03-01T12:00:00.000Z, 3600 s later; at most 60 s are allowed'
    expectProblem(refused, 503, new RegExp(`^${detail}$`))
    expect(checksOf(await ready())).toMatchObject({
      clock: { ok: false, detail },
      release: {
        ok: true,
        detail: 'release 1 is as of 2026-03-01T12:00:00.000Z, 3600 s ahead of the clock of this node',
      },
    })
    expect(await metric(client, 'clock')).toBe('0')
    expectProblem(
      await submit(client, agent),
      503,
      new RegExp(`^this node takes no forecasts now: ${detail}`),
    )
    clock.set('2026-03-01T11:59:00.000Z')
    expect((await submit(client, agent)).status).toBe(200)
    expect((await readyForForecasts()).status).toBe(200)
  })

  test.for<[string, number, number | undefined]>([
    ['between the readings', 12, 0],
    ['before the first', 7, 3],
    ['after the last', 22, -7],
    ['that nobody says', Number.NaN, undefined],
  ])('is compared by a write at 10 to 15 and a time of the store %s', ([, storeTime, expected]) => {
    expect(aheadMs(new Date(10), new Date(storeTime), new Date(15))).toBe(expected)
  })
})

describe('the age of the release', () => {
  test(
    'is in the checks and the metrics, and an old one leaves the node ready',
    { tags: ['slow'] },
    async () => {
      const clock = new Clock(NOW)
      const { client, readyForForecasts } = await node({}, clock)
      const age = async () =>
        /^fvs_release_age_seconds\{environment="production"\} (\d+)$/m.exec(
          (await client.get('/metrics')).text,
        )?.[1]
      expect(await age()).toBe('0')
      clock.set('2026-03-02T13:00:01.000Z')
      const answer = await readyForForecasts()
      expect(answer.status).toBe(200)
      expect(checksOf(answer).release).toMatchObject({
        ok: false,
        detail: 'release 1 is as of 2026-03-01T12:00:00.000Z, 90001 s ago',
      })
      expect([await age(), await metric(client, 'release')]).toEqual(['90001', '0'])
      expect((await client.get('/sandbox/readyz')).json()).toMatchObject({
        checks: { release: { ok: true, detail: 'there is no release yet' } },
      })
    },
  )
})
