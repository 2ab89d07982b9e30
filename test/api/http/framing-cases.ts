// Requests that a proxy and this service could read in two ways, or that are none: as bytes, and how each is
// answered.

/**
 * A name; the bytes as Latin-1, where `{agent}` and `{key}` stand for those of the released world; and how
 * they are answered: each status, the type of a problem, and whether the connection is kept, is closed as the
 * answer says, or is cut. What the last answer must show besides, in lines of `name: value` and the body.
 */
export type FramingCase = readonly [name: string, sent: string, answered: string, shown?: RegExp]

export const lines = (...all: string[]): string => [...all, '', ''].join('\r\n')
export const get = (target: string, ...headers: string[]) =>
  lines(`GET ${target} HTTP/1.1`, 'Host: x', ...headers)
export const alone = (start: string, ...headers: string[]) =>
  lines(`${start} HTTP/1.1`, 'Host: x', ...headers)
export const typed = (path: string, type: string, body: string, ...headers: string[]) =>
  alone(`POST ${path}`, type, `Content-Length: ${body.length}`, ...headers) + body
export const JSON_TYPE = 'Content-Type: application/json'
export const post = (path: string, body: string, ...headers: string[]) =>
  typed(path, JSON_TYPE, body, ...headers)
export const chunks = (...all: string[]) =>
  [...all, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')

export const REGISTER = '/agents/register'
export const register = (body: string, ...headers: string[]) => post(REGISTER, body, ...headers)
export const AGENT = '{"name":"a","model_type":"m"}'
export const REFUSED = '400 malformed-request closed'
const HOSTS: FramingCase[] = [
  ...'a b,a/b,http://a,user@a,a:b,a:1:2,[::1,::1,[::1]x,a\tb,\xe4,%zz,a?b,a#b,"a",<a>'
    .split(',')
    .map((host): FramingCase => {
      return [
        `the host ${host}`,
        lines('GET /livez HTTP/1.1', `Host: ${host}`),
        REFUSED,
        /Host header is malf/,
      ]
    }),
  ...'example.org,example.org:8080,127.0.0.1:3000,[::1]:3000,[::ffff:1.2.3.4],localhost,a_b.c,,x:'
    .split(',')
    .map((host): FramingCase => [
      `the host ${host}`,
      lines('GET /livez HTTP/1.1', `Host: ${host}`),
      '200 kept',
    ]),
  ['two hosts', get('/livez', 'Host: y'), REFUSED, /the header Host was sent 2 times/],
  ['a host twice', get('/livez', 'host: x'), REFUSED, /the header Host was sent 2 times/],
  ['a host twice in HTTP/1.0', lines('GET /livez HTTP/1.0', 'Host: x', 'Host: x'), REFUSED, /2 times/],
  ['no host', lines('GET /livez HTTP/1.1'), REFUSED, /x-request-id: .*no Host header/s],
  ['no host in HTTP/1.0', lines('GET /livez HTTP/1.0'), '200 closed'],
]

const CODINGS: FramingCase[] = [
  ...['gzip', 'identity', 'gzip, chunked', 'chunked, gzip', 'chunked, chunked', 'chunked;q=1', 'xchunked']
    .map((coding) => `Transfer-Encoding: ${coding}`)
    .flatMap((coding): FramingCase[] => [
      [coding, alone(`POST ${REGISTER}`, JSON_TYPE, coding) + chunks(AGENT), '501 not-supported closed'],
      [`${coding} of a GET`, get('/livez', coding) + chunks(AGENT), '501 not-supported closed', /is chunked/],
    ]),
  ...['Content-Length: 5, Transfer-Encoding: chunked', 'Transfer-Encoding: chunked, Content-Length: 5'].map(
    (both): FramingCase => [
      both,
      alone(`POST ${REGISTER}`, JSON_TYPE, ...both.split(', ')) + chunks(AGENT),
      REFUSED,
      /not HTTP/,
    ],
  ),
  [
    'chunks in HTTP/1.0',
    lines(`POST ${REGISTER} HTTP/1.0`, JSON_TYPE, 'Transfer-Encoding: chunked') + chunks(AGENT),
    REFUSED,
    /HTTP\/1\.0 has no Transfer-Encoding/,
  ],
  [
    'CHUNKED',
    alone(`POST ${REGISTER}`, JSON_TYPE, 'Transfer-Encoding: CHUNKED') + chunks('{', '}'),
    '422 invalid-body kept',
  ],
  ['a negative length', alone(`POST ${REGISTER}`, 'Content-Length: -1'), REFUSED],
  ['two lengths', register(AGENT, 'Content-Length: 5'), REFUSED],
  [
    'a length in two digits',
    alone(`POST ${REGISTER}`, JSON_TYPE, 'Content-Length: 00'),
    '400 unreadable-body kept',
  ],
  ['bytes after a body', `${register('{}')}{"and":"more"}`, '422 invalid-body cut'],
  ['bytes after the last body', `${register(AGENT, 'Connection: close, x')}{"more":1}`, '201 closed'],
  [
    'a length too short',
    alone(`POST ${REGISTER}`, JSON_TYPE, 'Content-Length: 1') + AGENT,
    '400 unreadable-body cut',
  ],
]

const UPGRADE = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']
const CONNECTIONS: FramingCase[] = [
  ['an upgrade', get('/livez', ...UPGRADE) + register(AGENT), '200 closed'],
  ['an upgrade of a header alone', get('/livez', 'Upgrade: h2c') + register(AGENT), '200 closed'],
  ['an upgrade with a body', register('{}', ...UPGRADE) + register(AGENT), '422 invalid-body closed'],
  [
    'an upgrade after a request',
    get('/questions') + get('/livez', ...UPGRADE) + get('/livez'),
    '200 200 closed',
    /"status":"ok"/,
  ],
  ['requests in a row', get('/nowhere') + get('/livez') + get('/livez'), '404 200 200 unknown-path kept'],
  ...['example.org:443', '/livez', '*'].map((target): FramingCase => [
    `a tunnel to ${target}`,
    alone(`CONNECT ${target}`),
    '501 not-supported closed',
    /no tunnels/,
  ]),
  [
    'a tunnel after requests',
    `${get('/livez') + get('/questions') + alone('CONNECT x:1')}tunnelled`,
    '200 200 501 not-supported closed',
  ],
  ['an expectation', get('/livez', 'Expect: the moon'), '200 kept'],
  ['a body of a GET', `${get('/livez', JSON_TYPE, 'Content-Length: 8')}not JSON`, '200 kept'],
]

const STARTS: FramingCase[] = [
  ...['', ' HTTP/0.9', ' HTTP/2.0', ' HTTP/1.2', ' HTTP/3.0', ' HTTP/9.9'].map((version): FramingCase => [
    `the version${version}`,
    lines(`GET /livez${version}`, 'Host: x'),
    REFUSED,
  ]),
  ['noise', lines('\x16\x03\x01\x02\x00'), REFUSED],
  ['a NUL in a header', get('/livez', 'X: a\0b'), REFUSED],
  ['headers without end', get('/livez', `X: ${'x'.repeat(20_000)}`), '431 headers-too-large closed'],
  ['half a line', 'GET /liv', '408 too-slow closed'],
  ['half of the headers', 'GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ', '408 too-slow closed'],
  ['half a body', alone(`POST ${REGISTER}`, JSON_TYPE, 'Content-Length: 50') + '{"na', '408 too-slow closed'],
  [
    'half of the chunks',
    `${alone(`POST ${REGISTER}`, JSON_TYPE, 'Transfer-Encoding: chunked')}5\r\n{"nam\r\n`,
    '408 too-slow closed',
  ],
]

export const FRAMING_CASES = { HOSTS, CODINGS, CONNECTIONS, STARTS }
