// Many forecasts in one call: an answer for each, one durable write, one claim of the Idempotency-Key.
import { describe, expect } from 'vitest'
import { canonicalText } from '../../pipeline/proof/canonical.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { suiteFolder } from '../support/folder.ts'
import { inboxRows } from '../support/inbox-rows.ts'
import { expectValid } from '../support/json-schema.ts'
import { expectProblem, pointersOf } from '../support/http/problem.ts'
import { test } from '../support/http/fixtures.ts'
import {
  Clock,
  type TestService,
  importRows,
  registerAgent,
  startTestService,
  testComponents,
} from '../support/http/service.ts'
import { NOW, QUESTION, copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'

const OPEN = 120
const openQuestion = (index: number) => uuidOf(6, index)

const folder = await suiteFolder()
const clock = new Clock(NOW)
const store = new MemoryStore()
let service: TestService
let agentId: string
let key: string

test.beforeAll(async ({ serve }) => {
  const components = await testComponents({ store, folder, clock })
  await copyReleasedWorld(store)
  const questions = Array.from(
    { length: OPEN },
    (_, index) => `${openQuestion(index)},Open ${index}?,2026-01-01T00:00:00Z,2026-06-01T00:00:00Z`,
  )
  await importRows(
    components,
    'questions',
    ['question_id,title,opened_at,closes_at', ...questions, ''].join('\n'),
  )
  service = await serve(components)
  ;({ agentId, key } = await registerAgent(service.client))
})

interface Result {
  status: 'ok' | 'refused'
  question_id: string
  forecast_id?: string
  problem?: { type: string; detail: string }
}

const post = (forecasts: unknown, headers: Record<string, string> = {}, by = service) =>
  by.client.post(
    `/agents/${agentId}/forecasts`,
    { forecasts },
    { Authorization: `Bearer ${key}`, ...headers },
  )
const on = (...questions: string[]) => questions.map((question_id) => ({ question_id, probability: 0.25 }))
const inboxPaths = () => [...store.objects.keys()].filter((path) => path.startsWith('inbox/forecasts/'))

describe('many forecasts at once', () => {
  test('are answered each, in order, and those that are taken are durable by one write', async () => {
    const before = inboxPaths()
    const questions = Array.from({ length: 97 }, (_, index) => openQuestion(index))
    const wrong = [QUESTION.closed, QUESTION.resolved, uuidOf(9, 9)]
    const answer = await post(on(...questions.slice(0, 50), ...wrong, ...questions.slice(50)))
    expect(answer.status, answer.text).toBe(200)
    expectValid('forecast-results', answer.json())
    expect(answer.text).toBe(canonicalText(answer.json()))
    const { results } = answer.json<{ results: Result[] }>()
    expect(results.map(({ status }) => status)).toEqual([
      ...Array<string>(50).fill('ok'),
      ...Array<string>(3).fill('refused'),
      ...Array<string>(47).fill('ok'),
    ])
    expect(results.slice(50, 53).map(({ problem }) => problem!.type)).toEqual([
      '/problems/question-closed',
      '/problems/question-resolved',
      '/problems/not-found',
    ])
    expect(new Set(results.map(({ forecast_id }) => forecast_id)).size).toBe(98)
    const [path, ...others] = inboxPaths().filter((one) => !before.includes(one))
    expect(others).toEqual([])
    const rows = await inboxRows(store, 'forecasts')
    const written = rows.filter(({ entity_id }) => entity_id === agentId)
    expect(path).toBeDefined()
    expect(new Set(written.map(({ forecast_id }) => forecast_id))).toEqual(
      new Set(results.flatMap(({ forecast_id }) => forecast_id ?? [])),
    )
    expect(new Set(written.map(({ forecast_at }) => String(forecast_at))).size).toBe(1)
  })

  test('of which several are on one question are refused but for the first, in letters of any case', async () => {
    const sent = on(openQuestion(0xa), QUESTION.closed, openQuestion(0xa).toUpperCase(), openQuestion(2))
    const answer = await post(sent, { 'Idempotency-Key': 'batch-with-duplicates' })
    const { results } = answer.json<{ results: Result[] }>()
    expect(results.map(({ status }) => status)).toEqual(['ok', 'refused', 'refused', 'ok'])
    expect(results.map(({ question_id }) => question_id)).toEqual(
      sent.map(({ question_id }) => question_id.toLowerCase()),
    )
    expect(results[2]!.problem).toMatchObject({
      type: '/problems/invalid-body',
      status: 422,
      errors: [
        {
          pointer: '/forecasts/2/question_id',
          detail: 'forecasts/2/question_id was named before in this call: send one forecast for a question',
        },
      ],
    })
    const repeated = await post(sent, { 'Idempotency-Key': 'batch-with-duplicates' })
    expect(repeated.json<{ results: Result[] }>().results[2]).toEqual(results[2])
  })

  test('that are all refused write nothing', async () => {
    const before = inboxPaths()
    const { results } = (await post(on(QUESTION.closed, uuidOf(9, 1)))).json<{ results: Result[] }>()
    expect(results.map(({ status }) => status)).toEqual(['refused', 'refused'])
    expect(inboxPaths()).toEqual(before)
  })

  test.for([
    ['none', [], ['/forecasts']],
    ['no list', 'all', ['/forecasts']],
    [
      'an impossible probability',
      [{ question_id: openQuestion(1), probability: 2 }],
      ['/forecasts/0/probability'],
    ],
  ] as const)('%s is refused whole', async ([, forecasts, pointers]) => {
    const before = inboxPaths()
    expect(pointersOf(await post(forecasts))).toEqual(pointers)
    expect(inboxPaths()).toEqual(before)
  })

  test('more than a hundred are refused before any is looked at', async () => {
    const answer = await post(Array.from({ length: 101 }, () => 'x'))
    expect(pointersOf(answer)).toEqual(['/forecasts'])
    expect(answer.json()).toMatchObject({
      type: '/problems/too-many-ids',
      detail: '101 forecasts were sent; at most 100 are allowed in one request',
    })
  })

  test('with another agent’s key are refused', async () => {
    const other = await registerAgent(service.client)
    const answer = await post(on(openQuestion(1)), { Authorization: `Bearer ${other.key}` })
    expectProblem(answer, 403, /belongs to another agent/)
  })
})

describe('with an Idempotency-Key', () => {
  test('the same answer is given again, by any node, also once a question has closed meanwhile', async () => {
    const header = { 'Idempotency-Key': uuidOf(8, 1) }
    const forecasts = on(openQuestion(3), QUESTION.closed, openQuestion(4))
    const first = await post(forecasts, header)
    const written = inboxPaths()
    const components = await testComponents({ store, folder, clock: new Clock('2026-07-01T00:00:00.000Z') })
    const other = await startTestService(components)
    try {
      const again = await post(forecasts, header, other)
      expect([again.status, again.text]).toEqual([200, first.text])
      expect(inboxPaths()).toEqual(written)
    } finally {
      await other.stop()
    }
    const reused = await post(on(openQuestion(3)), header)
    expect(reused.json()).toMatchObject({ status: 422, type: '/problems/idempotency-key-reused' })
  })
})

describe('the limit of an agent', () => {
  test('counts each forecast of a call, and a call too large counts nothing', async () => {
    const settings = { FORECASTS_PER_MINUTE: '10', FORECASTS_BURST: '10' }
    const components = await testComponents({ store, folder, clock, settings })
    const limited = await startTestService(components)
    try {
      const remaining = (answer: Awaited<ReturnType<typeof post>>) =>
        Number(/r=(\d+)/.exec(String(answer.headers['ratelimit']))![1])
      const six = await post(on(...[1, 2, 3, 4, 5, 6].map(openQuestion)), {}, limited)
      expect([six.status, remaining(six)]).toEqual([200, 4])
      const five = await post(on(...[1, 2, 3, 4, 5].map(openQuestion)), {}, limited)
      expectProblem(five, 429, /has submitted 10 forecasts/)
      const four = await post(on(...[1, 2, 3, 4].map(openQuestion)), {}, limited)
      expect([four.status, remaining(four)]).toEqual([200, 0])
    } finally {
      await limited.stop()
    }
  })
})
