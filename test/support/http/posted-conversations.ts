// Generates POSTs of forecasts and of bulk calls with other requests between them: plain ones, and ones that
// differ from those in every way that a caller can think of. `{agent}`, `{AGENT}`, `{key}` and the like stand
// for those of the agent that submits.
import fc from 'fast-check'
import { ANY_PATH_TURNS, rarely } from './conversations.ts'
import { CHUNKED, apiKey, bearer, chunked, on, post, utf8 } from './posts.ts'
import { OPEN_QUESTIONS, UNKNOWN } from '../worlds/posting-world.ts'
import { QUESTION, forecasterId } from '../worlds/world.ts'

const OPEN = on(QUESTION.open)

const NO_JSON = ['', '{', 'null', '7', '[]', '{"a":1}x', '\u{feff}{}', '{"a":"\xff"}', '{"__proto__":{}}']
const twice = (json: string, field: string) => json.replace('{', `{"${field}":0,`)
const texts = (...bodies: unknown[]) =>
  bodies.map((body) => (typeof body === 'string' ? body : utf8(JSON.stringify(body))))

const CALLS = {
  forecast: {
    path: '/agents/{agent}/forecast',
    usual: texts(OPEN, OPEN, on(QUESTION.open, 0.123456789), on(QUESTION.open, 1)),
    others: texts(
      ...NO_JSON,
      on(QUESTION.open, 1.5),
      on(QUESTION.open, '0.5'),
      on(QUESTION.open, null),
      on(QUESTION.open.toUpperCase()),
      on('a question'),
      { probability: 0.5 },
      on(QUESTION.open, 0.5, { more: 'ä' }),
      on(QUESTION.closed),
      on(QUESTION.resolved),
      on(QUESTION.annulled),
      on(QUESTION.upcoming),
      on(UNKNOWN),
      twice(JSON.stringify(OPEN), 'probability'),
      `${' '.repeat(3_000)}${JSON.stringify(OPEN)}\n`,
      { forecasts: [OPEN] },
    ),
  },
  forecasts: {
    path: '/agents/{agent}/forecasts',
    usual: texts(
      { forecasts: [OPEN] },
      { forecasts: [on(QUESTION.closed), OPEN, on(UNKNOWN)] },
      { forecasts: OPEN_QUESTIONS.slice(0, 3).map((id, nth) => on(id, nth / 4)) },
    ),
    others: texts(
      ...NO_JSON,
      { forecasts: [] },
      { forecasts: [OPEN, OPEN] },
      { forecasts: [on(QUESTION.open, -1), on(QUESTION.closed, 2)] },
      { forecasts: [on(QUESTION.closed), on(QUESTION.resolved)] },
      { forecasts: Array(101).fill(OPEN) },
      { forecasts: OPEN_QUESTIONS.slice(0, 9).map((id) => on(id)) },
      { forecasts: {} },
      OPEN,
    ),
  },
  bulk: {
    path: '/verification/bulk',
    usual: texts(
      { entity_type: 'forecaster', ids: [forecasterId(0)] },
      { entity_type: 'forecaster', ids: [forecasterId(1), UNKNOWN, forecasterId(1)] },
    ),
    others: texts(
      ...NO_JSON,
      { entity_type: 'agent', ids: [forecasterId(0)] },
      { entity_type: 'forecaster', ids: Array.from({ length: 10 }, (_, nth) => forecasterId(nth)) },
      { entity_type: 'forecaster', ids: Array.from({ length: 11 }, (_, nth) => forecasterId(nth)) },
      { entity_type: 'forecaster', ids: [] },
      { entity_type: 'forecaster', ids: ['x', 7] },
      { entity_type: 'nobody', ids: [forecasterId(0)] },
      { ids: [forecasterId(0).toUpperCase()], entity_type: 'forecaster' },
    ),
  },
}

/** What becomes of a path. */
const TURNS: ((path: string) => string)[] = [
  (path) => path.replace('{agent}', '{AGENT}'),
  (path) => path.replace('{agent}', '{other-agent}'),
  (path) => path.replace('{agent}', UNKNOWN),
  (path) => path.replace('{agent}', 'me'),
  (path) => path.replace('{agent}', '{retired-agent}'),
  (path) => path.replace('e', '%65'),
  ...ANY_PATH_TURNS,
  (path) => `/sandbox${path.replace('{agent}', '{sandbox-agent}')}`,
]

const BEARERS = [
  [],
  bearer('{other-key}'),
  bearer('{retired-key}'),
  bearer('{unknown-key}'),
  bearer('{client-key}'),
  bearer('{sandbox-key}'),
  [...bearer('{key}'), ...bearer('{key}')],
  [...bearer('{key}'), ...bearer('{other-key}')],
  ['authorization: bearer   {key}'],
  ['Authorization: {key}'],
  ['Authorization: Basic {key}'],
  ['Authorization:'],
  bearer('fv_live_short'),
  apiKey('{key}'),
]
const API_KEYS = [
  [],
  [],
  apiKey('{key}'),
  apiKey('{unknown-key}'),
  apiKey('{sandbox-key}'),
  [...apiKey('{client-key}'), ...apiKey('{client-key}')],
  [...apiKey('{client-key}'), ...apiKey('{key}')],
  ['x-api-key: {client-key}'],
  ['X-API-Key:'],
  bearer('{key}'),
]

const IDEMPOTENCY = [
  ['Idempotency-Key: first'],
  ['Idempotency-Key: "first"'],
  ['idempotency-key: second'],
  ['Idempotency-Key: "seco\\"nd"'],
  ['Idempotency-Key: "first'],
  ['Idempotency-Key: two words'],
  ['Idempotency-Key:'],
  [`Idempotency-Key: ${'k'.repeat(256)}`],
  ['Idempotency-Key: first', 'Idempotency-Key: second'],
]

const TYPES = [
  [],
  ['Content-Type:'],
  ['Content-Type: text/plain'],
  ['Content-Type: application/json; charset=utf-8'],
  ['content-type: Application/JSON; Charset="UTF-8"'],
  ['Content-Type: application/json; charset=latin1'],
  ['Content-Type: application/problem+json'],
  ['Content-Type: application/json', 'Content-Type: application/json'],
  ['Content-Type: application/json', 'Content-Type: text/plain'],
]

const MORE = [
  ['Content-Encoding: identity'],
  ['Content-Encoding: gzip'],
  ['Content-Encoding:'],
  ['Expect: 100-continue'],
  ['Expect: more'],
  ['Connection: close'],
  ['Connection: keep-alive'],
  ['Upgrade: h2c', 'Connection: Upgrade, close'],
  ['Accept: text/html'],
  ['Origin: http://other.example'],
  ['TE: trailers'],
]

const HOSTS = [[], ['Host: x', 'Host: y'], ['Host: a b'], ['HOST: [::1]:80'], ['Host:'], ['Host: x:']]

/** How the body is told to end, and what is sent of it. */
const FRAMINGS: ((body: string) => { framing: string[]; body: string })[] = [
  (body) => ({ framing: CHUNKED, body: chunked(body, 1_000) }),
  (body) => ({ framing: CHUNKED, body: chunked(body, 7) }),
  (body) => ({ framing: CHUNKED, body: body === '' ? 'x\r\n' : `${body.length}x\r\n${body}` }),
  (body) => ({ framing: ['Transfer-Encoding: gzip, chunked'], body: chunked(body, 1_000) }),
  (body) => ({ framing: [...CHUNKED, `Content-Length: ${body.length}`], body: chunked(body, 1_000) }),
  (body) => ({ framing: [`Content-Length: ${body.length}`, 'Content-Length: 0'], body }),
  (body) => ({ framing: [`content-length: 0${body.length}`], body }),
  () => ({ framing: ['Content-Length: 0'], body: '' }),
  (body) => ({ framing: [`Content-Length: ${Math.max(0, body.length - 1)}`], body: body.slice(0, -1) }),
  (body) => ({ framing: ['Content-Length: 70000'], body }),
  (body) => ({ framing: ['Content-Length: -1'], body }),
  () => ({ framing: [], body: '' }),
]

const posted = fc
  .oneof(
    { weight: 4, arbitrary: fc.constant(CALLS.forecast) },
    { weight: 2, arbitrary: fc.constant(CALLS.forecasts) },
    { weight: 3, arbitrary: fc.constant(CALLS.bulk) },
  )
  .chain((call) => {
    const isBulk = call === CALLS.bulk
    const keys = isBulk ? rarely(apiKey('{client-key}'), API_KEYS, 1) : rarely(bearer('{key}'), BEARERS)
    return fc.record({
      path: rarely((path: string) => path, TURNS, 8).map((turn) => turn(call.path)),
      body: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(...call.usual) },
        { weight: 1, arbitrary: fc.constantFrom(...call.others) },
      ),
      method: rarely('POST', ['PUT', 'GET', 'OPTIONS', 'HEAD'], 40),
      version: rarely('HTTP/1.1', ['HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0'], 30),
      host: rarely(['Host: x'], HOSTS, 20),
      type: rarely(['Content-Type: application/json'], TYPES, 14),
      framed: rarely(undefined, FRAMINGS, 16),
      key: keys,
      once: rarely([], IDEMPOTENCY, 2),
      more: rarely([], MORE, 10),
    })
  })
  .map(({ framed, once, more, ...parts }) =>
    post({ ...parts, ...framed?.(parts.body), more: [...once, ...more] }),
  )

const READS = [
  '/agents/{agent}/forecasts',
  '/agents/{agent}',
  `/forecaster/${forecasterId(0)}/verification`,
  '/livez',
].map((path) => post({ path, method: 'GET', type: [], framing: [], key: bearer() }))

const connection = fc.array(
  fc.oneof({ weight: 6, arbitrary: posted }, { weight: 1, arbitrary: fc.constantFrom(...READS) }),
  { minLength: 1, maxLength: 6 },
)

/**
 * Whole requests of one caller for several connections, one after another, since many an answer ends its
 * connection.
 */
export const postedConversation: fc.Arbitrary<string[][]> = fc.array(connection, {
  minLength: 1,
  maxLength: 5,
})
