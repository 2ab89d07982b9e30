// A fuzz of every call: whatever is sent, it is answered in good form, gives nothing away, and writes nothing
// if it is refused. FUZZ_RUNS says how many requests each call gets, FUZZ_SEED which.
// @module-tag slow
import { tmpdir } from 'node:os'
import fc from 'fast-check'
import { pino } from 'pino'
import { v7 as uuidv7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { allRoutes } from '../../api/routes/all.ts'
import { MOUNTS } from '../../api/mounts.ts'
import type { Route } from '../../api/http/route.ts'
import { SECURITY_HEADERS } from '../../api/http/answer-head.ts'
import { type Service, startService } from '../../jobs/serve/service.ts'
import { redactKeys } from '../../pipeline/access/api-key.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { ENVIRONMENTS, type Environment } from '../../schemas/values.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { type GoodRequest, type HostileRequest, hostileRequests } from '../support/http/hostile.ts'
import { faultsOf } from '../support/json-schema.ts'
import { type RawAnswer, bytesOf, exchange } from '../support/http/raw-http.ts'
import {
  Client,
  Clock,
  NO_LIMITS,
  SANDBOX_SECRET,
  SECRET,
  registerAgent,
  testComponents,
} from '../support/http/service.ts'
import { NOW, QUESTION, forecasterId, copyReleasedWorld } from '../support/worlds/world.ts'

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 100)
const SEED = Number(process.env['FUZZ_SEED'] ?? 20260301)
const ROUTES = allRoutes({ version: '0.0.0', methodology: METHODOLOGY, methodologyText: new Uint8Array() })
/** Several hundred kB would be sent again and again. */
const LARGE = new Set(['/docs', '/docs/data', '/openapi.json'])

let service: Service
let client: Client
let agents: Record<Environment, { agentId: string; key: string }>
let spares: Record<Environment, { agentId: string; key: string }>
const stores = { production: new FaultStore(new MemoryStore()), sandbox: new FaultStore(new MemoryStore()) }
const logged: string[] = []
const statuses = new Map<number, number>()
const folder = await suiteFolder()

beforeAll(async () => {
  const unlimited = Object.entries(NO_LIMITS).flatMap(([name, value]) => [
    [name, value],
    [`SANDBOX_${name}`, value],
  ])
  const settings = {
    ...(Object.fromEntries(unlimited) as Record<string, string>),
    // What is written in the background would be taken for the doing of a call.
    USAGE_FLUSH_MS: '600000',
    REQUEST_TIMEOUT_MS: '300',
  }
  const logger = pino(
    { level: 'trace', base: null, hooks: { streamWrite: redactKeys } },
    { write: (line: string) => void logged.push(line) },
  )
  const of = async (environment: Environment) => {
    const store = stores[environment]
    const shared = { folder, store, environment, settings, clock: new Clock(NOW) }
    return { ...(await testComponents(shared)), logger }
  }
  const components = { production: await of('production'), sandbox: await of('sandbox') }
  const production = await copyReleasedWorld(stores.production)
  service = await startService(components, { scheduler: false })
  client = new Client(service.url)
  const sandbox = await registerAgent(new Client(`${service.url}/sandbox`))
  agents = { production, sandbox }
  const register = (mount: string) => registerAgent(new Client(service.url + mount))
  spares = { production: await register(''), sandbox: await register('/sandbox') }
})
afterAll(async () => {
  await service.stop()
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`)
  console.log(`fuzz: ${[...statuses.values()].reduce((a, b) => a + b, 0)} answers: ${counts.join(', ')}`)
})

/** Stands for another value in each request. */
const UNIQUE = 'a value of its own'

const BODIES: Record<string, Record<string, unknown>> = {
  '/agents/register': { name: 'an agent', model_type: 'a model', organization_name: 'people' },
  '/agents/{agent_id}/forecast': { question_id: QUESTION.open, probability: 0.25 },
  '/agents/{agent_id}/forecasts': { forecasts: [{ question_id: QUESTION.open, probability: 0.25 }] },
  '/agents/{agent_id}/owner': { domain: 'example.org' },
  '/agents/{agent_id}/rotate-key': { end_old_key: false },
  '/verification/bulk': { entity_type: 'forecaster', ids: [forecasterId(0), forecasterId(1)] },
}

function goodRequest(spec: Route, environment: Environment): GoodRequest {
  // Whoever rotates its key or retires cannot go on with the other calls.
  const isLast = /\/(rotate-key|revoke-key|retire)$/.test(spec.path)
  const { agentId, key } = (isLast ? spares : agents)[environment]
  const params: Record<string, string> = {
    agent_id: agentId,
    user_id: forecasterId(0),
    question_id: QUESTION.open,
    entity_type: 'agent',
    entity_id: agentId,
    tile: '0/000',
  }
  const path =
    MOUNTS[environment] + spec.path.replace(/\{\+?(\w+)\}/g, (_part, name: string) => params[name] ?? name)
  const headers: [string, string][] = [['Host', 'localhost']]
  if (spec.key === 'agent') headers.push(['Authorization', `Bearer ${key}`])
  if (spec.key === 'optional') headers.push(['X-API-Key', key])
  if (spec.idempotent) headers.push(['Idempotency-Key', UNIQUE])
  if (spec.method === 'POST') headers.push(['Content-Type', 'application/json'])
  return { method: spec.method, path, headers, body: spec.method === 'POST' ? BODIES[spec.path] : undefined }
}

/** Headers that say who calls, which call it is or how to read it: two of them contradict each other. */
function contradicts(spec: Route, { headers, body }: HostileRequest): boolean {
  const count = (wanted: string) => headers.filter(([name]) => name.toLowerCase() === wanted).length
  return (
    count('host') > 1 ||
    (body.length > 0 && count('content-type') > 1) ||
    (spec.key === 'agent' && count('authorization') > 1) ||
    (spec.key === 'optional' && count('x-api-key') > 1) ||
    (spec.idempotent === true && count('idempotency-key') > 1)
  )
}

const secretsSent = () =>
  ENVIRONMENTS.flatMap((environment) => [agents[environment].key, spares[environment].key])
const secretParts = () => secretsSent().map((key) => key.slice(-38))

const { 'Content-Security-Policy': _policy, ...OTHER_SECURITY_HEADERS } = SECURITY_HEADERS

/** What is told to nobody: where the code stands, how it failed, and what it keeps to itself. */
const INTERNAL =
  /\bat \/|\bat [\w.]+ \(|\.ts:|node:internal|Error:|node_modules|key of the store|registry\/|idempotency\//

function expectGoodForm({ status, headers, body }: RawAnswer, isHead: boolean): void {
  // A tunnel and a coding of the body that there is not.
  if (status !== 501) expect(status).toBeLessThan(500)
  expect(headers).toMatchObject(lowerCase(OTHER_SECURITY_HEADERS))
  // The page of the documentation has one that is wider by its own files.
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/)
  expect(headers).not.toHaveProperty('x-powered-by')
  expect(headers).not.toHaveProperty('server')
  expect(headers).not.toHaveProperty('x-injected')
  for (const secret of [SECRET, SANDBOX_SECRET, folder]) expect(body.includes(secret)).toBe(false)
  // What is no request at all is refused before it gets an id.
  const unread = headers['x-request-id'] === undefined
  if (unread) expect([400, 408, 413, 431, 501]).toContain(status)
  if (unread) expect(headers['connection']).toBe('close')
  if (status < 400) return
  expect(headers['content-type']).toBe('application/problem+json')
  expect(headers['cache-control']).toBe('no-store')
  if (isHead && body.length === 0) return
  const text = body.toString()
  const problem = JSON.parse(text) as { status: number; detail: string }
  expect(faultsOf('problem', problem)).toEqual([])
  expect(problem.status).toBe(status)
  expect(text).not.toMatch(INTERNAL)
  expect(text).not.toContain(process.cwd())
  expect(text).not.toContain(tmpdir())
}

const lowerCase = (headers: object) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value as string]))

/** The form of a path that the service makes: nothing that it was sent is in it, but for ids and keys in hex. */
const PLACE = /^(?!.*(?:\.\.|\/\/))[a-z-]+(?:\/[\w.=-]*)+$|^simulation\.json$/

const writes = () => stores.production.writes + stores.sandbox.writes

/** Every one of a request's answers is counted. */
async function ask(sent: Buffer, options: { hangsUp: boolean; isHead: boolean }): Promise<RawAnswer[]> {
  const before = writes()
  const answers = await exchange(service.url, sent, options)
  for (const answer of answers) {
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    expectGoodForm(answer, options.isHead)
  }
  const refused = answers.every(({ status }) => status >= 400)
  if (refused && !options.hangsUp) expect(writes()).toBe(before)
  // Whatever a call names, it reaches only paths that the service would make.
  const elsewhere = [...stores.production.calls, ...stores.sandbox.calls].filter(
    ({ path }) => !PLACE.test(path),
  )
  expect(elsewhere).toEqual([])
  stores.production.calls.length = 0
  stores.sandbox.calls.length = 0
  return answers
}

async function expectServing(): Promise<void> {
  const { agentId, key } = agents.production
  const path = `/agents/${agentId}/forecast`
  const forecast = { question_id: QUESTION.open, probability: 0.5 }
  expect((await client.post(path, forecast, { Authorization: `Bearer ${key}` })).status).toBe(200)
  expect((await client.get(`/agents/${agentId}/verification`, { 'X-API-Key': key })).status).toBe(200)
}

function expectNothingLogged(): void {
  expect(logged.length).toBeGreaterThan(0)
  const text = logged.join('')
  for (const secret of [...secretParts(), SECRET, SANDBOX_SECRET]) expect(text).not.toContain(secret)
  expect(text).not.toMatch(/"level":(50|60)/)
  logged.length = 0
}

describe.for(ENVIRONMENTS)('in %s', (environment) => {
  const calls = ROUTES.filter(({ path }) => !LARGE.has(path)).map((spec, index): [string, Route, number] => [
    `${spec.method} ${spec.path}`,
    spec,
    SEED + index,
  ])

  test.for(calls)('%s is never failed by what it is sent', async ([, spec, seed]) => {
    const good = goodRequest(spec, environment)
    const property = fc.asyncProperty(hostileRequests(good, secretsSent()), async (made) => {
      const id = uuidv7()
      const headers = made.headers.map(([name, value]) => [name, value === UNIQUE ? id : value] as const)
      const { method, target, hangsUp, mustFail } = made
      const answers = await ask(bytesOf({ ...made, headers }), { hangsUp, isHead: method === 'HEAD' })
      if (!hangsUp) expect(answers.length).toBeGreaterThan(0)
      const [first] = answers
      if (first === undefined || first.status >= 300 || target !== good.path || method !== spec.method) return
      expect(contradicts(spec, made)).toBe(false)
      if (method === 'POST') expect(mustFail).toBeUndefined()
    })
    await fc.assert(property, { numRuns: RUNS, seed, endOnFailure: true })
    await expectServing()
    expectNothingLogged()
  })
})

test('bytes that are no HTTP are refused or left alone', async () => {
  const start = fc.constantFrom(
    '',
    'GET ',
    'GET / HTTP/1.1\r\n',
    'POST /agents/register HTTP/1.1\r\nHost: x\r\n',
    '\r\n\r\n',
  )
  const noise = fc.tuple(start, fc.uint8Array({ maxLength: 400 }))
  const property = fc.asyncProperty(noise, async ([text, bytes]) => {
    await ask(Buffer.concat([Buffer.from(text), bytes]), { hangsUp: true, isHead: false })
  })
  await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: true })
  await expectServing()
})
