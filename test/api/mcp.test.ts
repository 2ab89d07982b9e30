// POST /mcp as a model's program uses it: the official client over Streamable HTTP, against the real service.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, onTestFinished } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { expectValid } from '../support/json-schema.ts'
import { expectProblem } from '../support/http/problem.ts'
import { test } from '../support/http/fixtures.ts'
import {
  Clock,
  type TestService,
  bearer,
  importRows,
  testComponents,
  testService,
} from '../support/http/service.ts'
import { NOW, QUESTION, type WorldAgent, copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'

const COLUMNS = 'question_id,title,event_id,opened_at,closes_at'
const TIMES = '2026-01-01T00:00:00Z,2199-01-01T00:00:00Z'
const OF_EVENT = uuidOf(6, 1)

const folder = await suiteFolder()
let service: TestService
let agent: WorldAgent

test.beforeAll(async ({ serve }) => {
  const components = await testComponents({ folder, clock: new Clock(NOW) })
  agent = await copyReleasedWorld(components.store)
  await importRows(components, 'questions', `${COLUMNS}\n${OF_EVENT},Which?,event,${TIMES}\n`)
  service = await serve(components)
})

async function connect(headers: Record<string, string> = {}, by = service): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL(`${by.url}/mcp`), { requestInit: { headers } })
  const client = new Client({ name: 'a test', version: '1.0.0' })
  onTestFinished(() => client.close())
  await client.connect(transport)
  return client
}

const post = (message: unknown, headers: Record<string, string> = {}, by = service) =>
  by.client.post('/mcp', message, { Accept: 'application/json, text/event-stream', ...headers })
const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const questions = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_questions' } }

test('a model reads, submits and reads back with the key of its agent', { tags: ['slow'] }, async () => {
  const client = await connect(bearer(agent.key))
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('submit_forecast')
  expect(JSON.stringify(tools).length).toBeLessThan(10_000)
  const page = await client.callTool({ name: 'list_questions', arguments: { include: 'texts' } })
  expectValid('question-page', page.structuredContent)
  const submitted = await client.callTool({
    name: 'submit_forecast',
    arguments: { question_id: QUESTION.open, probability: 0.375 },
  })
  expectValid('acknowledged-forecast', submitted.structuredContent)
  const current = await client.callTool({ name: 'my_forecasts', arguments: { question_id: QUESTION.open } })
  expect(current.structuredContent).toMatchObject({
    agent_id: agent.agentId,
    forecasts: [{ probability: 0.375 }],
  })
  const refused = await client.callTool({
    name: 'submit_forecast',
    arguments: { question_id: QUESTION.closed, probability: 0.5 },
  })
  expect(refused).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: expect.stringMatching(/takes no forecast: it closed at/) as string }],
  })
})

test('a model without a key reads, and registers an agent whose key it then sends', async () => {
  const client = await connect()
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).not.toContain('submit_forecast')
  const registered = await client.callTool({
    name: 'register_agent',
    arguments: { name: 'a remote model', model_type: 'a test' },
  })
  expectValid('registered', registered.structuredContent)
  const { agent_id, api_key } = registered.structuredContent as Record<string, string>
  const own = await connect({ 'X-API-Key': api_key! })
  const submitted = await own.callTool({
    name: 'submit_forecast',
    arguments: { question_id: QUESTION.open, probability: 0.5 },
  })
  expect(submitted.structuredContent).toMatchObject({ agent_id })
})

test('every tool answers over HTTP as its call does', async () => {
  const client = await connect(bearer(agent.key))
  const withdrawn = { forecasts: [{ question_id: QUESTION.closed, probability: null }] }
  const others = {
    get_question: { question_id: QUESTION.open },
    get_rank: {},
    leaderboard: { entity_type: 'forecaster', limit: 2 },
    my_scores: {},
    submit_forecasts: withdrawn,
    forecast_event: { event_id: 'event', probabilities: { [OF_EVENT]: 0.25 }, strict: true },
    withdraw_forecast: { question_id: QUESTION.open },
  }
  await client.callTool({
    name: 'submit_forecast',
    arguments: { question_id: QUESTION.open, probability: 0.5 },
  })
  const texts: Record<string, string> = {}
  for (const [name, given] of Object.entries(others)) {
    const { content, isError } = await client.callTool({ name, arguments: given })
    expect(isError ?? false, JSON.stringify(content)).toBe(false)
    texts[name] = (content as { text: string }[])[0]!.text
  }
  expect(texts).toMatchObject({
    get_question: expect.stringMatching(/^The question is open/) as string,
    leaderboard: '2 places; next_cursor leads on.',
    my_scores: '20 scores; next_cursor leads on.',
    submit_forecasts: '0 of 1 taken; the others say why not.',
    forecast_event: '1 taken.',
    withdraw_forecast: expect.stringMatching(/^Withdrawn from /) as string,
  })
})

test('a text has the structured content too, for programs that hand on nothing else', async () => {
  const client = await connect(bearer(agent.key))
  for (const name of ['list_questions', 'get_rank', 'my_scores', 'my_forecasts', 'leaderboard']) {
    const { content, structuredContent } = await client.callTool({ name })
    expect((content as object[]).length, name).toBe(2)
    expect(JSON.parse((content as { text: string }[])[1]!.text), name).toEqual(structuredContent)
  }
})

test('history is true or false, and null for an optional argument is as if it were left out', async () => {
  const client = await connect(bearer(agent.key))
  const { tools } = await client.listTools()
  const { inputSchema } = tools.find(({ name }) => name === 'my_forecasts')!
  expect(inputSchema).toMatchObject({ type: 'object', properties: { history: { type: 'boolean' } } })
  const given = [
    ['my_forecasts', { history: true }],
    ['my_forecasts', { history: false, question_id: null, cursor: null, limit: null }],
    ['list_questions', { status: null, category: null, q: null, include: null, limit: null, cursor: null }],
    ['leaderboard', { entity_type: null, category: null }],
    ['get_rank', { agent_id: null }],
    ['my_scores', { cursor: null }],
    ['submit_forecast', { question_id: QUESTION.open, probability: 0.5, rationale: null }],
    ['submit_forecasts', { forecasts: [{ question_id: QUESTION.open, probability: 0.5, rationale: null }] }],
  ] as const
  for (const [name, args] of given) {
    const { isError, content } = await client.callTool({ name, arguments: args })
    expect(isError ?? false, `${name} ${JSON.stringify(args)} ${JSON.stringify(content)}`).toBe(false)
  }
  const missing = await client.callTool({ name: 'get_question', arguments: { question_id: null } })
  expect(missing.isError).toBe(true)
})

test('whoever does not name both types of an answer is answered too', async () => {
  for (const Accept of ['*/*', 'text/event-stream', 'application/json', 'text/html']) {
    const answer = await post(questions, { Accept })
    const { status, headers, text } = answer
    expect([status, headers['content-type']], Accept).toEqual([200, 'application/json'])
    expect(answer.json(), Accept).toMatchObject({ id: 1, result: { structuredContent: {} } })
    expect(text).toContain('next_cursor')
  }
})

test('a wrong key is refused at the start', async () => {
  await expect(connect(bearer('fv_live_wrong'))).rejects.toThrow(/401|unknown or was revoked/)
  expectProblem(await post(listTools, bearer('fv_live_wrong')), 401, /unknown or was revoked/)
})

describe('a request', () => {
  test('of a page of another origin is refused', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1']) {
      expectProblem(await post(listTools, { Origin: origin }), 403, /may not call this/, 'other-origin')
    }
    expect((await post(listTools)).status).toBe(200)
  })

  test.for([
    ['several messages at once', [listTools, listTools], 422],
    ['no message of the protocol', { id: 1, method: 'tools/list' }, 422],
    ['a stream that stays open', { ...listTools, method: 'subscriptions/listen' }, 422],
    ['no JSON', Buffer.from('{'), 400],
  ] as const)('with %s is refused', async ([, message, status]) => {
    expectProblem(await post(message), status, /./)
  })

  test('for a tool that is not there, or for what no tool takes, is answered by the protocol', async () => {
    const call = (name: string, args: object) =>
      post({ ...questions, params: { name, arguments: args } }).then(({ text }) => text)
    expect(await call('drop_tables', {})).toMatch(/drop_tables/)
    expect(await call('get_question', { question_id: '../../livez' })).toMatch(/Input validation error/)
    expect(await call('submit_forecast', { question_id: QUESTION.open, probability: 1 })).toMatch(
      /submit_forecast/,
    )
  })

  test('by GET or DELETE has no session to find', async () => {
    for (const method of ['GET', 'DELETE'] as const) {
      expect((await service.client.send(method, '/mcp', {})).status).toBe(405)
    }
  })
})

test('a failure of the service is one of the request, and is no answer of a tool', async () => {
  let isDown = false
  const store = new FaultStore(new MemoryStore(), {
    before: ({ path }) => {
      if (isDown) throw new ServiceError('unavailable', `there is no ${path}`)
    },
  })
  const down = await testService(await testComponents({ store, folder, clock: new Clock(NOW) }))
  isDown = true
  const asked = { ...questions, params: { name: 'get_question', arguments: { question_id: QUESTION.open } } }
  expectProblem(await post(asked, {}, down), 503, /the store does not answer/)
})

test('a tool call counts as the call that it makes, and nothing besides', { tags: ['slow'] }, async () => {
  const components = await testComponents({
    folder,
    clock: new Clock(NOW),
    settings: { READS_PER_MINUTE: '3', ADDRESS_FORECASTS_PER_MINUTE: '2' },
  })
  await copyReleasedWorld(components.store)
  const limited = await testService(components)
  const { agent_id, api_key } = (
    await limited.client.post('/agents/register', { name: 'a', model_type: 'b' })
  ).json<Record<string, string>>()
  const submit = { name: 'submit_forecast', arguments: { question_id: QUESTION.open, probability: 0.5 } }
  const texts: string[] = []
  for (let nth = 0; nth < 3; nth++) {
    texts.push((await post({ ...questions, params: submit }, bearer(api_key!), limited)).text)
  }
  expect(texts.slice(0, 2).join('')).toContain(agent_id)
  expect(texts[2]).toMatch(/Try again after \d+ seconds/)
  for (let nth = 0; nth < 3; nth++) expect((await post(questions, {}, limited)).text).toContain('next_cursor')
  expectProblem(await post(questions, {}, limited), 429, /./)
})
