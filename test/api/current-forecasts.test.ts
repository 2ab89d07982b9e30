// An agent reads back its current forecasts on open questions.
import { beforeAll, describe, expect, test } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { CurrentForecasts } from '../../schemas/answers.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import {
  type Client,
  Clock,
  bearer,
  importRows,
  registerAgent,
  release,
  testComponents,
  testService,
} from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { NOW, QUESTION, type WorldAgent, copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'

const pathOf = (agentId: string) => `/agents/${agentId}/forecasts`

let released: MemoryStore
let agent: WorldAgent
beforeAll(async () => {
  released = new MemoryStore()
  agent = await copyReleasedWorld(released)
})

/** A node that has read what stands. */
async function node(store: MemoryStore | FaultStore, clock = new Clock(NOW)) {
  const service = await testService(await testComponents({ store, clock }))
  const { agentId, key } = agent
  const path = pathOf(agentId)
  await expect.poll(async () => (await service.client.get(path, bearer(key))).status).toBe(200)
  return service
}

async function quotaIn(client: Client, { agentId, key } = agent, query = ''): Promise<CurrentForecasts> {
  const answer = await client.get(pathOf(agentId) + query, bearer(key))
  expect(answer.status, answer.text).toBe(200)
  return answer.json<CurrentForecasts>()
}

const submit = async (client: Client, questionId: string, probability: number, { agentId, key } = agent) => {
  const body = { question_id: questionId, probability }
  const answer = await client.post(`/agents/${agentId}/forecast`, body, bearer(key))
  expect(answer.status, answer.text).toBe(200)
  return answer.json<{ forecast_id: string; forecast_at: string }>()
}

const HEADER = 'question_id,title,opened_at,closes_at'
const numbered = (number: number, closes = '2026-05-01T00:00:00Z') =>
  `${uuidOf(5, number)},"number ${number}",2026-01-01T00:00:00Z,${closes}`

describe('GET /agents/{agent_id}/forecasts', () => {
  test('has the last acknowledged forecast on each open question at once, with what was answered', async () => {
    const { client } = await node(copyOf(released))
    expect(await quotaIn(client)).toEqual({ agent_id: agent.agentId, forecasts: [], next_cursor: null })
    await submit(client, QUESTION.open, 0.25)
    const { forecast_id, forecast_at } = await submit(client, QUESTION.open, 0.75)
    expect(await quotaIn(client)).toEqual({
      agent_id: agent.agentId,
      forecasts: [
        {
          forecast_id,
          question_id: QUESTION.open,
          title: 'Open?',
          closes_at: expect.stringMatching(/^2027-/) as string,
          probability: 0.75,
          forecast_at,
        },
      ],
      next_cursor: null,
    })
  })

  test('has all that were taken in one call, and none that was refused', async () => {
    const { client } = await node(copyOf(released))
    const forecasts = [QUESTION.open, QUESTION.closed].map((question_id) => ({
      question_id,
      probability: 0.1,
    }))
    await client.post(pathOf(agent.agentId), { forecasts }, bearer(agent.key))
    expect((await quotaIn(client)).forecasts).toMatchObject([
      { question_id: QUESTION.open, probability: 0.1 },
    ])
  })

  test(
    'is the same on a node that did not take it, and on one that starts later',
    { tags: ['slow'] },
    async () => {
      const store = copyOf(released)
      const [first, second] = [await node(store), await node(store)]
      await submit(first.client, QUESTION.open, 0.4)
      const expected = await quotaIn(first.client)
      await expect.poll(() => quotaIn(second.client)).toEqual(expected)
      expect(await quotaIn((await node(store)).client)).toEqual(expected)
    },
  )

  test(
    'stays when the forecasts are taken into the table, and on a node that reads them there',
    { tags: ['slow'] },
    async () => {
      const store = copyOf(released)
      const clock = new Clock(NOW)
      const { client, components } = await node(store, clock)
      await submit(client, QUESTION.open, 0.4)
      const expected = await quotaIn(client)
      clock.set('2026-03-01T13:00:00.000Z')
      await release(components)
      expect([...store.objects.keys()].filter((path) => path.startsWith('inbox/forecasts/'))).toEqual([])
      expect(await quotaIn(client)).toEqual(expected)
      expect(await quotaIn((await node(store, clock)).client)).toEqual(expected)
    },
  )

  test(
    'drops what stood on a question that is over, and has it again where its close is put off',
    { tags: ['slow'] },
    async () => {
      const store = copyOf(released)
      const clock = new Clock(NOW)
      const { client, components } = await node(store, clock)
      await importRows(components, 'questions', [HEADER, numbered(1, '2026-03-02T00:00:00Z')].join('\n'))
      await submit(client, uuidOf(5, 1), 0.4)
      const { forecasts } = await quotaIn(client)
      expect(forecasts).toHaveLength(1)
      clock.set('2026-03-02T00:00:00.000Z')
      expect((await quotaIn(client)).forecasts).toEqual([])
      const inMemory = async () =>
        /fvs_current_forecasts\{.*production.*\} (\d+)/.exec((await client.get('/metrics')).text)?.[1]
      await expect.poll(async () => (await quotaIn(client), inMemory())).toBe('0')
      await importRows(components, 'questions', [HEADER, numbered(1, '2026-03-05T00:00:00Z')].join('\n'))
      await expect
        .poll(async () => (await quotaIn(client)).forecasts)
        .toEqual([{ ...forecasts[0], closes_at: '2026-03-05T00:00:00.000Z' }])
      await importRows(
        components,
        'resolutions',
        `question_id,outcome,resolved_at\n${uuidOf(5, 1)},yes,2026-03-01T00:00:00Z\n`,
      )
      await expect.poll(async () => (await quotaIn(client)).forecasts).toEqual([])
    },
  )

  test(
    'has them in the order in which the questions close, in pages that together have each once',
    { tags: ['slow'] },
    async () => {
      const { client, components } = await node(copyOf(released))
      const closes = (number: number) => `2026-05-0${1 + (number % 3)}T00:00:00Z`
      const lines = Array.from({ length: 25 }, (_, number) => numbered(number, closes(number)))
      await importRows(components, 'questions', [HEADER, ...lines].join('\n'))
      for (let number = 0; number < 25; number++) await submit(client, uuidOf(5, number), number / 25)
      const { forecasts: all } = await quotaIn(client)
      const order = all.map(({ closes_at, question_id }) => `${closes_at} ${question_id}`)
      expect(order).toEqual(order.toSorted())
      expect(all).toHaveLength(25)
      const paged = []
      for (let query = '?limit=7'; ;) {
        const { forecasts, next_cursor } = await quotaIn(client, agent, query)
        paged.push(...forecasts)
        if (next_cursor === null) break
        expect(forecasts).toHaveLength(7)
        query = `?limit=7&cursor=${next_cursor}`
      }
      expect(paged).toEqual(all)
      expect((await quotaIn(client, agent, '?limit=25')).next_cursor).toBeNull()
      const [one] = all
      expect(
        (await quotaIn(client, agent, `?question_id=${one!.question_id.toUpperCase()}`)).forecasts,
      ).toEqual([one])
      expect((await quotaIn(client, agent, `?question_id=${uuidOf(9, 9)}`)).forecasts).toEqual([])
    },
  )

  test('lets the page of a question say how many agents have answered, and not what', async () => {
    const { client } = await node(copyOf(released))
    const page = async () => (await client.get(`/view/questions/${QUESTION.open}`)).text
    expect(await page()).toContain('0 agents so far')
    await submit(client, QUESTION.open, 0.123)
    await submit(client, QUESTION.open, 0.124)
    expect(await page()).toContain('1 agent so far')
    await submit(client, QUESTION.open, 0.125, await registerAgent(client, 'another agent'))
    expect(await page()).toContain('2 agents so far')
    expect(await page()).not.toContain('12.')
    expect((await client.get(`/view/questions/${QUESTION.closed}`)).text).not.toContain('so far')
  })

  test('shows an agent its own alone, and asks for its key', async () => {
    const { client } = await node(copyOf(released))
    const other = await registerAgent(client, 'another agent')
    await submit(client, QUESTION.open, 0.4)
    await submit(client, QUESTION.open, 0.6, other)
    expect((await quotaIn(client)).forecasts).toMatchObject([{ probability: 0.4 }])
    expect((await quotaIn(client, other)).forecasts).toMatchObject([{ probability: 0.6 }])
    expect((await client.get(pathOf(agent.agentId), bearer(other.key))).status).toBe(403)
    const { status, headers } = await client.get(pathOf(agent.agentId))
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer'])
    expect((await client.get(pathOf(agent.agentId), bearer(agent.key))).headers['cache-control']).toBe(
      'no-store',
    )
  })

  test('has what a retired agent said', async () => {
    const { client } = await node(copyOf(released))
    const other = await registerAgent(client, 'another agent')
    await submit(client, QUESTION.open, 0.6, other)
    await client.post(`/agents/${other.agentId}/retire`, {}, bearer(other.key))
    expect((await quotaIn(client, other)).forecasts).toMatchObject([{ probability: 0.6 }])
  })

  test('answers 503 until the node has read what stands, and then at once', async () => {
    const gate = Promise.withResolvers<void>()
    const store = new FaultStore(copyOf(released), {
      before: ({ path }) => (path.startsWith('tables/forecasts/') ? gate.promise : undefined),
    })
    const components = await testComponents({ store, clock: new Clock(NOW) })
    const { client } = await testService(components, { firstCallsMs: 0 })
    const early = await client.get(pathOf(agent.agentId), bearer(agent.key))
    expect(early.status).toBe(503)
    expect(early.headers['retry-after']).toBe('2')
    expect(early.json()).toMatchObject({ detail: expect.stringContaining('another node') as string })
    // All else is served.
    expect((await client.get('/questions')).status).toBe(200)
    await submit(client, QUESTION.open, 0.3)
    gate.resolve()
    await expect
      .poll(async () => (await client.get(pathOf(agent.agentId), bearer(agent.key))).text)
      .toContain('"probability":0.3')
  })

  test.for([
    ['?cursor=x', '/cursor'],
    ['?limit=0', '/limit'],
    ['?limit=1001', '/limit'],
    ['?question_id=x', '/question_id'],
    ['?agent_id=x', '/agent_id'],
  ])('refuses %s', async ([query, pointer]) => {
    const { client } = await node(copyOf(released))
    const answer = await client.get(pathOf(agent.agentId) + query!, bearer(agent.key))
    expect(answer.status).toBe(422)
    expect(answer.json()).toMatchObject({ errors: [{ pointer }] })
  })
})
