// Generates requests for what may be prepared, plain and in every way that is not.
import fc from 'fast-check'

export interface Known {
  /** Paths of entities that are published. */
  entities: readonly string[]
  keys: readonly string[]
  tag: string
}

const MISSING = [
  '/agents/00000000-0000-4000-8009-000000000009',
  '/forecaster/00000000-0000-4000-8009-000000000009',
]

const CALLS = [
  'verification',
  'metrics',
  'rankings',
  'advanced-metrics',
  'profile',
  'badge.svg',
  'badge.json',
  'verification/',
  'Verification',
]

/** What becomes of a path, whichever it is. */
export const ANY_PATH_TURNS: ((path: string) => string)[] = [
  (path) => path.replace('/', '//'),
  (path) => `/.${path}`,
  (path) => `${path}/`,
  (path) => `${path}?`,
  (path) => `${path}?x=1`,
  (path) => `${path}#part`,
  (path) => `http://other.example${path}`,
  (path) => `/sandbox${path}`,
  (path) => path.slice(0, -1),
  () => '*',
]

/** What becomes of a path: most stay as they are. */
const TURNS: ((path: string, id: string) => string)[] = [
  (path, id) => path.replace(id, id.toUpperCase()),
  (path) => path.replace('a', '%61'),
  ...ANY_PATH_TURNS,
  (path, id) => path.replace(id, `${id}%20`),
  () => '/leaderboard/agent',
  () => '/leaderboard/forecaster',
  () => '/leaderboard/agents',
  () => '/leaderboard/agent?limit=100',
  () => '/log/checkpoint',
  () => '/agents/register',
]

/** One value most of the time, and otherwise one of several. */
export function rarely<T>(usual: T, others: readonly T[], weight = 6): fc.Arbitrary<T> {
  return fc.oneof(
    { weight, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  )
}

function pathOf(entities: readonly string[]): fc.Arbitrary<string> {
  const plain = fc.record({
    entity: fc.constantFrom(...entities, ...entities, ...MISSING),
    call: fc.constantFrom('verification', 'verification', 'verification', ...CALLS),
    turn: fc.oneof(
      { weight: 3, arbitrary: fc.constant((path: string) => path) },
      { weight: 1, arbitrary: fc.constantFrom(...TURNS) },
    ),
  })
  return plain.map(({ entity, call, turn }) =>
    turn(call === 'profile' ? entity : `${entity}/${call}`, entity.split('/')[2]!),
  )
}

function headersOf({ keys, tag }: Known): fc.Arbitrary<string[]> {
  const key = fc.constantFrom(...keys)
  const none = fc.constant<string[]>([])
  const lines = (weight: number, ...others: fc.Arbitrary<string[]>[]) =>
    fc.oneof({ weight, arbitrary: none }, ...others.map((arbitrary) => ({ weight: 1, arbitrary })))
  const line = (...lists: string[][]) => fc.constantFrom(...lists)
  return fc
    .tuple(
      rarely(['Host: x'], [[], ['Host: x', 'Host: y'], ['Host: a b'], ['HOST: [::1]:80'], ['Host:']], 20),
      lines(
        2,
        key.map((text) => [`X-API-Key: ${text}`]),
        key.map((text) => [`x-api-key: ${text}`]),
        key.map((text) => [`X-API-Key: ${text.slice(0, -1)}0`]),
        key.map((text) => [`X-API-Key: ${text}`, `X-API-Key: ${text}`]),
        line(['X-API-Key: wrong'], ['X-API-Key:']),
      ),
      lines(
        2,
        line(
          [`If-None-Match: ${tag}`],
          [`if-none-match: W/${tag}`],
          ['If-None-Match: *'],
          ['If-None-Match: "other"'],
        ),
        line(
          [`If-None-Match: "other", ${tag}`],
          [`If-None-Match: "other"`, `If-None-Match: ${tag}`],
          ['If-None-Match:'],
        ),
        line([`If-None-Match: ${tag}, *`], [`If-None-Match: ${tag.slice(1)}`]),
      ),
      lines(
        6,
        line(
          ['Accept: text/html'],
          ['Accept: application/json'],
          ['Range: bytes=0-9'],
          ['Cache-Control: no-cache'],
        ),
      ),
      lines(12, line(['Connection: close'], ['Connection: keep-alive'], ['Upgrade: h2c'])),
      lines(
        20,
        line(
          ['Content-Length: 0'],
          ['Expect: 100-continue'],
          ['Expect: more'],
          ['Access-Control-Request-Method: GET'],
        ),
      ),
    )
    .map((all) => all.flat())
}

/** Whole requests for one connection; `{address}` stands for that of the caller. */
export function conversation(known: Known): fc.Arbitrary<string[]> {
  const request = fc
    .record({
      method: rarely('GET', ['HEAD', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'get'], 12),
      path: pathOf(known.entities),
      version: rarely('HTTP/1.1', ['HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0'], 20),
      headers: headersOf(known),
      framed: rarely(
        '',
        ['Content-Length: 3\r\n\r\nabc', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'],
        30,
      ),
    })
    .map(({ method, path, version, headers, framed }) => {
      const head = [`${method} ${path} ${version}`, ...headers, 'X-Forwarded-For: {address}'].join('\r\n')
      return framed === '' ? `${head}\r\n\r\n` : `${head}\r\n${framed}`
    })
  return fc.array(request, { minLength: 1, maxLength: 12 })
}
