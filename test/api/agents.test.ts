// Registering and submitting: what is taken, what is answered, and what is in the store by then.
import { describe, expect } from 'vitest'
import type { ForecastRow } from '../../schemas/tables.ts'
import { expectValid } from '../support/json-schema.ts'
import { test } from '../support/http/fixtures.ts'
import {
  type Answer,
  Clock,
  type TestService,
  bearer,
  registerAgent,
  testComponents,
  testService,
} from '../support/http/service.ts'
import { expectProblem, pointersOf } from '../support/http/problem.ts'
import { inboxRows } from '../support/inbox-rows.ts'
import { NOW, QUESTION, importWorld, uuidOf } from '../support/worlds/world.ts'

let service: TestService
let agent: { agentId: string; key: string }
const clock = new Clock(NOW)

test.beforeAll(async ({ folder, serve }) => {
  const components = await testComponents({ folder, clock })
  await importWorld(components)
  service = await serve(components)
  agent = await registerAgent(service.client)
})

const register = (body: unknown) => service.client.post('/agents/register', body)
const submit = (body: unknown, headers: Record<string, string> = bearer(agent.key)): Promise<Answer> =>
  service.client.post(`/agents/${agent.agentId}/forecast`, body, headers)
const forecast = (probability: unknown, question_id: unknown = QUESTION.open) => ({
  question_id,
  probability,
})

describe('POST /agents/register', () => {
  test('answers 201 with an id and a key, once the agent is durable', async () => {
    const answer = await register({ name: 'Ada', model_type: 'm', organization_name: 'Lovelace & Söhne 🦉' })
    expect(answer.status).toBe(201)
    expect(answer.headers['cache-control']).toBe('no-store')
    const body = answer.json<{ agent_id: string; api_key: string }>()
    expectValid('registered', body)
    expect(body.api_key).toMatch(/^fv_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}$/)
    const rows = await inboxRows(service.components.store, 'agents')
    expect(rows.filter(({ agent_id }) => agent_id === body.agent_id)).toEqual([
      {
        agent_id: body.agent_id,
        name: 'Ada',
        model_type: 'm',
        organization_name: 'Lovelace & Söhne 🦉',
        owner_id: null,
        registered_at: new Date(NOW),
        retired_at: null,
        recorded_at: new Date(NOW),
      },
    ])
  })

  test('keeps a key only as its hash', async () => {
    const { store } = service.components
    const { key } = await registerAgent(service.client)
    for await (const { path: name } of store.list('')) {
      expect(name).not.toContain(key)
      const bytes = Buffer.from((await store.get(name))!)
      expect(bytes.includes(key), name).toBe(false)
    }
  })

  test.for([
    ['left out', {}],
    ['null', { organization_name: null }],
  ] as const)('takes an organization that is %s', async ([, organization]) => {
    const answer = await register({ name: 'no organization', model_type: 'm', ...organization })
    expect(answer.status).toBe(201)
    const { agent_id } = answer.json<{ agent_id: string }>()
    const rows = await inboxRows(service.components.store, 'agents')
    expect(rows.find((row) => row['agent_id'] === agent_id)).toMatchObject({ organization_name: null })
  })

  test('gives a sandbox keys of its own kind', async () => {
    const answer = await service.client.post('/sandbox/agents/register', { name: 'a', model_type: 'm' })
    expect(answer.json()).toMatchObject({ api_key: expect.stringMatching(/^fv_test_/) as string })
  })

  test.for([
    ['no name', { model_type: 'm' }, ['/name']],
    ['an empty name', { name: '', model_type: 'm' }, ['/name']],
    ['a blank name', { name: ' \u2003', model_type: 'm' }, ['/name']],
    ['a long name', { name: 'x'.repeat(201), model_type: 'm' }, ['/name']],
    ['a name with a line break', { name: 'a\nb', model_type: 'm' }, ['/name']],
    ['a name that turns its direction', { name: 'gnp.\u202ea', model_type: 'm' }, ['/name']],
    ['a model that shows as nothing', { name: 'a', model_type: '\u3164' }, ['/model_type']],
    [
      'an organization that is not in NFC',
      { name: 'a', model_type: 'm', organization_name: 'o\u0308' },
      ['/organization_name'],
    ],
    ['a name that is half a character', { name: '\ud800', model_type: 'm' }, ['/name']],
    ['a name that is a number', { name: 1, model_type: 'm' }, ['/name']],
    ['a model that is null', { name: 'a', model_type: null }, ['/model_type']],
    [
      'a long organization',
      { name: 'a', model_type: 'm', organization_name: 'x'.repeat(201) },
      ['/organization_name'],
    ],
    ['an unknown field', { name: 'a', model_type: 'm', admin: true }, ['/admin']],
    ['a field whose name needs escaping', { name: 'a', model_type: 'm', 'a/b~c': 1 }, ['/a~1b~0c']],
    ['a list', [], ['']],
    ['null', null, ['']],
  ] as const)('answers 422 to %s and names it', async ([, body, pointers]) => {
    expect(pointersOf(await register(body))).toEqual(pointers)
  })

  test('shows the key of an Idempotency-Key again for 24 hours, and then says what to do', async () => {
    const moving = new Clock(NOW)
    const { client } = await testService(await testComponents({ clock: moving }))
    const body = { name: 'a', model_type: 'm' }
    const again = () => client.post('/agents/register', body, { 'Idempotency-Key': uuidOf(7, 1) })
    const first = await again()
    expect(first.status).toBe(201)
    const later = (ms: number) => {
      moving.set(new Date(Date.parse(NOW) + ms).toISOString())
      return again()
    }
    const day = 24 * 60 * 60_000
    expect((await later(day - 1)).text).toBe(first.text)
    for (const ms of [day, 2 * day]) {
      const refused = await later(ms)
      expectProblem(
        refused,
        409,
        /shown again for 24 hours only; .* register another agent/,
        'request-expired',
      )
      expect(refused.text).toContain(NOW)
      expect(refused.text).not.toContain(first.json<{ api_key: string }>().api_key)
    }
  })

  test('takes 200 characters beyond the basic plane', async () => {
    expect((await register({ name: '𐐷'.repeat(200), model_type: 'm' })).status).toBe(201)
  })

  test('does not let a body reach a prototype', async () => {
    const answer = await register('{"name":"a","model_type":"m","__proto__":{"admin":true}}')
    expect(pointersOf(answer)).toEqual(['/__proto__'])
  })
})

describe('POST /agents/{agent_id}/forecast', () => {
  test('answers 200 once the forecast is durable', async () => {
    const answer = await submit(forecast(0.25))
    expect(answer.status).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    const taken = answer.json<ForecastRow & { agent_id: string }>()
    expectValid('acknowledged-forecast', taken)
    expect(taken).toEqual({
      forecast_id: taken.forecast_id,
      agent_id: agent.agentId,
      question_id: QUESTION.open,
      probability: 0.25,
      forecast_at: NOW,
    })
    const rows = await inboxRows(service.components.store, 'forecasts')
    expect(rows.find((row) => row['forecast_id'] === taken.forecast_id)).toEqual({
      forecast_id: taken.forecast_id,
      entity_type: 'agent',
      entity_id: agent.agentId,
      question_id: QUESTION.open,
      probability: 0.25,
      forecast_at: new Date(NOW),
      recorded_at: new Date(NOW),
      source: 'api',
    })
  })

  // Half to even, as an import rounds and as everything published is rounded.
  test.for([
    ['0', 0],
    ['-0', 0],
    ['1', 1],
    ['1.0', 1],
    ['1e-7', 0],
    ['1e-400', 0],
    ['0.0000005', 0],
    ['0.0000015', 0.000002],
    ['0.1234564', 0.123456],
    ['0.1234566', 0.123457],
    ['0.30000000000000004', 0.3],
    ['0.9999999', 1],
  ] as const)('holds %s to six decimals as %d', async ([sent, held]) => {
    const answer = await submit(`{"question_id":"${QUESTION.open}","probability":${sent}}`)
    expect(answer.status, answer.text).toBe(200)
    const { forecast_id, probability } = answer.json<ForecastRow>()
    expect(probability).toBe(held)
    const rows = await inboxRows(service.components.store, 'forecasts')
    expect(rows.find((row) => row['forecast_id'] === forecast_id)?.['probability']).toBe(held)
  })

  test.for([
    ['below 0', '-0.0000001'],
    ['above 1', '1.0000001'],
    ['more than a double holds', '1e400'],
    ['a text', '"0.5"'],
    ['null', 'null'],
    ['a truth value', 'true'],
    ['a list', '[0.5]'],
  ] as const)('answers 422 to a probability that is %s', async ([, sent]) => {
    const answer = await submit(`{"question_id":"${QUESTION.open}","probability":${sent}}`)
    expect(pointersOf(answer)).toEqual(['/probability'])
  })

  test.for(['NaN', 'Infinity', '.5', '5.', '+0.5', '0x1', '½', ''])(
    'answers 400 to the probability %j, which JSON does not have',
    async (sent) => {
      expectProblem(await submit(`{"question_id":"${QUESTION.open}","probability":${sent}}`), 400, /not JSON/)
    },
  )

  test('names every wrong field at once', async () => {
    expect(pointersOf(await submit({ question_id: 'x', probability: 2, confidence: 1 })).toSorted()).toEqual([
      '/confidence',
      '/probability',
      '/question_id',
    ])
    expect(pointersOf(await submit({}))).toEqual(['/question_id', '/probability'])
  })

  test('takes ids in any case and answers in lower case', async () => {
    const answer = await service.client.post(
      `/agents/${agent.agentId.toUpperCase()}/forecast`,
      forecast(0.5, QUESTION.open.toUpperCase()),
      bearer(agent.key),
    )
    expect(answer.status).toBe(200)
    expect(answer.json()).toMatchObject({ agent_id: agent.agentId, question_id: QUESTION.open })
  })

  describe('answers 401', () => {
    const unknownKey = `fv_live_AAAAAAAA_${'A'.repeat(38)}`
    test.for([
      ['no key', {}],
      ['another scheme', { Authorization: 'Basic abc' }],
      ['an empty token', { Authorization: 'Bearer' }],
      ['a key without its form', bearer('abc')],
      ['a key of the right form that nobody has', bearer(unknownKey)],
      ['a key in the header of clients', { 'X-API-Key': 'x' }],
    ] as const)('to %s', async ([, headers]) => {
      const answer = await submit(forecast(0.5), headers)
      expectProblem(answer, 401, /key/)
      expect(answer.headers['www-authenticate']).toBe('Bearer')
      expect(answer.text).not.toContain(unknownKey)
    })

    test('to a client of the verification calls', async () => {
      const key = await service.components.registry.createClientKey('a client', clock.now())
      expectProblem(await submit(forecast(0.5), bearer(key)), 401, /agent/)
    })

    test('to a key with one character changed', async () => {
      const changed = agent.key.slice(0, -1) + (agent.key.endsWith('A') ? 'B' : 'A')
      expectProblem(await submit(forecast(0.5), bearer(changed)), 401, /key/)
    })

    test('takes the scheme in any case', async () => {
      expect((await submit(forecast(0.5), { Authorization: `bearer ${agent.key}` })).status).toBe(200)
    })
  })

  test('answers 403 to the key of another agent', async () => {
    const other = await registerAgent(service.client)
    expectProblem(await submit(forecast(0.5), bearer(other.key)), 403, new RegExp(agent.agentId))
  })

  test('answers 404 to a question nobody knows', async () => {
    expectProblem(await submit(forecast(0.5, uuidOf(9, 9))), 404, new RegExp(uuidOf(9, 9)))
  })

  test('answers 422 to an agent id that is none', async () => {
    const answer = await service.client.post('/agents/me/forecast', forecast(0.5), bearer(agent.key))
    expect(pointersOf(answer)).toEqual(['/agent_id'])
  })

  describe('answers 409 to a question', () => {
    test.for([
      ['upcoming', /opens at 2026-10-28T00:00:00.000Z/],
      ['closed', /closed at 2026-02-10T00:00:00.000Z/],
      ['resolved', /was resolved at 2026-01-21T00:00:00.000Z/],
      ['annulled', /was resolved at 2026-01-26T00:00:00.000Z/],
    ] as const)('that is %s', async ([state, detail]) => {
      expectProblem(await submit(forecast(0.5, QUESTION[state])), 409, detail)
    })
  })

  test(
    'opens a question at its first millisecond and closes it at its last',
    { tags: ['slow'] },
    async () => {
      const moving = new Clock(NOW)
      const components = await testComponents({ clock: moving })
      await importWorld(components)
      const { client } = await testService(components)
      const { agentId, key } = await registerAgent(client)
      const statusAt = async (at: string) => {
        moving.set(at)
        return (
          await client.post(`/agents/${agentId}/forecast`, forecast(0.5, QUESTION.upcoming), bearer(key))
        ).status
      }
      expect(await statusAt('2026-10-27T23:59:59.999Z')).toBe(409)
      expect(await statusAt('2026-10-28T00:00:00.000Z')).toBe(200)
      expect(await statusAt('2027-02-04T23:59:59.999Z')).toBe(200)
      expect(await statusAt('2027-02-05T00:00:00.000Z')).toBe(409)
    },
  )

  test('names forecasts so that of two in one millisecond the later has the greater id', async () => {
    const ids: string[] = []
    for (let index = 0; index < 20; index++) {
      ids.push((await submit(forecast(0.5))).json<ForecastRow>().forecast_id)
    }
    expect(ids).toEqual(ids.toSorted())
    expect(new Set(ids).size).toBe(20)
  })
})
