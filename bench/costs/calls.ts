// The calls that measure a route: as its examples say, with its largest page, and with wrong bodies of the
// largest size.
import { BODY_LIMIT_BYTES } from '../../api/http/body.ts'
import type { Route } from '../../api/http/route.ts'

/** What the parameters of routes can name: ids of each kind. */
export interface Named {
  agent_id: readonly string[]
  user_id: readonly string[]
  question_id: readonly string[]
  /** Questions of which the release tells what was forecast. */
  settled: readonly string[]
  /** An agent that was registered for the measurement, and its key. */
  own: string
  key: string
  newKey: () => string
}

export interface PlannedCall {
  what: string
  /** Returns a new request. Its parameters name the first id of each kind, or the `nth` other one. */
  requestOf: (nth: number) => string
}

/** By the route's name: queries that make a call answer with all that it can, besides those of most lists. */
const QUERIES: Record<string, (ids: Ids, others: Ids) => readonly string[]> = {
  compareTwo: (ids, others) => [`?a=${ids.agent_id}&b=${others.agent_id}`],
  showComparison: (ids, others) => [`?a=${ids.agent_id}&b=${others.agent_id}`],
  listPeople: ({ user_id }) => [`?ids=${user_id}`],
  showSearch: ({ user_id }) => ['?q=agent', `?q=${user_id}`, `?q=${user_id.slice(0, 4)}`],
  showAgentQuestions: () => ['', '?sort=worst'],
  showForecasterQuestions: () => ['', '?sort=worst'],
}

/** Routes that end what the others need. */
const ENDING = new Set(['retireAgent', 'revokeAgentKey', 'rotateAgentKey'])

export function callsOf(route: Route, named: Named): PlannedCall[] {
  const { path, method, examples = {}, key } = route
  const headers = ['Accept: application/json, text/event-stream']
  if (key === 'agent') headers.push(`Authorization: Bearer ${named.key}`)
  const planned = (
    what: string,
    queryOf: (ids: Ids, others: Ids) => string,
    bodyOf?: (nth: number) => string,
    given: Partial<Named> = {},
  ): PlannedCall => ({
    what: `${method} ${path}${what}`,
    requestOf: (nth) => {
      const ids = idsOf({ ...named, ...given }, nth)
      const query = queryOf(ids, idsOf(named, nth + 1))
      const entity = { entity_id: ids.agent_id, category: 'bench' }
      const values: Record<string, string> = { ...examples.params, ...entity, ...ids }
      if (key === 'agent') values['agent_id'] = named.own
      const target = path.replace(/\{\+?(\w+)\}/g, (_whole, name: string) =>
        encodeURIComponent(values[name] ?? '1'),
      )
      return requestOf({ method, target: target + query, headers }, named, bodyOf?.(nth))
    },
  })
  if (ENDING.has(route.operationId)) return []
  if (!route.body) {
    const queries = ['limit=1000', 'include=texts&status=open']
    const taken = queries.filter(
      (query) => route.query.safeParse(Object.fromEntries(new URLSearchParams(query))).success,
    )
    const own = QUERIES[route.operationId] ?? (() => [''])
    const [first] = [idsOf(named, 0)]
    return [
      ...own(first, first).map((query, nth) =>
        planned(query.replaceAll(/=[0-9a-f-]{36}/g, '=ID'), (ids, others) => own(ids, others)[nth]!),
      ),
      ...taken.map((query) => planned(`?${query}`, () => `?${query}`)),
      ...(path.includes('{question_id}')
        ? [planned(' of a settled one', () => '', undefined, { question_id: named.settled })]
        : []),
    ]
  }
  const usual = (nth: number) =>
    JSON.stringify(examples.body).replaceAll(
      /"question_id":"[^"]+"/g,
      `"question_id":"${idsOf(named, nth).question_id}"`,
    )
  const none = () => ''
  return [planned('', none, usual), ...WRONG.map(([what, body]) => planned(` ${what}`, none, () => body))]
}

type Ids = Record<'agent_id' | 'user_id' | 'question_id', string>

function idsOf({ agent_id, user_id, question_id }: Named, nth: number): Ids {
  const pick = (ids: readonly string[]) => ids[nth % ids.length]!
  return { agent_id: pick(agent_id), user_id: pick(user_id), question_id: pick(question_id) }
}

const whole = (piece: string, before = '', after = ''): string => {
  const room = BODY_LIMIT_BYTES - before.length - after.length
  return before + piece.repeat(Math.floor(room / piece.length)) + after
}
const fields = Array.from({ length: 5_000 }, (_, nth) => `"f${nth}":0`).join(',')

/** Bodies of the largest size that no call takes. */
const WRONG: (readonly [what: string, body: string])[] = [
  ['64 KiB of [', whole('[')],
  ['64 KiB of {"":', whole('{"":')],
  ['64 KiB of lines', whole('\n', '[', 'x')],
  ['64 KiB of 0,', whole('0,', '[', 'x')],
  ['64 KiB of "",', whole('"",', '[', 'x')],
  ['64 KiB of one string', whole('\\u0000', '"')],
  ['64 KiB of fields', `{${fields}}`],
  ['64 KiB of the same field', whole('"a":0,', '{', '"a":0}')],
  ['64 KiB of {}', whole('{},', '[', '{}]')],
  ['64 KiB of {"forecasts":[{}]}', whole('{},', '{"forecasts":[', '{}]}')],
  ['64 KiB of ids', whole('"x",', '{"entity_type":"agent","ids":[', '"x"]}')],
]

function requestOf(
  { method, target, headers }: Pick<Route, 'method'> & { target: string; headers: readonly string[] },
  named: Named,
  body?: string,
): string {
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: bench', ...headers]
  if (body !== undefined) {
    lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
    lines.push(`Idempotency-Key: ${named.newKey()}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`
}
