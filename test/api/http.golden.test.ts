// Golden conversations: test/cases/http/*.txt holds requests (`>`) and their answers (`<`), with the headers
// that matter to the case. A usual header appears only where an answer lacks it or has another value. `vitest
// run -u` writes the answers anew.
import { readFileSync, readdirSync } from 'node:fs'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { suiteFolder } from '../support/folder.ts'
import {
  type Answer,
  Clock,
  type TestService,
  registerAgent,
  startTestService,
  testComponents,
} from '../support/http/service.ts'
import { NOW, QUESTION, forecasterId, copyReleasedWorld } from '../support/worlds/world.ts'

const CASES = new URL('../cases/http/', import.meta.url)

const folder = await suiteFolder()
let service: TestService
/** The limits where no setting names others. */
const USUAL_LIMITS = {
  ANONYMOUS_PER_MINUTE: '60',
  ANONYMOUS_PER_MONTH: '100',
  READS_PER_MINUTE: '600',
  FORECASTS_PER_MINUTE: '120',
  REGISTRATIONS_PER_HOUR: '10',
  FREE_MONTHLY_CALLS: '100',
}
/** The value of `{name}` in a request. */
const known: Record<string, string> = {
  open_question: QUESTION.open,
  closed_question: QUESTION.closed,
  forecaster: forecasterId(0),
}

let components: Components

beforeAll(async () => {
  components = await testComponents({ folder, clock: new Clock(NOW), settings: USUAL_LIMITS })
  known['other_agent_id'] = (await copyReleasedWorld(components.store)).agentId
})

/**
 * Each conversation has a service, an agent and a key of its own, so that none counts the calls of another.
 */
const begin = async () => {
  known['client_key'] = await components.registry.createClientKey('golden', new Date(NOW))
  service = await startTestService(components)
  const agent = await registerAgent(service.client)
  known['agent_id'] = agent.agentId
  known['api_key'] = agent.key
  const { headers } = await service.client.get(`/forecaster/${forecasterId(0)}/verification`)
  known['etag'] = headers.etag!
}
afterEach(() => service.stop())

interface Exchange {
  comments: string[]
  request: string[]
}

function exchangesOf(text: string): Exchange[] {
  return text.split(/^(?=#)/m).map((part) => {
    const lines = part.split('\n')
    return {
      comments: lines.filter((line) => line.startsWith('#')),
      request: lines.filter((line) => line.startsWith('>')).map((line) => line.slice(2)),
    }
  })
}

const filled = (text: string) => text.replace(/\{(\w+)\}/g, (whole, name: string) => known[name] ?? whole)

async function ask({ request }: Exchange): Promise<{ method: string; path: string; answer: Answer }> {
  const [first, ...rest] = request.map(filled) as [string, ...string[]]
  const [method, path] = first.split(' ') as [string, string]
  const end = rest.indexOf('')
  const headers = (end < 0 ? rest : rest.slice(0, end)).map((line) => line.split(': ') as [string, string])
  const body = end < 0 ? undefined : rest.slice(end + 1).join('\n')
  return {
    method,
    path,
    answer: await service.client.send(method, path, { headers: Object.fromEntries(headers), body }),
  }
}

/** Replaces what differs from run to run: new ids, keys, and the time of day. */
const steady = (text: string) =>
  text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<new id>')
    .replace(/fv_live_\w+/g, '<key>')
    .replace(/^X-Request-Id: \S+$/m, 'X-Request-Id: <new id>')
    .replace(/^Date: .*$/m, 'Date: <now>')
    .replace(/^(RateLimit: .*;t=)\d+$/m, '$1<seconds>')
    .replace(/due at \S+Z/g, 'due at <time>')

/** The headers that every answer has, and those that follow from the rest of it. */
function usualHeaders({ headers, bytes }: Answer): string[] {
  return [
    'X-Request-Id: <new id>',
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
    'Referrer-Policy: no-referrer',
    'Strict-Transport-Security: max-age=31536000',
    'X-Content-Type-Options: nosniff',
    'X-Frame-Options: DENY',
    ...(headers['access-control-allow-origin'] === undefined
      ? []
      : [
          'Access-Control-Expose-Headers: ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, X-Service-Receipt, X-Service-Signature',
        ]),
    ...(bytes.length === 0 ? [] : [`Content-Length: ${bytes.length}`]),
    'Date: <now>',
    ...(headers.connection === 'close' ? [] : ['Connection: keep-alive', 'Keep-Alive: timeout=65']),
  ]
}

/** A body that an earlier answer of the conversation had is named by that answer's number. */
function shownBody(text: string, earlier: string[]): string {
  const before = earlier.indexOf(text)
  earlier.push(text)
  return text.length < LONG_BODY || before < 0 ? steady(text) : `(the body of answer ${before + 1})`
}

const LONG_BODY = 200

function shown(answer: Answer, earlier: string[]): string[] {
  const { status, rawHeaders, text } = answer
  const body = shownBody(text, earlier)
  const headers: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers.push(steady(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`))
  const usual = usualHeaders(answer)
  return [
    String(status),
    ...usual.filter((header) => !headers.includes(header)).map((header) => `without ${header}`),
    ...headers.filter((header) => !usual.includes(header)),
    ...(text === '' ? [] : ['', body]),
  ].map((line) => `< ${line}`.trimEnd())
}

interface OpenApi {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>
}

describe('the conversation', () => {
  beforeEach(begin)
  const names = readdirSync(CASES).filter((name) => name.endsWith('.txt'))

  test.for(names)('%s', async (name) => {
    const file = new URL(name, CASES)
    const { paths } = (await service.client.get('/openapi.json')).json<OpenApi>()
    const parts: string[] = []
    const bodies: string[] = []
    for (const exchange of exchangesOf(readFileSync(file, 'utf8'))) {
      const { method, path, answer } = await ask(exchange)
      expectDocumented(paths, method, path, answer.status)
      const request = exchange.request.map((line) => `> ${line}`.trimEnd())
      parts.push([...exchange.comments, ...request, ...shown(answer, bodies), ''].join('\n'))
    }
    await expect(parts.join('\n')).toMatchFileSnapshot(file.pathname)
  })
})

/** The document of the API names each status that a call answers. */
function expectDocumented(paths: OpenApi['paths'], method: string, path: string, status: number): void {
  const asked = path.split('?')[0]!
  const matches = (template: string) => new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(asked)
  const template = Object.keys(paths).find((name) => name === asked) ?? Object.keys(paths).find(matches)
  const operation = template && paths[template]![method === 'HEAD' ? 'get' : method.toLowerCase()]
  if (!operation || status === 304) return
  expect(Object.keys(operation.responses), `${method} ${path}`).toContain(String(status))
}
