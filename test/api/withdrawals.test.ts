// An agent withdraws its forecast: alone, in a batch, once however often it asks, and until it forecasts again.
import { beforeAll, describe, expect, test } from 'vitest'
import { parseReceiptHeader } from '../../pipeline/proof/receipts.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { auditRelease } from '../../pipeline/audit/release.ts'
import {
  type Client,
  Clock,
  SECRET,
  bearer,
  importRows,
  release,
  testComponents,
  testService,
} from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { inboxRows } from '../support/inbox-rows.ts'
import { LOG_KEY } from '../support/worlds/written-log.ts'
import { NOW, QUESTION, type WorldAgent, copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'

let released: MemoryStore
let agent: WorldAgent
beforeAll(async () => {
  released = new MemoryStore()
  agent = await copyReleasedWorld(released)
})

async function node(clock = new Clock(NOW)) {
  const store = copyOf(released)
  const components = { ...(await testComponents({ store, clock })), signers: [LOG_KEY] }
  const service = await testService(components)
  await expect.poll(async () => (await listed(service.client)).status).toBe(200)
  return { ...service, store }
}

const auth = () => bearer(agent.key)
const listed = (client: Client) => client.get(`/agents/${agent.agentId}/forecasts`, auth())
const standing = async (client: Client) =>
  (await listed(client))
    .json<{ forecasts: { question_id: string }[] }>()
    .forecasts.map(({ question_id: id }) => id)
const submit = (client: Client, question_id: string, probability: number) =>
  client.post(`/agents/${agent.agentId}/forecast`, { question_id, probability }, auth())
const withdraw = (client: Client, questionId: string, headers: Record<string, string> = {}) =>
  client.send('DELETE', `/agents/${agent.agentId}/forecasts/${questionId}`, {
    headers: { ...auth(), ...headers },
  })

describe('DELETE /agents/{agent_id}/forecasts/{question_id}', () => {
  test('is durable when it is answered, and leaves the agent without a forecast until its next', async () => {
    const { client, store } = await node()
    await submit(client, QUESTION.open, 0.7)
    const answer = await withdraw(client, QUESTION.open)
    expect(answer.status, answer.text).toBe(200)
    const { forecast_id, ...body } = answer.json<{ forecast_id: string }>()
    expect(body).toEqual({
      agent_id: agent.agentId,
      question_id: QUESTION.open,
      probability: null,
      // The clock stands still, and the forecast has the millisecond before.
      forecast_at: new Date(Date.parse(NOW) + 1).toISOString(),
    })
    const rows = await inboxRows(store, 'forecasts')
    expect(rows.find((row) => row['forecast_id'] === forecast_id)).toMatchObject({ probability: null })
    expect(await standing(client)).toEqual([])
    await submit(client, QUESTION.open, 0.2)
    expect(await standing(client)).toEqual([QUESTION.open])
  })

  test('has a receipt over its body', async () => {
    const { client } = await node()
    await submit(client, QUESTION.open, 0.7)
    const answer = await withdraw(client, QUESTION.open)
    const header = answer.headers['x-service-receipt'] as string
    expect(parseReceiptHeader(header)).toContain(LOG_KEY.verifier.name)
    expect(answer.text).toBe(JSON.stringify(JSON.parse(answer.text)))
  })

  test('with an Idempotency-Key is one withdrawal, also once nothing stands any more', async () => {
    const { client, store } = await node()
    await submit(client, QUESTION.open, 0.7)
    const key = { 'Idempotency-Key': uuidOf(7, 1) }
    const first = await withdraw(client, QUESTION.open, key)
    const second = await withdraw(client, QUESTION.open, key)
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.text).toBe(first.text)
    const rows = await inboxRows(store, 'forecasts')
    expect(rows.filter((row) => row['probability'] === null)).toHaveLength(1)
  })

  test.for([
    ['where nothing stands', QUESTION.open, 404, '/problems/nothing-to-withdraw'],
    ['on a question that has closed', QUESTION.closed, 409, '/problems/question-closed'],
    ['on a question that is not there', uuidOf(9, 9), 404, '/problems/not-found'],
  ] as const)('%s is refused', async ([, question, status, type]) => {
    const { client, store } = await node()
    const before = store.objects.size
    const answer = await withdraw(client, question)
    expect(answer.json()).toMatchObject({ status, type })
    expect(store.objects.size).toBe(before)
  })
})

test('in a batch null withdraws, and is refused alone where nothing stands', async () => {
  const { client } = await node()
  await submit(client, QUESTION.open, 0.7)
  const forecasts = [
    { question_id: QUESTION.open, probability: null },
    { question_id: QUESTION.closed, probability: null },
  ]
  const answer = await client.post(`/agents/${agent.agentId}/forecasts`, { forecasts }, auth())
  expect(answer.json()).toMatchObject({
    results: [
      { status: 'ok', question_id: QUESTION.open, probability: null },
      { status: 'refused', problem: { type: '/problems/question-closed' } },
    ],
  })
  expect(await standing(client)).toEqual([])
  const again = await client.post(
    `/agents/${agent.agentId}/forecasts`,
    { forecasts: forecasts.slice(0, 1) },
    auth(),
  )
  expect(again.json()).toMatchObject({ results: [{ problem: { type: '/problems/nothing-to-withdraw' } }] })
})

test('alone, a probability of null is refused: there is a call for that', async () => {
  const { client } = await node()
  const answer = await submit(client, QUESTION.open, null as unknown as number)
  expect(answer.json()).toMatchObject({ status: 422, errors: [{ pointer: '/probability' }] })
})

test('a release scores the time that was held, and an audit derives it', { tags: ['slow'] }, async () => {
  const clock = new Clock(NOW)
  const { client, components } = await node(clock)
  const at = (hours: number) => {
    clock.set(new Date(Date.parse(NOW) + hours * 3_600_000).toISOString())
  }
  const question = uuidOf(1, 3000)
  const [opens, closes] = [NOW, '2026-03-02T12:00:00.000Z']
  await importRows(
    components,
    'questions',
    `question_id,title,opened_at,closes_at\n${question},Will it?,${opens},${closes}\n`,
  )
  await expect.poll(async () => (await client.get(`/questions/${question}`)).status).toBe(200)
  await submit(client, question, 0.7)
  at(6)
  expect((await withdraw(client, question)).status).toBe(200)
  at(12)
  await submit(client, question, 0.9)
  at(24)
  await importRows(components, 'resolutions', `question_id,outcome,resolved_at\n${question},yes,${closes}\n`)
  expect(await release(components)).toMatchObject({ made: true, release: 2 })
  await expect.poll(async () => (await client.get('/releases/current')).json()['release']).toBe(2)
  const { scores: rows } = (await client.get(`/agents/${agent.agentId}/scores?limit=1000`)).json<{
    scores: Record<string, unknown>[]
  }>()
  // Six hours of 0.7, and twelve of 0.9.
  expect(rows.find((row) => row['question_id'] === question)).toMatchObject({
    coverage: 0.75,
    brier: 0.036666666667,
    forecasts: 2,
    closing_probability: 0.9,
    settled: true,
    witnessed: true,
  })
  using database = await components.openDatabase()
  const { faults } = await auditRelease({ ...components, database, secrets: [SECRET] }, 2)
  expect(faults).toEqual([])
})
