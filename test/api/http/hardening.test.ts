// What no answer leaves out or gives away, how what is no request is answered, and what is refused as
// ambiguous.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SECURITY_HEADERS } from '../../../api/http/answer-head.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { suiteFolder } from '../../support/folder.ts'
import { inboxRows } from '../../support/inbox-rows.ts'
import { expectProblem, pointersOf } from '../../support/http/problem.ts'
import { type RawAnswer, exchange } from '../../support/http/raw-http.ts'
import { RawSocket } from '../../support/http/raw-socket.ts'
import {
  type Answer,
  Clock,
  type TestService,
  bearer,
  startTestService,
  testComponents,
} from '../../support/http/service.ts'
import { contentOf } from '../../support/store-content.ts'
import { NOW, QUESTION, forecasterId, copyReleasedWorld, uuidOf } from '../../support/worlds/world.ts'

const folder = await suiteFolder()
const store = new FaultStore(new MemoryStore())
let service: TestService
let agent: { agentId: string; key: string }
beforeAll(async () => {
  const components = await testComponents({
    store,
    folder,
    clock: new Clock(NOW),
    settings: { REFRESH_MS: '60000', USAGE_FLUSH_MS: '600000', REQUEST_TIMEOUT_MS: '300' },
  })
  agent = await copyReleasedWorld(store)
  service = await startTestService(components)
})
afterAll(() => service.stop())

const FORECAST = { question_id: QUESTION.open, probability: 0.5 }
const AGENT = { name: 'a', model_type: 'm' }
const VERIFICATION = `/forecaster/${forecasterId(0)}/verification`
const forecastPath = () => `/agents/${agent.agentId}/forecast`

const raw = (...lines: string[]): Promise<RawAnswer[]> =>
  exchange(service.url, Buffer.from(lines.join('\r\n')), { isHead: false })

describe('every answer has the headers that protect a browser, an id, and no name of what made it', () => {
  type Ask = (get: TestService['client']) => Promise<Answer>
  const asks: [what: string, status: number, ask: Ask][] = [
    ['JSON', 200, (client) => client.get(VERIFICATION)],
    ['Markdown', 200, (client) => client.get('/methodology')],
    ['a page', 200, (client) => client.get('/docs')],
    ['measurements', 200, (client) => client.get('/metrics')],
    ['a HEAD', 200, (client) => client.send('HEAD', VERIFICATION)],
    ['an agent', 201, (client) => client.post('/agents/register', AGENT)],
    [
      'a question of another origin',
      204,
      (client) =>
        client.send('OPTIONS', VERIFICATION, {
          headers: { Origin: 'https://example.org', 'Access-Control-Request-Method': 'GET' },
        }),
    ],
    ['what has not changed', 304, (client) => client.get(VERIFICATION, { 'If-None-Match': '*' })],
    ['half a body', 400, (client) => client.post('/agents/register', '{')],
    ['no key', 401, (client) => client.post(forecastPath(), FORECAST)],
    [
      'the key of another',
      403,
      (client) => client.post(`/agents/${uuidOf(3, 1)}/forecast`, FORECAST, bearer(agent.key)),
    ],
    ['no call', 404, (client) => client.get('/nowhere')],
    ['nobody', 404, (client) => client.get(`/forecaster/${uuidOf(9, 9)}/verification`)],
    ['another method', 405, (client) => client.send('DELETE', '/livez')],
    [
      'a closed question',
      409,
      (client) =>
        client.post(forecastPath(), { ...FORECAST, question_id: QUESTION.closed }, bearer(agent.key)),
    ],
    ['a body without end', 413, (client) => client.post('/agents/register', 'x'.repeat(70_000))],
    ['a form', 415, (client) => client.post('/agents/register', 'a=b', { 'Content-Type': 'text/plain' })],
    ['a wrong value', 422, (client) => client.get('/questions?limit=0')],
  ]

  test.for(asks)('%s: %i', async ([, status, ask]) => {
    const answer = await ask(service.client)
    expect(answer.status).toBe(status)
    const names = answer.rawHeaders
      .filter((_name, index) => index % 2 === 0)
      .map((name) => name.toLowerCase())
    expect(new Set(names).size).toBe(names.length)
    expect(names).toEqual(expect.arrayContaining(['x-request-id', ...protecting]))
    expect(answer.headers['x-content-type-options']).toBe('nosniff')
    expect(answer.headers['x-frame-options']).toBe('DENY')
    expect(answer.headers['referrer-policy']).toBe('no-referrer')
    expect(answer.headers['strict-transport-security']).toBe('max-age=31536000')
    expect(answer.headers['content-security-policy']).toMatch(
      /^default-src 'none'; .*frame-ancestors 'none'$/,
    )
    for (const name of ['server', 'x-powered-by', 'via', 'set-cookie']) expect(names).not.toContain(name)
  })
})

const protecting = Object.keys(SECURITY_HEADERS).map((name) => name.toLowerCase())

describe('what is no request at all is answered as a problem, too', () => {
  test.for([
    ['noise', 400, ['\x16\x03\x01\x02', '', '']],
    ['a header with a NUL', 400, ['GET /livez HTTP/1.1', 'Host: x', 'X: a\0b', '', '']],
    ['headers without end', 431, ['GET /livez HTTP/1.1', 'Host: x', `X: ${'x'.repeat(20_000)}`, '', '']],
    ['half a request', 408, ['GET /livez HTTP/1.1', 'Host: x']],
  ] as const)('%s: %i', async ([, status, lines]) => {
    const [answer, ...others] = await raw(...lines)
    expect(others).toEqual([])
    expect(answer).toMatchObject({ status, headers: { connection: 'close', 'cache-control': 'no-store' } })
    expect(Object.keys(answer!.headers)).toEqual(expect.arrayContaining(protecting))
    expect(answer!.headers['content-type']).toBe('application/problem+json')
    expect(JSON.parse(answer!.body.toString())).toMatchObject({
      type: {
        400: '/problems/malformed-request',
        408: '/problems/too-slow',
        431: '/problems/headers-too-large',
      }[status],
      status,
    })
  })

  test('a request without a host is answered 400, with an id', async () => {
    const [answer] = await raw('GET /livez HTTP/1.1', '', '')
    expect(answer).toMatchObject({ status: 400, headers: { connection: 'close' } })
    expect(answer!.headers).toHaveProperty('x-request-id')
    expect(answer!.body.toString()).toContain('no Host header')
    const [old] = await raw('GET /livez HTTP/1.0', '', '')
    expect(old!.status).toBe(200)
  })

  test('an address that is none is answered 400, and a whole one as its path', async () => {
    for (const host of [['Host: x'], []]) {
      const [answer] = await raw('GET http://[::1 HTTP/1.1', ...host, 'Connection: close', '', '')
      expect(answer!.status).toBe(400)
    }
    const [whole] = await raw('GET http://example.org/livez HTTP/1.1', 'Host: example.org', '', '')
    expect(whole!.status).toBe(200)
  })

  test('what a client expects beside 100-continue is no reason to refuse it', async () => {
    const [answer] = await raw('GET /livez HTTP/1.1', 'Host: x', 'Expect: the moon', '', '')
    expect(answer!.status).toBe(200)
  })

  test('what follows a whole request neither takes its answer away nor gets one of its own', async () => {
    const body = JSON.stringify(AGENT)
    const before = (await inboxRows(store, 'agents')).length
    const answers = await raw(
      'POST /agents/register HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Connection: close, x',
      '',
      `${body}{"and":"more"}`,
    )
    expect(answers.map(({ status }) => status)).toEqual([201])
    expect(await inboxRows(store, 'agents')).toHaveLength(before + 1)
  })

  test('a body that breaks off after its answer was begun gets no second one', async () => {
    const chunk = `10001\r\n${'x'.repeat(65_537)}\r\nno length\r\n`
    const answers = await raw(
      'POST /agents/register HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      '',
      chunk,
    )
    expect(answers).toHaveLength(1)
    expect([400, 413]).toContain(answers[0]!.status)
  })
})

describe('what could be meant in two ways is refused, and nothing is written', () => {
  async function expectNothingWritten<T>(ask: () => Promise<T>): Promise<T> {
    const before = await contentOf(store)
    const answer = await ask()
    expect(await contentOf(store)).toEqual(before)
    return answer
  }

  test('a field that stands twice in a body', async () => {
    const body = `{"question_id":"${QUESTION.open}","probability":0.1,"probability":0.9}`
    const answer = await expectNothingWritten(() =>
      service.client.post(forecastPath(), body, bearer(agent.key)),
    )
    expectProblem(answer, 400, /has the field "probability" twice/)
  })

  test('a parameter that is given twice', async () => {
    expect(pointersOf(await service.client.get('/questions?limit=1&limit=1000'))).toEqual(['/limit'])
  })

  test.for(['__proto__', 'constructor', 'toString', ''])('a field %j that no call knows', async (name) => {
    const body = `{"name":"a","model_type":"m",${JSON.stringify(name)}:{"name":"b"}}`
    const answer = await expectNothingWritten(() => service.client.post('/agents/register', body))
    expect(pointersOf(answer)).toEqual([`/${name}`])
    expect(pointersOf(await service.client.get(`/questions?${name}=1`))).toEqual([`/${name}`])
  })

  test('a field that no call knows and no Unicode text can name', async () => {
    const body = '{"name":"a","model_type":"m","x\\ud800":1}'
    const answer = await expectNothingWritten(() => service.client.post('/agents/register', body))
    expect(pointersOf(answer)).toEqual(['/x\ufffd'])
  })

  test('thousands of such fields, of which a hundred are named', async () => {
    const names = Array.from({ length: 4000 }, (_, index) => `x${index}`)
    const unknown = Object.fromEntries(names.map((name) => [name, 1]))
    const named = names.slice(0, 100).map((name) => `/${name}`)
    expect(pointersOf(await service.client.post('/agents/register', { ...AGENT, ...unknown }))).toEqual(named)
  })

  test('thousands of parameters, of which none is looked at', async () => {
    const query = Array.from({ length: 2000 }, (_, index) => `x${index}`).join('&')
    expectProblem(await service.client.get(`/questions?${query}`), 422, /more than 20 parameters/)
  })

  const forecast = (...headers: string[]) => {
    const body = JSON.stringify(FORECAST)
    return raw(
      `POST ${forecastPath()} HTTP/1.1`,
      'Host: x',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      ...headers,
      '',
      body,
    )
  }

  test('a bearer token that comes twice, even if it is the same', async () => {
    const good = `Authorization: Bearer ${agent.key}`
    for (const other of [good, 'Authorization: Bearer x', 'authorization: Basic eDp5']) {
      for (const headers of [
        [good, other],
        [other, good],
      ]) {
        const [answer] = await expectNothingWritten(() => forecast(...headers))
        expect(answer!.status).toBe(401)
        expect(answer!.body.toString()).toContain('was sent 2 times: send it once')
        expect(answer!.headers['www-authenticate']).toBe('Bearer')
      }
    }
  })

  test('an Idempotency-Key that comes twice', async () => {
    const keys = ['Idempotency-Key: one-key-of-two-that-came', 'Idempotency-Key: "another-key-of-two"']
    const [answer] = await expectNothingWritten(() => forecast(`Authorization: Bearer ${agent.key}`, ...keys))
    expect(answer!.status).toBe(422)
    expect(answer!.body.toString()).toContain('Idempotency-Key must be')
  })

  test('an X-API-Key that comes twice', async () => {
    const key = `X-API-Key: ${agent.key}`
    const [answer] = await raw(`GET ${VERIFICATION} HTTP/1.1`, 'Host: x', key, key, '', '')
    expect(answer!.status).toBe(401)
  })
})

describe('a client that asks and does not read', () => {
  test('costs one answer, however much it has asked for', async () => {
    const { bytes } = await service.client.get('/openapi.json')
    const before = process.memoryUsage().arrayBuffers
    const asked = 100
    const { socket } = await RawSocket.open(service.url)
    socket.pause()
    socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(asked))
    const answered = async () => {
      const { text } = await service.client.get('/metrics')
      return Number(/_count\{method="GET",route="\/openapi.json",status="200"\} (\d+)/.exec(text)?.[1])
    }
    await expect.poll(answered).toBeGreaterThan(1)
    const kept = process.memoryUsage().arrayBuffers - before
    expect(kept).toBeLessThan((asked / 4) * bytes.length)
  })
})
