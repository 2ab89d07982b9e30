// Events over HTTP: how a question and its event are shown, and one call that forecasts a whole event, all or none.
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
  testComponents,
} from '../support/http/service.ts'
import { NOW, QUESTION, copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const clock = new Clock(NOW)
const store = new MemoryStore()
let service: TestService
let agentId: string
let key: string

const KINDS = ['exclusive', 'at_most_one', 'ordered', 'independent'] as const
/** The nth question of an event; the last one of each has closed. */
const questionOf = (kind: (typeof KINDS)[number], n: number) => uuidOf(60 + KINDS.indexOf(kind), n)

test.beforeAll(async ({ serve }) => {
  const components = await testComponents({ store, folder, clock })
  await copyReleasedWorld(store)
  const rows = KINDS.flatMap((kind) =>
    [3, 1, 2, 4].map((n) => {
      const closes = n === 4 ? '2026-02-01' : '2026-06-01'
      return `${questionOf(kind, n)},${kind} ${n}?,${kind},${n},option ${n},2026-01-01T00:00:00Z,${closes}T00:00:00Z`
    }),
  )
  const columns = 'question_id,title,event_id,position,option,opened_at,closes_at'
  await importRows(components, 'questions', [columns, ...rows, ''].join('\n'))
  const events = KINDS.slice(0, 3).map((kind) => `${kind},Which ${kind}?,${kind}`)
  await importRows(components, 'events', ['event_id,title,kind', ...events, ''].join('\n'))
  service = await serve(components)
  ;({ agentId, key } = await registerAgent(service.client))
})

type Probabilities = Record<string, number>
const probabilitiesOf = (kind: (typeof KINDS)[number], ...values: number[]): Probabilities =>
  Object.fromEntries(values.map((value, index) => [questionOf(kind, index + 1), value]))
const post = (event: string, probabilities: Probabilities, { query = '', headers = {} } = {}) =>
  service.client.post(
    `/agents/${agentId}/events/${event}/forecast${query}`,
    { probabilities },
    { Authorization: `Bearer ${key}`, ...headers },
  )
const written = async () => (await inboxRows(store, 'forecasts')).length

describe('a question', () => {
  test('is shown with its event and its place in it', async () => {
    const answer = await service.client.get(`/questions/${questionOf('ordered', 2)}`)
    expectValid('question', answer.json())
    expect(answer.json()).toMatchObject({
      event_id: 'ordered',
      event: {
        event_id: 'ordered',
        title: 'Which ordered?',
        kind: 'ordered',
        position: 2,
        option: 'option 2',
        questions: 4,
      },
    })
    const page = await service.client.get('/questions?event_id=independent')
    expect(page.json<{ questions: { event: object }[] }>().questions[0]!.event).toMatchObject({
      title: null,
      kind: 'independent',
      questions: 4,
    })
    expect((await service.client.get(`/questions/${QUESTION.open}`)).json()).toMatchObject({ event: null })
  })
})

describe('an event', () => {
  test('has its questions in order of their positions', async () => {
    const answer = await service.client.get('/events/exclusive')
    expectValid('event', answer.json())
    const { questions, ...event } = answer.json<{ questions: { position: number; status: string }[] }>()
    expect(event).toMatchObject({ event_id: 'exclusive', title: 'Which exclusive?', kind: 'exclusive' })
    expect(questions.map(({ position, status }) => [position, status])).toEqual([
      ...[1, 2, 3].map((position) => [position, 'open']),
      [4, 'closed'],
    ])
  })

  test('of more questions than are told together has those that close first, and takes no joint forecast', async () => {
    const rows = Array.from(
      { length: 1_001 },
      (_, n) =>
        `${uuidOf(80, n)},Many ${n}?,many,2026-01-01T00:00:00Z,${new Date(Date.UTC(2027, 0, 1, 0, 0, n)).toISOString()}`,
    )
    const csv = ['question_id,title,event_id,opened_at,closes_at', ...rows, ''].join('\n')
    await importRows(service.components, 'questions', csv)
    await service.client.get(`/questions/${uuidOf(80, 0)}`)
    const told = (await service.client.get('/events/many')).json<{
      question_count: number
      questions: object[]
    }>()
    expect(told.question_count).toBe(1_001)
    expect(told.questions).toHaveLength(1_000)
    const refused = await post('many', { [uuidOf(80, 0)]: 0.5 })
    expectProblem(refused, 422, /has 1001 questions/)
  })

  test('without a question is not there', async () => {
    expectProblem(await service.client.get('/events/nothing'), 404, /no question has the event_id "nothing"/)
  })
})

describe('a forecast of an event', () => {
  test('is durable for every open question, with one time, and counts once however often it is sent', async () => {
    const before = await written()
    const headers = { 'Idempotency-Key': 'the-whole-event' }
    const answer = await post('exclusive', probabilitiesOf('exclusive', 0.5, 0.25, 0.25), { headers })
    expect(answer.status, answer.text).toBe(200)
    expectValid('event-forecast', answer.json())
    expect(answer.text).toBe(canonicalText(answer.json()))
    const { results } = answer.json<{ results: { question_id: string; forecast_at: string }[] }>()
    expect(results.map(({ question_id }) => question_id)).toEqual(
      [1, 2, 3].map((n) => questionOf('exclusive', n)),
    )
    expect(new Set(results.map(({ forecast_at }) => forecast_at)).size).toBe(1)
    expect(await written()).toBe(before + 3)
    const again = await post('exclusive', probabilitiesOf('exclusive', 0.5, 0.25, 0.25), { headers })
    expect(again.text).toBe(answer.text)
    expect(await written()).toBe(before + 3)
  })

  test.for([
    ['exclusive', [0.5, 0.4, 0.3], { sum: 1.2 }],
    // One option has closed, so that less than 1 may be right.
    ['exclusive', [0.5, 0.2, 0.1], null],
    ['at_most_one', [0.1, 0.1, 0.1], null],
    ['at_most_one', [0.5, 0.4, 0.2], { sum: 1.1 }],
    ['at_most_one', [0.333334, 0.333333, 0.333334], null],
    ['ordered', [0.9, 0.5, 0.5], null],
    ['ordered', [0.5, 0.6, 0.1], { rises_at: [questionOf('ordered', 2)] }],
    ['independent', [0.9, 0.9, 0.9], null],
  ] as const)(
    'of kind %s and %j is told to be coherent or not, and taken: %j',
    async ([kind, values, coherence]) => {
      const answer = await post(kind, probabilitiesOf(kind, ...values))
      expect(answer.json()).toMatchObject({ coherence })
      if (coherence === null) return
      const before = await written()
      const strict = await post(kind, probabilitiesOf(kind, ...values), { query: '?strict=true' })
      expectProblem(strict, 422, /add up to 1\.\d|rises at/)
      expect(strict.json()).toMatchObject({ type: '/problems/incoherent' })
      expect(await written()).toBe(before)
    },
  )

  test.for([
    [{ [questionOf('ordered', 1)]: 0.5, [questionOf('ordered', 2)]: 0.5 }, 422, ['/probabilities']],
    [
      { ...probabilitiesOf('ordered', 0.5, 0.4, 0.3), [QUESTION.open]: 0.5 },
      422,
      [`/probabilities/${QUESTION.open}`],
    ],
    [{ ...probabilitiesOf('ordered', 0.5, 0.4, 1.5) }, 422, [`/probabilities/${questionOf('ordered', 3)}`]],
    [{ one: 0.5 }, 422, ['/probabilities/one']],
    [{}, 422, ['/probabilities']],
    [probabilitiesOf('ordered', 0.5, 0.4, 0.3, 0.2), 409, undefined],
  ] as const)(
    'that lacks a question, or has another, takes nothing: %j',
    async ([probabilities, status, pointers]) => {
      const before = await written()
      const answer = await post('ordered', probabilities)
      expectProblem(answer, status, /./)
      if (pointers) expect(pointersOf(answer)).toEqual(pointers)
      expect(await written()).toBe(before)
    },
  )

  test('of another agent, or of no event, is refused', async () => {
    const other = await registerAgent(service.client)
    const headers = { Authorization: `Bearer ${other.key}` }
    expectProblem(await post('ordered', probabilitiesOf('ordered', 0.5, 0.4, 0.3), { headers }), 403, /./)
    expectProblem(await post('nothing', { [QUESTION.open]: 0.5 }), 404, /no question has the event_id/)
  })

  test('is told of a kind that was said since', async () => {
    await importRows(service.components, 'events', 'event_id,title,kind\nindependent,Now ordered,ordered\n')
    const answer = await post('independent', probabilitiesOf('independent', 0.1, 0.2, 0.3))
    expect(answer.json()).toMatchObject({
      coherence: { rises_at: [questionOf('independent', 2), questionOf('independent', 3)] },
    })
  })
})
