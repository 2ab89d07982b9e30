// The one field of the check page: it leads from an address, an id or a name to a page, and says of all else
// what is wrong.
import { expect } from 'vitest'
import { testWith } from '../support/http/fixtures.ts'
import { type TestService } from '../support/http/service.ts'
import { forecasterId, uuidOf } from '../support/worlds/world.ts'

let service: TestService
let agentId: string

const test = testWith({ PUBLIC_URL: 'https://forecasts.example.org' })
test.beforeAll(({ world, service: given }) => {
  ;({ agentId } = world)
  service = given
})

const asked = (q: string) => service.client.get(`/view/verify?q=${encodeURIComponent(q)}`)

test('leads from an address, an id or a name to its page', async () => {
  for (const [q, to] of [
    [forecasterId(0), `/view/forecasters/${forecasterId(0)}#check`],
    [agentId, `/view/agents/${agentId}#check`],
    [`https://forecasts.example.org/view/agents/${agentId}`, `/view/agents/${agentId}#check`],
    [
      `/sandbox/forecaster/${forecasterId(0)}/badge.svg`,
      `/sandbox/view/forecasters/${forecasterId(0)}#check`,
    ],
    [`/view/questions/${uuidOf(1, 0)}`, `/view/questions/${uuidOf(1, 0)}`],
    [' who is this? ', '/view/search?q=who+is+this%3F'],
  ] as const) {
    const answer = await asked(q)
    expect([answer.status, answer.headers['location']], q).toEqual([303, to])
  }
})

test.each([
  ['x'.repeat(2_001), 404, 'That is no link and no id, and too long for a name.'],
  ['https://evil.example/"><script>alert(1)</script>', 404, 'That link leads to evil.example'],
  [uuidOf(9, 9), 404, 'No agent and no forecaster here has the id'],
  ['{"agent_id": "<b>"}', 200, 'That is the text of a record.'],
])('says of %s what is wrong, and keeps it in the field', async (q, status, words) => {
  const answer = await asked(q)
  expect([answer.status, answer.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8'])
  expect(answer.text).toContain(words)
  expect(answer.text).not.toContain('<script>alert')
  expect(answer.text).not.toContain('<b>')
})

test('is empty where nothing was asked', async () => {
  expect((await asked('')).text).toBe((await service.client.get('/view/verify')).text)
})
