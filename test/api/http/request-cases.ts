// Whole requests of the wrong path, method, body, key, condition or origin: as bytes, and how each is
// answered.
import { sha256Hex } from '../../../pipeline/proof/canonical.ts'
import { QUESTION, forecasterId, uuidOf } from '../../support/worlds/world.ts'
import {
  AGENT,
  type FramingCase,
  JSON_TYPE,
  REFUSED,
  REGISTER,
  alone,
  chunks,
  get,
  lines,
  post,
  register,
  typed,
} from './framing-cases.ts'

const FORECAST = `{"question_id":"${QUESTION.open}","probability":0.5}`
const KEY = 'Authorization: Bearer {key}'
const forecast = (body: string, ...headers: string[]) => post('/agents/{agent}/forecast', body, ...headers)
const forecastOn = (question: string) => forecast(FORECAST.replace(QUESTION.open, question), KEY)
const VERIFICATION = `/forecaster/${forecasterId(0)}/verification`
const NO_ID = 'is no UTF-8'

const TARGETS: FramingCase[] = [
  [
    'OPTIONS *',
    alone('OPTIONS *'),
    '204 kept',
    /^allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS$.*^x-request-id: /ms,
  ],
  ['GET *', get('*'), REFUSED, /\* is for OPTIONS only/],
  ['a URL that is none', get('http://[::1'), REFUSED],
  ['a URL that is none in HTTP/1.0', lines('GET http://[::1 HTTP/1.0'), REFUSED],
  ['a whole URL', get('http://example.org/livez'), '200 kept'],
  ...[
    '/view',
    '/agents',
    '/agents/register/',
    '/Agents/register',
    '/agents//verification',
    '/questions/a/b',
    '/../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/agents/register/%2e%2e%2fregister',
    `/agents/a/${'a'.repeat(4000)}`,
  ].flatMap((path): FramingCase[] => [
    [`GET ${path.slice(0, 40)}`, get(path), '404 unknown-path kept', /there is no path/],
    [`POST ${path.slice(0, 40)}`, post(path, AGENT), '404 unknown-path closed', /there is no path/],
  ]),
  ['a method of no path', alone('PROPFIND /nowhere'), '404 unknown-path kept', /^(?!.*^allow: )/ms],
  [`an id that ${NO_ID}`, get('/agents/%ff%fe/verification'), '422 invalid-path kept'],
  [`a part of a path that ${NO_ID}`, get('/questions/%'), '422 invalid-path kept'],
  ...(
    [
      ['DELETE', '/verification/bulk', 'POST'],
      ['GET', '/verification/bulk', 'POST'],
      ['PUT', `/agents/${uuidOf(1, 1)}/forecast`, 'POST'],
      ['POST', '/questions', 'HEAD, GET'],
      ['PATCH', `/questions/${uuidOf(1, 1)}`, 'HEAD, GET'],
      ['TRACE', '/livez', 'HEAD, GET'],
      ['PROPFIND', '/livez', 'HEAD, GET'],
    ] as const
  ).map(([method, path, allow]): FramingCase => [
    `${method} ${path}`,
    alone(`${method} ${path}`),
    '405 wrong-method kept',
    new RegExp(`^allow: ${allow}$.*takes only ${allow}"`, 'ms'),
  ]),
  ['HEAD of a POST', alone('HEAD /verification/bulk'), '405 kept', /^allow: POST$/m],
  ['HEAD', alone('HEAD /livez'), '200 kept', /^content-length: 15$/m],
  ['20 parameters', get(`/questions?${'x=1&'.repeat(19)}`), '422 invalid-query kept'],
  [
    '21 parameters',
    get(`/questions?${'x=1&'.repeat(20)}`),
    '422 invalid-query kept',
    /more than 20 parameters/,
  ],
  [
    'a parameter twice',
    get('/questions?limit=1&limit=2'),
    '422 invalid-query kept',
    /limit is given more than once/,
  ],
  ...['__proto__', 'constructor', 'toString', ''].map((name): FramingCase => [
    `the parameter ${name}`,
    get(`/questions?${name}=1`),
    '422 invalid-query kept',
    new RegExp(`"/${name}"`),
  ]),
]

const BODIES: FramingCase[] = [
  [
    'no body',
    alone(`POST ${REGISTER}`, JSON_TYPE),
    '400 unreadable-body kept',
    /the body is empty: send JSON/,
  ],
  ['no body and no type', alone(`POST ${REGISTER}`), '415 wrong-content-type kept'],
  ['a length of 0', register(''), '400 unreadable-body kept', /the body is empty: send JSON/],
  ...['x-www-form-urlencoded', 'json-seq', 'json; charset=latin1', ''].map((type): FramingCase => [
    `the type ${type}`,
    typed(REGISTER, `Content-Type: application/${type}`, AGENT),
    '415 wrong-content-type closed',
    /must be application\/json/,
  ]),
  ...[
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
  ].map((type): FramingCase => [
    `the type ${type}`,
    typed(REGISTER, `Content-Type: ${type}`, AGENT),
    '201 kept',
  ]),
  [
    'two types',
    register(AGENT, 'Content-Type: text/plain'),
    '400 malformed-request closed',
    /Content-Type was sent 2 times/,
  ],
  [
    'a type twice',
    register(AGENT, JSON_TYPE),
    '400 malformed-request closed',
    /Content-Type was sent 2 times/,
  ],
  [
    'a coding of the content',
    register(AGENT, 'Content-Encoding: gzip'),
    '415 wrong-content-type closed',
    /content coding/,
  ],
  ['the identity as coding', register(AGENT, 'Content-Encoding: identity'), '201 kept'],
  ...(
    [
      ['white space', '  \n', 'the body is empty: send JSON'],
      ['half an object', '{"name":"a"', 'column 12, the body ends where a comma or } should be'],
      [
        'a fault on its second line',
        '{"name": "a",\n "model_type": }',
        'at line 2, column 16, there is \\"}\\" where a value',
      ],
      ['two objects', '{}{}', 'column 3, there is \\"{\\" where the end'],
      ['a comma too many', '{"name":"a",}', 'column 13, there is \\"}\\" where a field name'],
      ['single quotes', "{'name':'a'}", 'column 2'],
      ['Latin-1', '{"name":"\xff","model_type":"m"}', 'not text in UTF-8'],
      ['half a character', '{"name":"\xf0\x9f\xa6', 'not text in UTF-8'],
      ['UTF-16', AGENT.split('').join('\0'), 'not JSON: at line 1, column 2'],
      ['a hundred levels', '['.repeat(100), 'at line 1, column 101'],
      ['levels that no body has', '['.repeat(60_000), 'the body is not JSON"'],
      [
        'a field twice',
        '{"name":"a","name":"a","model_type":"m"}',
        'has the field \\"name\\" twice in one object',
      ],
    ] as const
  ).map(([name, body, detail]): FramingCase => [
    `a body of ${name}`,
    register(body),
    '400 unreadable-body kept',
    literal(detail),
  ]),
  ...(
    [
      ['a text', '"a"', 'the body must be a JSON object, not a string'],
      ['null', 'null', 'the body must be a JSON object, not null'],
      [
        'deep lists',
        `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
        'the body must be a JSON object, not a list',
      ],
      ['nothing that is required', '{}', 'name is required'],
      ['another type', '{"name":1,"model_type":"m"}', 'name must be a string, not a number'],
      ['a field __proto__', '{"name":"a","model_type":"m","__proto__":{}}', '"/__proto__"'],
      ['a field constructor', '{"name":"a","model_type":"m","constructor":1}', '"/constructor"'],
      ['a field that is half a character', '{"name":"a","model_type":"m","x\\ud800":1}', '"/x\xef\xbf\xbd"'],
      [
        'a field with a long name',
        `{"name":"a","model_type":"m","${'x'.repeat(30_000)}":1}`,
        `"the body is not valid: ${'x'.repeat(99)}`,
      ],
    ] as const
  ).map(([name, body, detail]): FramingCase => [
    `a body of ${name}`,
    register(body),
    '422 invalid-body kept',
    literal(detail),
  ]),
  ['64 KiB', register(sized(65_536)), '422 invalid-body kept'],
  [
    '64 KiB in chunks',
    alone(`POST ${REGISTER}`, JSON_TYPE, 'Transfer-Encoding: chunked') + chunks(sized(65_536)),
    '422 invalid-body kept',
  ],
  ['64 KiB and a byte', register(sized(65_537)), '413 too-large closed', /more than 65536 bytes/],
  [
    '64 KiB and a byte in chunks',
    alone(`POST ${REGISTER}`, JSON_TYPE, 'Transfer-Encoding: chunked') + chunks(sized(65_537)),
    '413 too-large closed',
  ],
  ['a large body without a key', forecast(sized(65_537)), '401 no-key closed'],
]

const CALLERS: FramingCase[] = [
  ['a question that is not open yet', forecastOn(QUESTION.upcoming), '409 question-not-open kept'],
  ['a closed question', forecastOn(QUESTION.closed), '409 question-closed kept'],
  ['a resolved question', forecastOn(QUESTION.resolved), '409 question-resolved kept'],
  ['a question that there is not', forecastOn(uuidOf(9, 9)), '404 not-found kept'],
  ['another agent', post(`/agents/${uuidOf(3, 1)}/forecast`, FORECAST, KEY), '403 other-agents-key kept'],
  ['an unknown key', forecast(FORECAST, `${KEY}x`), '401 unknown-key closed', /^www-authenticate: Bearer$/m],
  ['no key', forecast(FORECAST), '401 no-key closed', /^www-authenticate: Bearer$/m],
  ['an agent that is in no release', get(`/forecaster/${uuidOf(9, 9)}/metrics`), '404 not-found kept'],
  ['a release to come', get('/releases/999'), '404 not-released-yet kept'],
  ...[KEY, 'Authorization: Bearer x', 'authorization: Basic eDp5'].flatMap((other): FramingCase[] => [
    [
      `a key and ${other}`,
      forecast(FORECAST, KEY, other),
      '401 unknown-key closed',
      /^www-authenticate: Bearer$.*was sent 2 times: send it once/ms,
    ],
    [
      `${other} and a key`,
      forecast(FORECAST, other, KEY),
      '401 unknown-key closed',
      /was sent 2 times: send it once/,
    ],
  ]),
  ['an X-API-Key twice', get(VERIFICATION, 'X-API-Key: {key}', 'X-API-Key: {key}'), '401 unknown-key kept'],
  [
    'an Idempotency-Key twice',
    forecast(FORECAST, KEY, 'Idempotency-Key: one-key', 'Idempotency-Key: "two"'),
    '422 invalid-idempotency-key kept',
  ],
  [
    'an Idempotency-Key that is no ASCII',
    forecast(FORECAST, KEY, 'Idempotency-Key: \xe4'),
    '422 invalid-idempotency-key kept',
  ],
]

const LIVEZ_TAG = `"${sha256Hex(new TextEncoder().encode('{"status":"ok"}'))}"`
const TAGS: FramingCase[] = [
  ['a tag', get('/livez'), '200 kept', literal(`etag: ${LIVEZ_TAG}\n`)],
  ...([LIVEZ_TAG, `W/${LIVEZ_TAG}`, `"x", W/"y" ,${LIVEZ_TAG}`, '*', ' * '] as const).map(
    (tags): FramingCase => [
      `If-None-Match: ${tags}`,
      get('/livez', `If-None-Match: ${tags}`),
      '304 kept',
      literal(`etag: ${LIVEZ_TAG}\n`),
    ],
  ),
  ...[
    '',
    '"a"',
    LIVEZ_TAG.slice(1, -1),
    LIVEZ_TAG.slice(0, -1),
    `w/${LIVEZ_TAG}`,
    '"*"',
    '"x", *',
    `"x"${LIVEZ_TAG.slice(1)}`,
  ].map((tags): FramingCase => [
    `If-None-Match: ${tags}`,
    get('/livez', `If-None-Match: ${tags}`),
    '200 kept',
  ]),
  [
    'a condition of what is not there',
    get('/nowhere', 'If-None-Match: *'),
    '404 unknown-path kept',
    /^(?!.*^etag: )/ms,
  ],
]

const ORIGIN = 'Origin: https://example.org'
const asks = (method: string) => `Access-Control-Request-Method: ${method}`
const FOREIGN = /^(?!.*^access-control-allow-origin: )/ms
const ANYWHERE = /^access-control-allow-origin: \*$.*^access-control-expose-headers: .*X-Service-Signature/ms
const ORIGINS: FramingCase[] = [
  ['a page reads', get('/livez', ORIGIN), '200 kept', ANYWHERE],
  ['a page reads what is not there', get('/nowhere', ORIGIN), '404 unknown-path kept', ANYWHERE],
  ['a page reads by a wrong query', get('/questions?limit=0', ORIGIN), '422 invalid-query kept', ANYWHERE],
  [
    'a page reads with a wrong key',
    get(VERIFICATION, ORIGIN, 'X-API-Key: x'),
    '401 unknown-key kept',
    ANYWHERE,
  ],
  [
    'a page asks to read',
    alone(`OPTIONS ${VERIFICATION}`, ORIGIN, asks('GET')),
    '204 kept',
    /^(?!.*credentials).*headers: Authorization, X-API-Key, If-None-Match, Range, If-Range$.*methods: GET, HEAD$.*^access-control-allow-origin: \*$.*age: 86400$/ms,
  ],
  [
    'a page asks to POST',
    alone('OPTIONS /verification/bulk', ORIGIN, asks('POST')),
    '200 kept',
    /^(?!.*access-control-allow-origin).*^allow: POST$/ms,
  ],
  ['a page posts', register('{}', ORIGIN), '422 invalid-body kept', FOREIGN],
  ...['/metrics', '/sandbox/metrics'].flatMap((path): FramingCase[] => [
    [`a page reads ${path}`, get(path, ORIGIN), '200 kept', FOREIGN],
    [`a page asks to read ${path}`, alone(`OPTIONS ${path}`, ORIGIN, asks('GET')), '200 kept', FOREIGN],
  ]),
]

/** JSON of a size, with a field that makes 422 of what is read. */
function sized(bytes: number): string {
  return `{"x":"${'a'.repeat(bytes - 8)}"}`
}
function literal(text: string): RegExp {
  return new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
}

export const REQUEST_CASES = { TARGETS, BODIES, CALLERS, TAGS, ORIGINS }
