// POSTs one at a time, with the status of each answer: plain ones, which go to their route directly, and
// those that are left to Koa.
import { BODY_LIMIT_BYTES } from '../../../api/http/body.ts'
import { OPEN_QUESTIONS, UNKNOWN } from '../worlds/posting-world.ts'
import { CHUNKED, type Post, apiKey, bearer, chunked, on, post, utf8 } from './posts.ts'
import { QUESTION, forecasterId } from '../worlds/world.ts'

export const VALID = JSON.stringify(on(QUESTION.open))
export const forecastOf = (parts: Partial<Post> = {}) =>
  post({ path: '/agents/{agent}/forecast', body: VALID, key: bearer(), ...parts })
export const forecastsOf = (forecasts: unknown, parts: Partial<Post> = {}) =>
  post({ path: '/agents/{agent}/forecasts', body: JSON.stringify({ forecasts }), key: bearer(), ...parts })
export const bulkOf = (ids: unknown, parts: Partial<Post> = {}) =>
  post({
    path: '/verification/bulk',
    body: JSON.stringify({ entity_type: 'forecaster', ids }),
    key: apiKey(),
    ...parts,
  })
export const FOUND = [forecasterId(0), forecasterId(1)]
const manyIds = (count: number) => Array.from({ length: count }, (_, nth) => forecasterId(nth))
export const ofBody = (body: unknown) =>
  forecastOf({ body: typeof body === 'string' ? body : utf8(JSON.stringify(body)) })

/** A name, the request, and the status of its answer. */
type Case = [string, string, number]

const SUBMITTED: Case[] = [
  ['a forecast', forecastOf(), 200],
  ['a forecast with more decimals than are kept', ofBody(on(QUESTION.open, 0.123456789)), 200],
  ['a closed question', ofBody(on(QUESTION.closed)), 409],
  ['a resolved question', ofBody(on(QUESTION.resolved)), 409],
  ['an annulled question', ofBody(on(QUESTION.annulled)), 409],
  ['a question that is not open yet', ofBody(on(QUESTION.upcoming)), 409],
  ['an unknown question', ofBody(on(UNKNOWN)), 404],
  ['a probability of 2', ofBody(on(QUESTION.open, 2)), 422],
  ['a text as probability', ofBody(on(QUESTION.open, '0.5')), 422],
  ['an unknown field', ofBody(on(QUESTION.open, 0.5, { é: 1 })), 422],
  ['a missing field', ofBody({ probability: 0.5 }), 422],
  ['a field that comes twice', ofBody(VALID.replace('{', '{"probability":0.5,')), 400],
  ['no JSON', ofBody('{"question_id":'), 400],
  ['JSON after a byte order mark', ofBody(utf8(`\u{feff}${VALID}`)), 200],
  ['what is not UTF-8', ofBody('{"question_id":"\xff"}'), 400],
  ['null', ofBody('null'), 422],
  ['an empty body', ofBody(''), 400],
  ['a body of the most bytes', ofBody(VALID.padEnd(BODY_LIMIT_BYTES)), 200],
  [
    'a body that is announced too large',
    forecastOf({ framing: [`Content-Length: ${BODY_LIMIT_BYTES + 1}`] }),
    413,
  ],
  ['many forecasts', forecastsOf(OPEN_QUESTIONS.slice(0, 3).map((id) => on(id))), 200],
  ['many forecasts, some refused', forecastsOf([on(QUESTION.closed), on(QUESTION.open), on(UNKNOWN)]), 200],
  ['many forecasts, all refused', forecastsOf([on(QUESTION.closed), on(QUESTION.resolved)]), 200],
  ['many forecasts, some invalid', forecastsOf([on(QUESTION.open, 2), on(QUESTION.open, 0)]), 422],
  ['no forecasts', forecastsOf([]), 422],
  ['101 forecasts', forecastsOf(Array(101).fill(on(QUESTION.open))), 422],
  ['more forecasts than are left', forecastsOf(OPEN_QUESTIONS.map((id) => on(id))), 429],
]

const ASKED: Case[] = [
  ['a bulk call with a key', bulkOf(FOUND), 200],
  ['a bulk call with the key of an agent', bulkOf(FOUND, { key: apiKey('{key}') }), 200],
  ['a bulk call without a key', bulkOf(FOUND, { key: [] }), 200],
  ['a bulk call of ids that are unknown or come twice', bulkOf([...FOUND, UNKNOWN, FOUND[0]]), 200],
  ['a bulk call in upper case', bulkOf([FOUND[0]!.toUpperCase()]), 200],
  ['a bulk call of the most ids', bulkOf(manyIds(10)), 200],
  ['a bulk call of too many ids', bulkOf(manyIds(11)), 422],
  ['a bulk call of no ids', bulkOf([]), 422],
  ['a bulk call of what is no id', bulkOf(['x', 7]), 422],
  ['a bulk call with an unknown key', bulkOf(FOUND, { key: apiKey('{unknown-key}') }), 401],
  ['a bulk call with a malformed key', bulkOf(FOUND, { key: apiKey('fv_live_x') }), 401],
  ['a bulk call with an empty key', bulkOf(FOUND, { key: ['X-API-Key:'] }), 401],
  ['a bulk call with a key of the sandbox', bulkOf(FOUND, { key: apiKey('{sandbox-key}') }), 401],
  ['a bulk call with its key twice', bulkOf(FOUND, { key: [...apiKey(), ...apiKey()] }), 401],
  ['a bulk call with a bearer', bulkOf(FOUND, { key: bearer() }), 200],
]

const KEYS: Case[] = [
  ['no key', forecastOf({ key: [] }), 401],
  ['an unknown key', forecastOf({ key: bearer('{unknown-key}') }), 401],
  ['a malformed key', forecastOf({ key: bearer('fv_live_x') }), 401],
  ['the key of another agent', forecastOf({ key: bearer('{other-key}') }), 403],
  ['the key of a client', forecastOf({ key: bearer('{client-key}') }), 401],
  ['the key of the sandbox', forecastOf({ key: bearer('{sandbox-key}') }), 401],
  ['two keys', forecastOf({ key: [...bearer(), ...bearer('{other-key}')] }), 401],
  ['its key twice', forecastOf({ key: [...bearer(), ...bearer()] }), 401],
  ['its key in small letters', forecastOf({ key: ['authorization: bearer   {key}'] }), 200],
  ['its key without a scheme', forecastOf({ key: ['Authorization: {key}'] }), 401],
  ['its key in another header', forecastOf({ key: apiKey('{key}') }), 401],
  ['a key beside another one', forecastOf({ key: [...bearer(), ...apiKey('{unknown-key}')] }), 200],
  ['the agent of another key', forecastOf({ path: '/agents/{other-agent}/forecast' }), 403],
  ['an agent that nobody knows', forecastOf({ path: `/agents/${UNKNOWN}/forecast` }), 403],
  [
    'an agent that is retired',
    forecastOf({ path: '/agents/{retired-agent}/forecast', key: bearer('{retired-key}') }),
    409,
  ],
]

const JSON_TYPE = 'Content-Type: application/json'
const ofType = (...type: string[]) => forecastOf({ type })
const withMore = (...more: string[]) => forecastOf({ more })
const once = (key: string) => withMore(`Idempotency-Key: ${key}`)

const HEADERS: Case[] = [
  ['no Content-Type', ofType(), 415],
  ['another Content-Type', ofType('Content-Type: text/plain'), 415],
  ['an empty Content-Type', ofType('Content-Type:'), 415],
  ['its Content-Type twice', ofType(JSON_TYPE, JSON_TYPE), 400],
  ['two Content-Types', ofType(JSON_TYPE, 'Content-Type: text/plain'), 400],
  ['the charset UTF-8', ofType(`${JSON_TYPE}; charset="UTF-8"`), 200],
  ['another charset', ofType(`${JSON_TYPE}; charset=latin1`), 415],
  ['a content coding', withMore('Content-Encoding: gzip'), 415],
  ['the content coding identity', withMore('Content-Encoding: identity'), 200],
  ['a Content-Length of 0', forecastOf({ framing: ['Content-Length: 0'], body: '' }), 400],
  ['a Content-Length with a zero ahead', forecastOf({ framing: [`Content-Length: 0${VALID.length}`] }), 200],
  ['no Content-Length', forecastOf({ framing: [], body: '' }), 400],
  [
    'a Content-Length that is short by one',
    forecastOf({ framing: [`Content-Length: ${VALID.length - 1}`] }),
    400,
  ],
  ['an Idempotency-Key', once('a-key'), 200],
  ['an Idempotency-Key in quotes', once('"a \\"key\\""'), 422],
  ['an Idempotency-Key that is not closed', once('"a-key'), 422],
  ['an empty Idempotency-Key', once(''), 422],
  ['an Idempotency-Key that is too long', once('k'.repeat(256)), 422],
  ['two Idempotency-Keys', withMore('Idempotency-Key: a', 'Idempotency-Key: b'), 422],
  ['Connection: close', withMore('Connection: close'), 200],
  ['Connection: close beside a wrong key', forecastOf({ key: [], more: ['Connection: close'] }), 401],
  ['Connection: keep-alive', withMore('Connection: keep-alive'), 200],
  ['a protocol to change to', withMore('Upgrade: h2c', 'Connection: Upgrade, close'), 200],
  ['a wish for HTML', forecastOf({ key: [], more: ['Accept: text/html'] }), 401],
  ['an origin', withMore('Origin: http://other.example'), 200],
  ['100 headers', withMore(...Array<string>(100).fill('X-More: more')), 200],
  ['an empty Host', forecastOf({ host: ['Host:'] }), 200],
  ['a Host that is an address with a port', forecastOf({ host: ['HOST: [::1]:80'] }), 200],
]

const SANDBOX: Case[] = [
  [
    'a forecast in the sandbox',
    forecastOf({ path: '/sandbox/agents/{sandbox-agent}/forecast', key: bearer('{sandbox-key}') }),
    404,
  ],
  [
    'many forecasts in the sandbox',
    forecastsOf([on(QUESTION.open)], {
      path: '/sandbox/agents/{sandbox-agent}/forecasts',
      key: bearer('{sandbox-key}'),
    }),
    200,
  ],
  [
    'a forecast in the sandbox with a key of production',
    forecastOf({ path: '/sandbox/agents/{sandbox-agent}/forecast' }),
    401,
  ],
  [
    'a bulk call in the sandbox',
    bulkOf(FOUND, { path: '/sandbox/verification/bulk', key: apiKey('{sandbox-key}') }),
    200,
  ],
]

const PATH = '/agents/{agent}/forecast'
const at = (path: string) => forecastOf({ path })

export const LEFT_TO_KOA: Case[] = [
  ['a body in chunks', forecastOf({ framing: CHUNKED, body: chunked(VALID, 20) }), 200],
  ['a body in one chunk, of a bulk call', bulkOf([], { framing: CHUNKED, body: chunked('{}', 20) }), 422],
  [
    'a coding beside chunked',
    forecastOf({ framing: ['Transfer-Encoding: gzip, chunked'], body: '0\r\n\r\n' }),
    501,
  ],
  ['a body that is waited for', withMore('Expect: 100-continue'), 100],
  ['another expectation', withMore('Expect: more'), 200],
  ['HTTP/1.0', forecastOf({ version: 'HTTP/1.0' }), 200],
  ['no Host', forecastOf({ host: [] }), 400],
  ['two Hosts', forecastOf({ host: ['Host: x', 'Host: y'] }), 400],
  ['its Host twice', forecastOf({ host: ['Host: x', 'host: x'] }), 400],
  ['a malformed Host', forecastOf({ host: ['Host: a b'] }), 400],
  ['an id in upper case', at('/agents/{AGENT}/forecast'), 200],
  ['what is no id', at('/agents/me/forecast'), 422],
  ['an encoded letter', at(PATH.replace('f', '%66')), 404],
  ['an encoded digit of an id', at(PATH.replace('{agent}', '{encoded-agent}')), 200],
  ['an encoded slash', at(PATH.replace('/forecast', '%2Fforecast')), 405],
  ['a slash at the end', at(`${PATH}/`), 404],
  ['a slash more', at(`/${PATH}`), 404],
  ['a dot in the path', at(`/.${PATH}`), 404],
  ['an empty query', at(`${PATH}?`), 200],
  ['a query', at(`${PATH}?x=1`), 422],
  ['a fragment', at(`${PATH}#part`), 200],
  ['a whole URL', at(`http://other.example${PATH}`), 200],
  ['an asterisk', at('*'), 400],
  ['a path that nobody knows', at('/agents/{agent}/forecas'), 404],
  ['another method', forecastOf({ method: 'PUT' }), 405],
  ['GET with a body', forecastOf({ method: 'GET' }), 405],
]

export const PLAIN: Case[] = [...SUBMITTED, ...ASKED, ...KEYS, ...HEADERS, ...SANDBOX]
