// Every type of problem has a page that says what happened and what helps.
import { describe, expect } from 'vitest'
import { PROBLEM_NAMES, PROBLEM_TYPES, QUOTA_EXCEEDED, problemAddress } from '../../../schemas/problems.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { test } from '../../support/http/fixtures.ts'
import { type TestService } from '../../support/http/service.ts'

let service: TestService
test.beforeAll(async ({ folder, serve }) => {
  service = await serve({ folder })
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
