// The types of problems: each means one thing that a program can act on, and has a page that says what.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  PROBLEM_NAMES,
  PROBLEM_TYPES,
  type ProblemName,
  QUOTA_EXCEEDED,
  problemAddress,
} from '../../../schemas/problems.ts'
import { suiteFolder } from '../../support/folder.ts'
import { expectProblem } from '../../support/http/problem.ts'
import {
  type Answer,
  Clock,
  type TestService,
  registerAgent,
  startTestService,
  testComponents,
} from '../../support/http/service.ts'
import { NOW, QUESTION, copyReleasedWorld, forecasterId, uuidOf } from '../../support/worlds/world.ts'

const folder = await suiteFolder()
let service: TestService
let agentId: string
let key: string
let other: string

beforeAll(async () => {
  const components = await testComponents({ folder, clock: new Clock(NOW) })
  other = (await copyReleasedWorld(components.store)).agentId
  service = await startTestService(components)
  ;({ agentId, key } = await registerAgent(service.client))
})
afterAll(() => service.stop())

const submit = (body: unknown, headers: Record<string, string> = {}, agent = agentId) =>
  service.client.post(`/agents/${agent}/forecast`, body, { Authorization: `Bearer ${key}`, ...headers })
const on = (question_id: string) => ({ question_id, probability: 0.5 })
const open = on(QUESTION.open)

describe('what a caller did has a type of its own', () => {
  const cases: [ProblemName, () => Promise<Answer>][] = [
    ['question-not-open', () => submit(on(QUESTION.upcoming))],
    ['question-closed', () => submit(on(QUESTION.closed))],
    ['question-resolved', () => submit(on(QUESTION.resolved))],
    ['not-found', () => submit(on(uuidOf(9, 9)))],
    ['invalid-body', () => submit({ ...open, probability: 2 })],
    ['unreadable-body', () => submit(Buffer.from('{"a"'))],
    ['wrong-content-type', () => submit(open, { 'Content-Type': 'text/plain' })],
    ['too-large', () => submit(Buffer.alloc(100_000, ' '))],
    ['other-agents-key', () => submit(open, {}, other)],
    ['unknown-key', () => submit(open, { Authorization: `Bearer ${key.slice(0, -1)}` })],
    ['no-key', () => service.client.post(`/agents/${agentId}/forecast`, open)],
    ['invalid-idempotency-key', () => submit(open, { 'Idempotency-Key': 'ä' })],
    [
      'idempotency-key-reused',
      async () => {
        const header = { 'Idempotency-Key': uuidOf(8, 8) }
        expect((await submit(open, header)).status).toBe(200)
        return submit({ ...open, probability: 0.6 }, header)
      },
    ],
    [
      'too-many-ids',
      () => {
        const ids = Array.from({ length: 11 }, (_, index) => uuidOf(7, index))
        return service.client.post('/verification/bulk', { entity_type: 'agent', ids })
      },
    ],
    ['not-released-yet', () => service.client.get(`/agents/${agentId}/verification`)],
    ['not-released-yet', () => service.client.get('/releases/999')],
    ['not-found', () => service.client.get(`/forecaster/${uuidOf(9, 9)}/metrics`)],
    ['invalid-path', () => service.client.get('/forecaster/me/metrics')],
    ['invalid-query', () => service.client.get(`/forecaster/${forecasterId(0)}/metrics?a=1`)],
    ['invalid-query', () => service.client.get(`/questions?${'a=1&'.repeat(30)}`)],
    ['unknown-path', () => service.client.get('/nowhere')],
    ['wrong-method', () => service.client.get('/verification/bulk')],
  ]
  test.for(cases)('%s', async ([name, provoke]) => {
    const answer = await provoke()
    const { status, title } = PROBLEM_TYPES[name]
    expectProblem(answer, status, /./)
    expect(answer.json()).toMatchObject({ type: problemAddress(name), title })
  })
})

describe('every type has a page at its address', () => {
  test.for(PROBLEM_NAMES)('%s', async (name) => {
    const answer = await service.client.get(problemAddress(name))
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('text/markdown; charset=utf-8')
    const { status, title, happened, remedy } = PROBLEM_TYPES[name]
    expect(answer.text).toContain(`# ${title}\n`)
    for (const part of [String(status), happened, remedy]) expect(answer.text).toContain(part)
  })

  test('which the list names, in the sandbox too', async () => {
    for (const prefix of ['', '/sandbox']) {
      const { text } = await service.client.get(`${prefix}/problems`)
      if (prefix === '') for (const name of PROBLEM_NAMES) expect(text).toContain(problemAddress(name))
      expect(text).toContain(QUOTA_EXCEEDED)
      expect((await service.client.get(`${prefix}/problems/quota-exceeded`)).text).toContain(QUOTA_EXCEEDED)
    }
    const unknown = await service.client.get('/problems/__proto__')
    expectProblem(unknown, 404, /no type of problems "__proto__"/)
  })
})
