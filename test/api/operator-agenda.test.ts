// What waits for the operator, and what rows would do: lists in their order, the scopes of a key, and that a
// preview writes nothing.
import { describe, expect } from 'vitest'
import { Listing } from '../../api/questions/listing.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { OPERATOR_SCOPES, type OperatorScope } from '../../schemas/tiers.ts'
import { expectValid } from '../support/json-schema.ts'
import { expectProblem, pointersOf } from '../support/http/problem.ts'
import { test } from '../support/http/fixtures.ts'
import {
  type Answer,
  Clock,
  type TestService,
  bearer,
  registerAgent,
  testComponents,
} from '../support/http/service.ts'
import { contentOf } from '../support/store-content.ts'
import { START_MS, counting, questionOf } from '../support/worlds/questions.ts'
import { NOW, QUESTION, copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'

const clock = new Clock(NOW)
const store = new MemoryStore()
let service: TestService
let key: string

test.beforeAll(async ({ folder, serve }) => {
  await copyReleasedWorld(store)
  service = await serve(await testComponents({ store, folder, clock }))
  key = await keyFor(...OPERATOR_SCOPES)
})

const keyFor = (...scopes: OperatorScope[]) =>
  service.components.registry.createOperatorKey('the operator', clock.now(), scopes)
const call = (method: string, path: string, body: unknown, by = key): Promise<Answer> =>
  service.client.send(method, path, { body, headers: { 'Content-Type': 'application/json', ...bearer(by) } })
const put = async (kind: string, rows: object[], more: object = {}) => {
  const answer = await call('PUT', `/operator/${kind}`, { [kind]: rows, ...more })
  expect(answer.status, answer.text).toBe(200)
}

/** Questions of the world that a release has scored. */
const questionId = (index: number) => uuidOf(1, index)
const DAY_MS = 86_400_000
const inDays = (days: number) => new Date(Date.parse(NOW) + days * DAY_MS).toISOString()
const question = (n: number, opens: number, closes: number) => ({
  question_id: uuidOf(50, n),
  title: `Will it be ${n}?`,
  category: 'agenda',
  opened_at: inDays(opens),
  closes_at: inDays(closes),
})

interface List {
  count: number
  questions: { question_id: string; title: string; closes_at: string }[]
}
type Agenda = Record<'overdue' | 'closing' | 'opening', List> & { at: string }

describe('GET /operator/agenda', () => {
  const agenda = async (query = '', by = key): Promise<Agenda> => {
    const answer = await service.client.get(`/operator/agenda${query}`, bearer(by))
    expect(answer.status, answer.text).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    expectValid('agenda', answer.json())
    return answer.json()
  }

  test(
    'lists what is overdue, closes within a day or opens within a week, each once and in order',
    { tags: ['slow'] },
    async () => {
      const rows = [
        question(1, -9, -1),
        question(2, -9, -3),
        question(3, -9, 0),
        question(4, -9, 1),
        question(5, -9, 0.5),
        question(6, -9, 1.001),
        question(7, 7, 30),
        question(8, 0.2, 0.4),
        question(9, 7.001, 30),
        question(10, 3, 3.5),
      ]
      expect(new Set(rows.map(({ question_id }) => question_id)).size).toBe(10)
      await put('questions', rows)
      const found = await agenda()
      expect(found.at).toBe(NOW)
      const numbers = (list: List) =>
        list.questions.flatMap(({ question_id }) => {
          const index = rows.findIndex((row) => row.question_id === question_id)
          return index < 0 ? [] : [index + 1]
        })
      expect(numbers(found.overdue)).toEqual([2, 1, 3])
      expect(numbers(found.closing)).toEqual([5, 4])
      expect(numbers(found.opening)).toEqual([8, 10, 7])
      for (const list of [found.overdue, found.closing, found.opening])
        expect(list.count).toBe(list.questions.length)
      expect(found.overdue.questions.at(-1)).toEqual({ ...rows[2], url: null })
    },
  )

  test('counts beyond its limit, and has what was written before the call', { tags: ['slow'] }, async () => {
    const { count } = (await agenda()).overdue
    await put('questions', [question(11, -90, -80)])
    const more = await agenda('?limit=1')
    expect(more.overdue.count).toBe(count + 1)
    expect(more.overdue.questions.map(({ title }) => title)).toEqual(['Will it be 11?'])
    expect(more.opening.questions).toHaveLength(1)
    await put('resolutions', [
      { question_id: question(11, 0, 0).question_id, outcome: 'yes', resolved_at: NOW },
    ])
    expect((await agenda()).overdue.count).toBe(count)
  })

  test('is for any key of an operator, and for no other', async () => {
    for (const scope of OPERATOR_SCOPES) await agenda('', await keyFor(scope))
    const { key: own } = await registerAgent(service.client)
    expectProblem(await service.client.get('/operator/agenda', bearer(own)), 401, /not the API key/)
    expectProblem(await service.client.get('/operator/agenda'), 401, /no API key/)
    const wrong = await service.client.get('/operator/agenda?limit=1001', bearer(key))
    expectProblem(wrong, 422, /must be at most 1000/)
  })

  test('looks at few of many questions', { tags: ['slow'] }, () => {
    const many = Array.from({ length: 100_000 }, (_, n) =>
      questionOf(n, { openedAtMs: (n % 2) * n * 1000, closesAtMs: 100_000_000 + n * 1000 }),
    )
    const { counted, looks } = counting(many)
    const listing = new Listing()
    const now = new Date(START_MS + 1)
    listing.change([], counted, now)
    listing.due(now, 200)
    looks()
    const { closing, opening } = listing.due(now, 200)
    expect(looks()).toBeLessThan(200)
    expect(closing.count).toBe(0)
    expect(opening.questions).toHaveLength(200)
    expect(opening.count).toBe(50_000)
  })
})

describe('POST /operator/preview', () => {
  interface Part {
    kind: string
    added: number
    changed: number
    unchanged: number
    bad: number
    made_void: { forecasts: number; entities: number }
    errors: { pointer: string; detail: string }[]
  }
  interface Preview {
    needs_reason: boolean
    corrects: object[]
    parts: Part[]
  }
  /** The answer to a preview, which leaves every byte of the store as it is. */
  const preview = async (body: object, by = key): Promise<Preview> => {
    const before = await contentOf(store)
    const answer = await call('POST', '/operator/preview', body, by)
    expect(answer.status, answer.text).toBe(200)
    expectValid('preview', answer.json())
    expect(await contentOf(store)).toEqual(before)
    return answer.json()
  }

  test(
    'says what each call would do, the outcomes of new questions included',
    { tags: ['slow'] },
    async () => {
      const row = question(20, -9, -1)
      const said = { question_id: row.question_id, outcome: 'yes', resolved_at: NOW }
      const found = await preview({ questions: [row, question(21, -9, 3)], resolutions: [said] })
      expect(found).toMatchObject({ needs_reason: false, corrects: [] })
      expect(found.parts).toMatchObject([
        { kind: 'questions', rows: 2, added: 2, bad: 0, errors: [] },
        { kind: 'resolutions', rows: 1, added: 1, bad: 0, errors: [] },
      ])
      await put('questions', [row])
      await put('resolutions', [said])
      const again = await preview({ resolutions: [said] })
      expect(again.parts).toMatchObject([{ added: 0, changed: 0, unchanged: 1 }])
    },
  )

  test('answers with bad rows as a call would name them', { tags: ['slow'] }, async () => {
    const found = await preview({
      questions: [question(22, -9, 1), { ...question(23, -9, 1), closes_at: 'soon' }],
      resolutions: [{ question_id: uuidOf(59, 1), outcome: 'yes', resolved_at: NOW }],
    })
    expect(found.parts.map(({ bad }) => bad)).toEqual([1, 1])
    const [questions, resolutions] = found.parts
    expect(questions!.errors).toEqual([
      { pointer: '/questions/1', detail: expect.stringMatching(/^closes_at is "soon"/) },
    ])
    expect(resolutions!.errors[0]).toMatchObject({ pointer: '/resolutions/0' })
    expect(JSON.stringify(found)).not.toMatch(/--|line \d/)
    const refused = await call('PUT', '/operator/questions', {
      questions: [{ ...question(23, -9, 1), closes_at: 'soon' }],
    })
    expect(pointersOf(refused)).toEqual(['/questions/0'])
  })

  test(
    'tells the outcomes that the next release would correct, and those made void',
    { tags: ['slow'] },
    async () => {
      const id = questionId(0)
      const shown = (await service.client.get(`/questions/${id}`)).json<Record<string, string>>()
      const from = shown['outcome']!
      const to = from === 'yes' ? 'no' : 'yes'
      const row = (outcome: string, resolved_at = shown['resolved_at']!) => ({
        question_id: id,
        outcome,
        resolved_at,
      })
      expect((await preview({ resolutions: [row(to)] })).corrects).toEqual([{ question_id: id, from, to }])
      expect((await preview({ resolutions: [row('open')] })).corrects).toEqual([
        { question_id: id, from, to: 'open' },
      ])
      expect((await preview({ resolutions: [row(from)] })).corrects).toEqual([])
      const early = await preview({ resolutions: [row(from, '2026-01-01T00:00:00.001Z')] })
      expect(early.parts[0]!.made_void.forecasts).toBeGreaterThan(0)
      expect(early.parts[0]!.made_void.entities).toBeGreaterThan(0)
    },
  )

  test('says whether a reason is needed, until one is sent', { tags: ['slow'] }, async () => {
    const { question_id, title, opened_at } = (await service.client.get(`/questions/${questionId(1)}`)).json<
      Record<string, string>
    >()
    const questions = [{ question_id, title, opened_at, closes_at: '2026-02-27T00:00:00Z' }]
    const found = await preview({ questions })
    expect(found).toMatchObject({ needs_reason: true, parts: [{ bad: 1, changed: 0 }] })
    expect(found.parts[0]!.errors[0]!.detail).toMatch(/send a reason/)
    expect(await preview({ questions, reason: 'the close was wrong' })).toMatchObject({
      needs_reason: false,
      parts: [{ bad: 0, changed: 1 }],
    })
  })

  test('needs the scopes of the calls that it previews', async () => {
    const own = await keyFor('questions')
    await preview({ questions: [question(24, -9, 1)] }, own)
    const resolutions = [{ question_id: QUESTION.open, outcome: 'yes', resolved_at: NOW }]
    for (const body of [{ resolutions }, { questions: [question(24, -9, 1)], resolutions }]) {
      const refused = await call('POST', '/operator/preview', body, own)
      expectProblem(refused, 403, /has the scope questions, and the call needs resolutions/)
    }
    expectProblem(
      await call('POST', '/operator/preview', { resolutions }, await keyFor('people')),
      403,
      /people/,
    )
  })

  test('must have something, and only what a call takes', async () => {
    expectProblem(await call('POST', '/operator/preview', {}), 422, /must have questions or resolutions/)
    expectProblem(await call('POST', '/operator/preview', { resolutions: [] }), 422, /at least one row/)
    const more = { questions: [question(25, -9, 1)], forecasts: [] }
    expectProblem(await call('POST', '/operator/preview', more), 422, /forecasts/)
    const rows = Array.from({ length: 1001 }, () => ({}))
    expectProblem(await call('POST', '/operator/preview', { resolutions: rows }), 422, /1001 resolutions/)
  })
})
