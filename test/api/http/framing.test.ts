// Requests that a proxy and this service could read in two ways, or that ask for what no call does: each is
// answered clearly.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ProblemName, problemAddress } from '../../../schemas/problems.ts'
import { suiteFolder } from '../../support/folder.ts'
import { inboxRows } from '../../support/inbox-rows.ts'
import { type RawAnswer, exchange } from '../../support/http/raw-http.ts'
import { talk } from '../../support/http/raw-talk.ts'
import { RawSocket } from '../../support/http/raw-socket.ts'
import { type TestService, startTestService } from '../../support/http/service.ts'

const folder = await suiteFolder()
let service: TestService
beforeAll(async () => {
  service = await startTestService({ folder })
})
afterAll(() => service.stop())

const raw = (...lines: string[]): Promise<RawAnswer[]> =>
  exchange(service.url, Buffer.from([...lines, '', ''].join('\r\n')), { isHead: false })

function expectRefused(
  answers: readonly RawAnswer[],
  status: number,
  detail: RegExp,
  type?: ProblemName,
): void {
  expect(answers).toHaveLength(1)
  const { headers, body } = answers[0]!
  expect(answers[0]!.status, body.toString()).toBe(status)
  expect(headers).toMatchObject({
    connection: 'close',
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  const problem = JSON.parse(body.toString()) as { status: number; detail: string; type: string }
  expect(problem.status).toBe(status)
  expect(problem.detail).toMatch(detail)
  if (type !== undefined) expect(problem.type).toBe(problemAddress(type))
}

const BODY = '{"name":"a","model_type":"m"}'
const POST = ['POST /agents/register HTTP/1.1', 'Host: x']
const CHUNKS = [BODY.length.toString(16), BODY, '0']

describe('a Host header', () => {
  test.for<[string, string[]]>([
    ['that comes twice', ['Host: x', 'Host: y']],
    ['that comes twice and is the same', ['Host: x', 'host: x']],
  ])('%s is refused, and what follows is not read', async ([, hosts]) => {
    const request = ['GET /livez HTTP/1.1', ...hosts]
    expectRefused(await raw(...request, '', ...request), 400, /^the header Host was sent 2 times/)
    expectRefused(await raw('GET /livez HTTP/1.0', ...hosts), 400, /2 times/)
  })

  test.for([
    'a b',
    'a/b',
    'http://a',
    'user@a',
    'a:b',
    'a:1:2',
    '[::1',
    '::1',
    '[::1]x',
    'a\tb',
    'ä',
    '%zz',
    'a?b',
    'a#b',
    '"a"',
    '<a>',
  ])('that is malformed is refused: %s', async (host) => {
    expectRefused(await raw('GET /livez HTTP/1.1', `Host: ${host}`), 400, /^the Host header is malformed/)
  })

  test.for([
    'example.org',
    'example.org:8080',
    '127.0.0.1:3000',
    '[::1]:3000',
    '[::ffff:1.2.3.4]',
    'localhost',
    'a_b.c',
    '',
    'x:',
  ])('as it may be is taken: %j', async (host) => {
    const [answer] = await raw('GET /livez HTTP/1.1', `Host: ${host}`)
    expect(answer!.status).toBe(200)
  })
})

describe('a POST without a body', () => {
  test.for<[string, string[]]>([
    ['that announces none', []],
    ['of an announced length of 0', ['Content-Length: 0']],
    ['of that length in two digits', ['Content-Length: 00']],
  ])('%s is told that it is empty, and the next request is read', async ([, length]) => {
    const json = [...POST, 'Content-Type: application/json', ...length]
    const untyped = [...POST, ...length]
    const said = await talk(
      service.url,
      [json, untyped].map((lines) => [...lines, '', ''].join('\r\n')),
    )
    expect(said.match(/(?<=HTTP\/1\.1 )\d{3}/g)).toEqual(['400', '415', '200'])
    expect(said).toContain('"detail":"the body is empty: send JSON"')
  })
})

describe('a Transfer-Encoding', () => {
  test.for([
    'gzip',
    'identity',
    'gzip, chunked',
    'chunked, gzip',
    'chunked, chunked',
    'chunked;q=1',
    'xchunked',
    'deflate,chunked',
  ])('other than chunked is refused: %s', async (coding) => {
    const head = [...POST, 'Content-Type: application/json', `Transfer-Encoding: ${coding}`, '']
    expectRefused(await raw(...head, ...CHUNKS), 501, /^the only Transfer-Encoding .* is chunked$/)
    expectRefused(
      await raw('GET /livez HTTP/1.1', 'Host: x', `Transfer-Encoding: ${coding}`),
      501,
      /chunked$/,
    )
  })

  test.for<[string, string[]]>([
    ['before it', ['Content-Length: 5', 'Transfer-Encoding: chunked']],
    ['after it', ['Transfer-Encoding: chunked', 'Content-Length: 5']],
  ])('with a Content-Length %s is refused as malformed', async ([, headers]) => {
    expectRefused(
      await raw(...POST, 'Content-Type: application/json', ...headers, '', ...CHUNKS),
      400,
      /not HTTP/,
    )
  })

  test('of HTTP/1.0, which has none, is refused', async () => {
    expectRefused(
      await raw(
        'POST /agents/register HTTP/1.0',
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
        '',
        ...CHUNKS,
      ),
      400,
      /HTTP\/1\.0 has no Transfer-Encoding/,
    )
  })

  test('of chunked is taken in any case', async () => {
    const [answer] = await raw(
      ...POST,
      'Content-Type: application/json',
      'Transfer-Encoding: CHUNKED',
      '',
      '2',
      '{}',
      '0',
    )
    expect(answer!.status).toBe(422)
  })
})

describe('a request to change the protocol', () => {
  const UPGRADE = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']
  const REGISTER = [...POST, 'Content-Type: application/json', `Content-Length: ${BODY.length}`, '']

  test.for<[string, string[]]>([
    ['GET', ['GET /livez HTTP/1.1', 'Host: x', ...UPGRADE, '', '']],
    [
      'GET that names no option of the connection',
      ['GET /livez HTTP/1.1', 'Host: x', 'Upgrade: h2c', '', ''],
    ],
    [
      'POST with a body',
      [...POST, ...UPGRADE, 'Content-Type: application/json', 'Content-Length: 2', '', '{}'],
    ],
  ])('of a %s is answered in HTTP/1.1, and nothing that follows it is run', async ([, asking]) => {
    const together = await RawSocket.open(service.url)
    together.send(...asking)
    together.send(...REGISTER, BODY)
    const answered = await together.closed
    expect(answered.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1)
    expect(answered).toMatch(/^HTTP\/1\.1 (200|422) [^]*Connection: close\r\n/)
    // The head of the second request comes in the packet of the first one, and its body looks like a third.
    const hidden = [...REGISTER, BODY].join('\r\n')
    const apart = await RawSocket.open(service.url)
    apart.send([...asking, ...POST, `Content-Length: ${hidden.length}`, '', ''].join('\r\n'))
    apart.send(hidden)
    expect((await apart.closed).match(/HTTP\/1\.1 \d+/g)).toHaveLength(1)
  })

  test('is answered after the requests before it', async () => {
    const socket = await RawSocket.open(service.url)
    const first = ['GET /questions HTTP/1.1', 'Host: x', '']
    socket.send(...first, 'GET /livez HTTP/1.1', 'Host: x', ...UPGRADE, '', ...first, '')
    expect((await socket.closed).match(/HTTP\/1\.1 \d+|"status":"ok"/g)).toEqual([
      'HTTP/1.1 200',
      'HTTP/1.1 200',
      '"status":"ok"',
    ])
  })
})

test.for(['', ' HTTP/0.9', ' HTTP/2.0', ' HTTP/1.2', ' HTTP/3.0'])(
  'a request of another version of HTTP is refused: GET /livez%s',
  async (version) => {
    const socket = await RawSocket.open(service.url)
    socket.send(`GET /livez${version}`, 'Host: x', '', 'GET /livez HTTP/1.1', 'Host: x', '', '')
    const answered = await socket.closed
    expect(answered.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400'])
    expect(answered).toMatch(/Connection: close\r\n[^]*malformed-request/)
  },
)

test('two Content-Types are refused, even if they are the same', async () => {
  for (const other of ['application/json', 'text/plain']) {
    const head = [
      ...POST,
      'Content-Type: application/json',
      `Content-Type: ${other}`,
      `Content-Length: ${BODY.length}`,
    ]
    expectRefused(
      await raw(...head, '', BODY),
      400,
      /^the header Content-Type was sent 2 times: send it once$/,
    )
  }
})

describe('a target', () => {
  test('* tells OPTIONS which methods there are', async () => {
    const [answer] = await raw('OPTIONS * HTTP/1.1', 'Host: x')
    expect(answer).toMatchObject({
      status: 204,
      headers: { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' },
    })
    expect(answer!.headers).toHaveProperty('x-request-id')
    expect(answer!.headers['connection']).not.toBe('close')
    expect(answer!.body).toHaveLength(0)
  })

  test('* of another method is refused', async () => {
    expectRefused(await raw('GET * HTTP/1.1', 'Host: x'), 400, /\* is for OPTIONS only/)
  })

  test.for(['example.org:443', '/livez', '*'])('of CONNECT is refused: %s', async (target) => {
    expectRefused(
      await raw(`CONNECT ${target} HTTP/1.1`, 'Host: x'),
      501,
      /opens no tunnels/,
      'not-supported',
    )
  })

  test('of CONNECT on a connection that is reset harms nobody', async () => {
    for (let round = 0; round < 20; round++) {
      const socket = await RawSocket.open(service.url)
      socket.send('GET /questions HTTP/1.1', 'Host: x', '', '')
      socket.send('CONNECT example.org:443 HTTP/1.1', 'Host: x', '', '')
      if (round % 2 === 0) await socket.received(/200 OK/)
      socket.socket.resetAndDestroy()
      await socket.closed
    }
    expect((await service.client.get('/livez')).status).toBe(200)
  })

  test('of CONNECT is refused after the requests before it are answered', async () => {
    const socket = await RawSocket.open(service.url)
    socket.send('GET /livez HTTP/1.1', 'Host: x', '', '')
    socket.send('GET /questions HTTP/1.1', 'Host: x', '', '')
    socket.send('CONNECT example.org:443 HTTP/1.1', 'Host: x', '', 'tunnelled')
    const statuses = (await socket.closed).match(/HTTP\/1\.1 \d+/g)
    expect(statuses).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 501'])
  })
})

test('nobody was registered by any of these', async () => {
  expect(await inboxRows(service.components.store, 'agents')).toEqual([])
})
