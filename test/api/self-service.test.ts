// What an agent and a client can do with their keys alone: put another in its place, retire, and see what was
// used.
import { describe, expect } from 'vitest'
import { renameAgent, resetKey, retireAgents, unretireAgents } from '../../jobs/agents/agents.ts'
import { runRelease } from '../../jobs/release/release.ts'
import { askForName } from '../../pipeline/access/renames.ts'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { expectValid } from '../support/json-schema.ts'
import { expectProblem } from '../support/http/problem.ts'
import { test } from '../support/http/fixtures.ts'
import {
  Clock,
  type TestService,
  registerAgent,
  startTestService,
  testComponents,
} from '../support/http/service.ts'
import { readRows } from '../support/tables.ts'
import { NOW, QUESTION, copyReleasedWorld, forecasterId, uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const clock = new Clock(NOW)
const store = new MemoryStore()
let service: TestService

test.beforeAll(async ({ serve }) => {
  const components = await testComponents({ store, folder, clock, settings: { KEY_CACHE_MS: '0' } })
  await copyReleasedWorld(store)
  service = await serve(components)
})

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })
const submit = (agentId: string, key: string, by = service) =>
  by.client.post(`/agents/${agentId}/forecast`, { question_id: QUESTION.open, probability: 0.5 }, bearer(key))
const rotate = (agentId: string, key: string, headers: Record<string, string> = {}) =>
  service.client.send('POST', `/agents/${agentId}/rotate-key`, { headers: { ...bearer(key), ...headers } })
const retire = (agentId: string, key: string) =>
  service.client.send('POST', `/agents/${agentId}/retire`, { headers: bearer(key) })
const unretire = (agentId: string, key: string) =>
  service.client.send('POST', `/agents/${agentId}/unretire`, { headers: bearer(key) })
const DAY_LATER = '2026-03-02T12:00:00.000Z'

describe('a key', () => {
  test('is put in the place of another, which works for a day more', async () => {
    const { agentId, key } = await registerAgent(service.client)
    const answer = await rotate(agentId, key)
    expect(answer.status, answer.text).toBe(200)
    expectValid('rotated-key', answer.json())
    const { api_key: next, old_key_works_until } = answer.json<Record<string, string>>()
    expect(old_key_works_until).toBe('2026-03-02T12:00:00.000Z')
    for (const one of [key, next!]) expect((await submit(agentId, one)).status).toBe(200)
    const again = await rotate(agentId, key)
    expectProblem(again, 409, /was rotated already, with its end at 2026-03-02/)
    expect(again.json()).toMatchObject({ type: '/problems/key-rotated' })
    try {
      clock.set('2026-03-02T12:00:00.001Z')
      expectProblem(await submit(agentId, key), 401, /was revoked/)
      expect((await submit(agentId, next!)).status).toBe(200)
    } finally {
      clock.set(NOW)
    }
  })

  test('is shown again to whoever repeats the call with its Idempotency-Key', async () => {
    const { agentId, key } = await registerAgent(service.client)
    const header = { 'Idempotency-Key': uuidOf(8, 3) }
    const first = await rotate(agentId, key, header)
    const second = await rotate(agentId, key, header)
    expect([second.status, second.text]).toEqual([200, first.text])
    expect((await submit(agentId, first.json<{ api_key: string }>().api_key)).status).toBe(200)
    expectProblem(await rotate(agentId, key, { 'Idempotency-Key': 'short' }), 422, /at least 20 characters/)
  })

  test('ends at once, with the one that it replaced, by a body or by its own call', async () => {
    const { agentId, key: first } = await registerAgent(service.client)
    const second = (await rotate(agentId, first)).json<{ api_key: string }>().api_key
    const calls = [
      (key: string) =>
        service.client.post(`/agents/${agentId}/rotate-key`, { end_old_key: true }, bearer(key)),
      (key: string) => service.client.send('POST', `/agents/${agentId}/revoke-key`, { headers: bearer(key) }),
    ]
    const ended = [first, second]
    for (const call of calls) {
      const answer = await call(ended.at(-1)!)
      expect(answer.status, answer.text).toBe(200)
      expectValid('rotated-key', answer.json())
      const { api_key: next, old_key_works_until } = answer.json<Record<string, string>>()
      expect(old_key_works_until).toBe(NOW)
      for (const key of ended) expectProblem(await submit(agentId, key), 401, /was revoked/)
      expect((await submit(agentId, next!)).status).toBe(200)
      ended.push(next!)
    }
  })

  test('that a thief has rotated ends with all that came of it, by one command of the operator', async () => {
    const { agentId, key: leaked } = await registerAgent(service.client)
    const stolen = (await rotate(agentId, leaked)).json<{ api_key: string }>().api_key
    await retire(agentId, stolen)
    const { json, text } = await resetKey(
      await testComponents({ store, folder, clock }),
      agentId.toUpperCase(),
    )
    const { api_key, retired_at } = json as Record<string, string>
    expect(text).toContain(`It retires at ${retired_at}`)
    for (const key of [leaked, stolen]) {
      expectProblem(await submit(agentId, key), 401, /was revoked/)
      expectProblem(await rotate(agentId, key), 401, /was revoked/)
    }
    expect((await submit(agentId, api_key!)).status).toBe(200)
    await expect(
      resetKey(await testComponents({ store, folder, clock }), uuidOf(9, 9)),
    ).rejects.toMatchObject({ kind: 'notFound' })
  })

  test('is not rotated by a call with a body that it does not take', async () => {
    const { agentId, key } = await registerAgent(service.client)
    const path = `/agents/${agentId}/rotate-key`
    expectProblem(
      await service.client.post(path, { api_key: 'x' }, bearer(key)),
      422,
      /api_key is not known here/,
    )
    expectProblem(await service.client.post(path, Buffer.from('{'), bearer(key)), 400, /not JSON/)
    expect((await service.client.post(path, {}, bearer(key))).status).toBe(200)
  })

  test('of another agent rotates and retires nothing', async () => {
    const [one, other] = [await registerAgent(service.client), await registerAgent(service.client)]
    expectProblem(await rotate(one.agentId, other.key), 403, /another agent/)
    expectProblem(await retire(one.agentId, other.key), 403, /another agent/)
    expect((await submit(one.agentId, one.key)).status).toBe(200)
  })
})

describe('an agent', () => {
  test(
    'that retires takes no forecasts on any node, and every record has it from the next release on',
    { tags: ['slow'] },
    async () => {
      const { agentId, key } = await registerAgent(service.client)
      expect((await submit(agentId, key)).status).toBe(200)
      const answer = await retire(agentId, key)
      expect(answer.status, answer.text).toBe(200)
      expectValid('retired-agent', answer.json())
      expect(answer.json()).toEqual({ agent_id: agentId, retired_at: DAY_LATER })
      expect((await submit(agentId, key)).status).toBe(200)
      clock.set('2026-03-01T12:00:10.000Z')
      expect((await retire(agentId, key)).json()).toEqual({ agent_id: agentId, retired_at: DAY_LATER })
      await runRelease(await testComponents({ store, folder, clock }), {})

      clock.set(DAY_LATER)
      const refused = await submit(agentId, key)
      expectProblem(refused, 409, /is retired since 2026-03-02T12:00:00.000Z/)
      expect(refused.json()).toMatchObject({ type: '/problems/agent-retired' })
      const batch = { forecasts: [{ question_id: QUESTION.open, probability: 0.5 }] }
      expectProblem(
        await service.client.post(`/agents/${agentId}/forecasts`, batch, bearer(key)),
        409,
        /is retired/,
      )

      const renamed = await service.client.send('PATCH', `/agents/${agentId}`, {
        body: { name: 'another name' },
        headers: { ...bearer(key), 'Content-Type': 'application/json' },
      })
      expectProblem(renamed, 409, /is retired/)
      const claim = { domain: 'example.org' }
      expectProblem(
        await service.client.post(`/agents/${agentId}/owner`, claim, bearer(key)),
        409,
        /is retired/,
      )

      const other = await startTestService(await testComponents({ store, folder, clock }))
      expectProblem(await submit(agentId, key, other), 409, /is retired/)
      await other.stop()

      expectProblem(await unretire(agentId, key), 409, /is retired since/)
      const releasing = await testComponents({ store, folder, clock })
      await runRelease(releasing, {})
      await expect
        .poll(async () => (await service.client.get(`/agents/${agentId}`)).json()['retired_at'], {
          interval: 20,
        })
        .toBe(DAY_LATER)
      expect([...store.objects.keys()].filter((path) => path.startsWith('registry/retiring/'))).toEqual([])
      clock.set(NOW)
    },
  )

  test(
    'that retires may take that back until it takes effect, and the operator for it always',
    { tags: ['slow'] },
    async () => {
      const { agentId, key } = await registerAgent(service.client)
      await submit(agentId, key)
      const components = await testComponents({ store, folder, clock })
      await retire(agentId, key)
      const undone = await unretire(agentId, key)
      expect(undone.json()).toEqual({ agent_id: agentId, retired_at: null })
      expectValid('unretired-agent', undone.json())
      expect((await unretire(agentId, key)).status).toBe(200)
      try {
        clock.set(DAY_LATER)
        expect((await submit(agentId, key)).status).toBe(200)
        await retire(agentId, key)
        clock.set('2026-03-03T12:00:00.000Z')
        // The node may know the key for a millisecond as it was.
        const submitted = async () => (await submit(agentId, key)).status
        await expect.poll(submitted, { interval: 2 }).toBe(409)
        expectProblem(await submit(agentId, key), 409, /is retired since 2026-03-03/)
        await runRelease(components, {})
        expect((await unretireAgents(components, [agentId])).json).toMatchObject({ agents: 1, changed: 1 })
        await expect.poll(submitted, { interval: 2 }).toBe(200)
        await runRelease(components, {})
        await expect
          .poll(async () => (await service.client.get(`/agents/${agentId}`)).json()['retired_at'], {
            interval: 20,
          })
          .toBeNull()
      } finally {
        clock.set(NOW)
      }
    },
  )

  test('that the operator retires takes no forecasts either', async () => {
    const { agentId, key } = await registerAgent(service.client)
    await retireAgents(await testComponents({ store, folder, clock }), [agentId.toUpperCase()])
    expectProblem(await submit(agentId, key), 409, /is retired since/)
  })
})

describe('GET /usage', () => {
  test('says what an account has used of its month, and costs nothing of it', async () => {
    const { registry } = await testComponents({ store, folder, clock })
    const key = await registry.createClientKey('somebody', clock.now(), { tier: 'pro', monthly_calls: null })
    const usage = async () => {
      const answer = await service.client.get('/usage', { 'X-API-Key': key })
      expect(answer.status, answer.text).toBe(200)
      expect(answer.headers['cache-control']).toBe('no-store')
      expectValid('key-usage', answer.json())
      return answer.json()
    }
    const none = {
      tier: 'pro',
      month: '2026-03',
      calls: 0,
      monthly_calls: 5000,
      resets_at: '2026-04-01T00:00:00.000Z',
    }
    expect(await usage()).toEqual(none)
    await service.client.get(`/forecaster/${forecasterId(0)}/verification`, { 'X-API-Key': key })
    expect(await usage()).toEqual({ ...none, calls: 1 })
    await registry.setQuota(key.split('_')[2]!, { tier: 'enterprise', monthly_calls: 7 })
    const changed = { ...none, calls: 1, tier: 'enterprise', monthly_calls: 7 }
    await expect.poll(usage).toEqual(changed)
  })

  test('needs a key', async () => {
    const answer = await service.client.get('/usage')
    expectProblem(answer, 401, /send the header X-API-Key/)
    expect(answer.json()).toMatchObject({ type: '/problems/no-key' })
  })
})

describe('the name of an agent', () => {
  const rename = (agentId: string, key: string, name: unknown) =>
    service.client.send('PATCH', `/agents/${agentId}`, {
      headers: { ...bearer(key), 'Content-Type': 'application/json' },
      body: JSON.stringify({ name }),
    })
  const nameOf = async (agentId: string) =>
    (await service.client.get(`/agents/${agentId}`)).json<{ name?: string }>().name
  const releaseAt = async (at: string, over: Store = store) => {
    clock.set(at)
    await runRelease(await testComponents({ store: over, folder, clock }), {})
  }
  const waiting = () => [...store.objects.keys()].filter((path) => path.startsWith('registry/renaming/'))

  test(
    'is the last that it has asked for, from the next release on, and the table keeps the old one',
    { tags: ['slow'] },
    async () => {
      clock.set('2026-05-01T12:00:00.000Z')
      const { agentId, key } = await registerAgent(service.client, 'a first name')
      await submit(agentId, key)
      await releaseAt('2026-05-01T12:20:00.000Z')
      await expect.poll(() => nameOf(agentId)).toBe('a first name')
      for (const name of ['a second name', 'a third name']) {
        const answer = await rename(agentId, key, name)
        expect(answer.status, answer.text).toBe(200)
        expectValid('renamed-agent', answer.json())
        expect(answer.json()).toEqual({ agent_id: agentId, name })
      }
      expect(await nameOf(agentId)).toBe('a first name')
      // A run that fails before it notes that the table has the name does it again.
      const failing = new FaultStore(store, {
        before: ({ operation, path }) => {
          if (operation === 'delete' && path.startsWith('registry/renaming/')) throw new Error('cut off')
        },
      })
      await expect(releaseAt('2026-05-01T12:40:00.000Z', failing)).rejects.toThrow('cut off')
      expect(waiting()).toHaveLength(2)
      await releaseAt('2026-05-01T12:40:00.000Z')
      await expect.poll(() => nameOf(agentId)).toBe('a third name')
      expect(waiting()).toEqual([])
      const components = await testComponents({ store, folder, clock })
      const rows = await withDatabase(components.openDatabase, (database) =>
        readRows({ ...components, database }, 'agents'),
      )
      const own = rows.filter(({ agent_id }) => agent_id === agentId)
      expect(new Set(own.map(({ name }) => name))).toEqual(new Set(['a first name', 'a third name']))
      // The run that did it again wrote the name again, so that a run that knew less would find the table changed.
      expect(own).toHaveLength(3)
    },
  )

  test(
    'is no name that waits beside five others, none that is unfit, and none by another’s key',
    { tags: ['slow'] },
    async () => {
      const [own, other] = [await registerAgent(service.client), await registerAgent(service.client)]
      for (const name of ['1', '2', '3', '4', '5']) {
        expect((await rename(own.agentId, own.key, name)).status).toBe(200)
      }
      expectProblem(
        await rename(own.agentId, own.key, '6'),
        409,
        /5 names of this agent wait/,
        'renamed-often',
      )
      expect((await rename(other.agentId, other.key, '6')).status).toBe(200)
      const before = waiting()
      expectProblem(await rename(own.agentId, other.key, 'stolen'), 403, /another agent/)
      for (const name of ['', ' ', '\u202e', 7, null, 'x'.repeat(201)]) {
        expectProblem(await rename(other.agentId, other.key, name), 422, /name/)
      }
      expect(waiting()).toEqual(before)
      await releaseAt('2026-05-01T13:00:00.000Z')
      expect((await rename(own.agentId, own.key, '6')).status).toBe(200)
    },
  )

  test(
    'is kept from nobody by an agent whose registration is not in the table',
    { tags: ['slow'] },
    async () => {
      const { agentId, key } = await registerAgent(service.client)
      await submit(agentId, key)
      const { registry } = service.components
      const lost = uuidOf(9, 77)
      await registry.createAgent(lost, registry.firstKey(lost), clock.now())
      await askForName(store, { agent_id: lost, name: 'a lost agent' }, clock.now())
      await registry.askToRetire(lost, new Date(0))
      expect((await rename(agentId, key, 'a kept name')).status).toBe(200)
      await releaseAt('2026-05-01T13:10:00.000Z')
      await expect.poll(() => nameOf(agentId)).toBe('a kept name')
      expect(waiting()).toEqual([])
    },
  )

  test(
    'is the operator’s where the operator has given one, also to a name that waits',
    { tags: ['slow'] },
    async () => {
      const { agentId, key } = await registerAgent(service.client)
      await submit(agentId, key)
      expect((await rename(agentId, key, 'a bad name')).status).toBe(200)
      await renameAgent(service.components, agentId, 'a good name', { reason: 'a test' })
      await releaseAt('2026-05-01T13:20:00.000Z')
      await expect.poll(() => nameOf(agentId)).toBe('a good name')
      const refused = await rename(agentId, key, 'a bad name')
      expectProblem(refused, 403, /the operator has renamed or hidden/)
      expect(refused.json()).toMatchObject({ type: '/problems/named-by-operator' })
    },
  )
})
