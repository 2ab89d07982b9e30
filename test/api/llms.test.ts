// /llms.txt, which tells a language model how to take part: what it names exists.
import { expect, test } from 'vitest'
import { allRoutes } from '../../api/routes/all.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { problem, registered } from '../../schemas/answers.ts'
import {
  forecastSubmission,
  forecastSubmissions,
  questionsQuery,
  registration,
} from '../../schemas/requests.ts'
import { testService } from '../support/http/service.ts'

const routes = allRoutes({ version: '1.0.0', methodology: METHODOLOGY, methodologyText: new Uint8Array() })
const FIELDS = [registration, registered, forecastSubmission, forecastSubmissions, problem].flatMap(
  ({ shape }) => Object.keys(shape),
)

test('/llms.txt has twenty lines, and every call and field in it exists', async () => {
  const { client } = await testService()
  const { status, headers, text } = await client.get('/llms.txt')
  expect(status).toBe(200)
  expect(headers['content-type']).toBe('text/plain; charset=utf-8')
  expect((await client.get('/sandbox/llms.txt')).text).toBe(text)
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(20)

  const known = routes.map(({ method, path }) => `${method} ${path}`)
  const calls = [...text.matchAll(/`((?:GET|POST|DELETE) \/[^`]*)`/g)].map(([, call]) => call!.split('?'))
  expect(calls.length).toBeGreaterThan(10)
  for (const [call, query] of calls) {
    expect(known).toContain(call)
    const parsed = questionsQuery.safeParse(Object.fromEntries(new URLSearchParams(query)))
    expect(parsed.success, query).toBe(true)
  }
  for (const [, field] of text.matchAll(/"(\w+)":/g)) expect(FIELDS).toContain(field)
})
