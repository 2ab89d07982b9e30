// The table of framing cases over one server: what each request as bytes is answered, whether its connection
// is kept, what the log says, and that what is refused writes nothing.
import { pino } from 'pino'
import { describe, expect } from 'vitest'
import { SECURITY_HEADERS } from '../../../api/http/answer-head.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { PROBLEM_NAMES, PROBLEM_TYPES, type ProblemName, problemAddress } from '../../../schemas/problems.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { faultsOf } from '../../support/json-schema.ts'
import { type RawAnswer, conversation } from '../../support/http/raw-http.ts'
import { test } from '../../support/http/fixtures.ts'
import { Clock, type TestService, testComponents } from '../../support/http/service.ts'
import { NOW, type WorldAgent, copyReleasedWorld } from '../../support/worlds/world.ts'
import { FRAMING_CASES } from './framing-cases.ts'
import { REQUEST_CASES } from './request-cases.ts'

const store = new FaultStore(new MemoryStore())
const logged: { level: number; msg: string; status?: number }[] = []
let service: TestService
let agent: WorldAgent
test.beforeAll(async ({ folder, serve }) => {
  agent = await copyReleasedWorld(store)
  const settings = { REFRESH_MS: '60000', USAGE_FLUSH_MS: '600000', REQUEST_TIMEOUT_MS: '300' }
  const components = await testComponents({ store, folder, clock: new Clock(NOW), settings })
  const write = (line: string) => void logged.push(JSON.parse(line) as (typeof logged)[number])
  service = await serve({ ...components, logger: pino({ level: 'debug' }, { write }) })
})

/** It is answered only if what came before it has kept the connection. */
const LAST = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
const SECURITY_NAMES = Object.keys(SECURITY_HEADERS).map((name) => name.toLowerCase())

const shownOf = ({ headers, body }: RawAnswer): string =>
  [
    ...Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}`)
      .toSorted(),
    body.toString('latin1'),
  ].join('\n')

/** Checks what any answer has, and returns the type of its problem if it tells of one. */
function typeIn({ status, headers, body }: RawAnswer): ProblemName | undefined {
  expect(Object.keys(headers)).toEqual(expect.arrayContaining(SECURITY_NAMES))
  for (const name of ['server', 'x-powered-by', 'set-cookie']) expect(headers).not.toHaveProperty(name)
  if (status < 400) return undefined
  expect(headers).toMatchObject({ 'content-type': 'application/problem+json', 'cache-control': 'no-store' })
  if (body.length === 0) return undefined
  const problem = JSON.parse(body.toString()) as { type: string; status: number }
  expect(faultsOf('problem', problem)).toEqual([])
  const type = PROBLEM_NAMES.find((name) => problemAddress(name) === problem.type)!
  expect([problem.status, PROBLEM_TYPES[type].status]).toEqual([status, status])
  return type
}

describe.for(Object.entries({ ...FRAMING_CASES, ...REQUEST_CASES }))('%s', ([, cases]) => {
  test.for(cases)('%s', async ([, text, answered, shown]) => {
    const before = store.writes
    logged.length = 0
    const isHalf = answered.startsWith('408')
    const sent =
      text.replaceAll('{agent}', agent.agentId).replaceAll('{key}', agent.key) + (isHalf ? '' : LAST)
    const answers = await conversation(
      service.url,
      Buffer.from(sent, 'latin1'),
      text.startsWith('HEAD ') ? 1 : 0,
    )
    // An answer that a proxy could take for one of its own requests must end the connection.
    const isKept = answers.length > 1 && answered.endsWith(' kept')
    const told = isKept ? answers.slice(0, -1) : answers
    const types = told.flatMap((answer) => typeIn(answer) ?? [])
    const closes = answers.map(({ headers }) => headers['connection'] === 'close')
    const end = isKept ? 'kept' : closes.at(-1) ? 'closed' : 'cut'
    expect([...told.map(({ status }) => status), ...types, end].join(' ')).toBe(answered)
    expect(closes.slice(0, -1)).not.toContain(true)
    if (shown) expect(shownOf(told.at(-1)!)).toMatch(shown)
    // What never became a request has no id.
    const known = answers.filter(({ headers }) => headers['x-request-id'] !== undefined)
    const ids = new Set(known.map(({ headers }) => headers['x-request-id']))
    expect(ids.size).toBe(known.length)
    const lines = logged.filter(({ msg }) => msg === 'answered').map(({ status }) => status)
    // Of a request that broke off, the log has what would have been answered.
    const statuses = known.map(({ status }) => status)
    expect(known.length === answers.length ? lines : lines.slice(0, known.length)).toEqual(statuses)
    expect(logged.filter(({ level }) => level >= 40)).toEqual([])
    expect(store.writes > before).toBe(answers.some(({ status }) => status === 201))
  })
})
