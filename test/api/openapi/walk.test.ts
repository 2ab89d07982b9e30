// Walks the OpenAPI document: every status of every call is provoked over HTTP and held against what is
// written of it. A status that nothing provokes fails, and so does an answer that the document does not know.
// @module-tag slow
import { describe, expect, onTestFinished } from 'vitest'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { type AppComponents, createListener } from '../../../api/http/app.ts'
import type { ApiContext } from '../../../api/http/context.ts'
import { Metrics } from '../../../api/http/metrics.ts'
import { ownerClaimsIn } from '../../../pipeline/access/owner-claims.ts'
import { ownerClaimPath } from '../../../pipeline/store/paths.ts'
import { openApiDocument } from '../../../api/openapi/document.ts'
import { readiness } from '../../../api/openapi/examples.ts'
import type { Route } from '../../../api/http/route.ts'
import { allRoutes } from '../../../api/routes/all.ts'
import { startServer } from '../../../api/http/server.ts'
import type { SigningKey } from '../../../pipeline/proof/note-keys.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { sha256Hex } from '../../../pipeline/proof/canonical.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import {
  ApiDocument,
  type Document,
  type Operation,
  expectDocumented,
} from '../../support/http/api-document.ts'
import { type Request, exampleOf, send } from '../../support/http/example-request.ts'
import {
  CLOSED_QUESTION_ID,
  EXAMPLE_CLAIM,
  type ExampleKeys,
  releaseExamples,
} from '../../support/worlds/example-world.ts'
import { QUESTION_ID } from '../../../api/openapi/examples.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { suiteFolder } from '../../support/folder.ts'
import { test } from '../../support/http/fixtures.ts'
import {
  type Answer,
  Client,
  Clock,
  type TestService,
  bearer,
  startTestService,
  testComponents,
} from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { NOW, QUESTION, uuidOf } from '../../support/worlds/world.ts'
import { LOG_KEY } from '../../support/worlds/written-log.ts'

const routes = allRoutes({
  version: '1.0.0',
  methodology: METHODOLOGY,
  methodologyText: new TextEncoder().encode('# Methodology\n'),
})
const api = new ApiDocument(JSON.parse(JSON.stringify(openApiDocument(routes, '1.0.0'))) as Document)
const folder = await suiteFolder()
const clock = new Clock(NOW)

let released: MemoryStore
let keys: ExampleKeys
let service: TestService
test.beforeAll(async ({ serve }) => {
  released = new MemoryStore()
  keys = await releaseExamples(await testComponents({ store: released, folder, clock }))
  const components = await testComponents({ store: copyOf(released), folder, clock })
  service = await serve({ ...components, signers: [LOG_KEY] })
})

type Provoke = (request: Request, operation: Operation) => Promise<Answer>

/** A service of a test's own over the released world. */
async function another(
  options: { settings?: Record<string, string>; store?: FaultStore; signers?: SigningKey[] } = {},
) {
  const store = options.store ?? copyOf(released)
  const settings = { REFRESH_MS: '60000', ...options.settings }
  const components = await testComponents({ store, folder, clock, settings })
  const running = await startTestService({ ...components, signers: options.signers ?? [LOG_KEY] })
  onTestFinished(running.stop)
  return running.client
}

const ONE_OF_EACH = {
  REGISTRATIONS_PER_HOUR: '1',
  FORECASTS_PER_MINUTE: '1',
  FORECASTS_BURST: '1',
  OPERATOR_CALLS_PER_MINUTE: '1',
  ANONYMOUS_PER_MINUTE: '1',
  READS_PER_MINUTE: '1',
  OTHER_CALLS_PER_MINUTE: '1',
}

/** The real application over routes and components of a test's own. */
async function served(specs: Route[], accepting: boolean): Promise<Client> {
  const { logger, newRequestId } = await testComponents({ folder, clock, store: new MemoryStore() })
  const components: AppComponents = {
    routes: specs,
    logger,
    metrics: new Metrics(),
    newRequestId,
    networksOf: () => [{ name: '192.0.2.1', times: 1 }],
    accepting: () => accepting,
    monotonicMs: () => performance.now(),
  }
  const context = {
    accepting: () => accepting,
    catchUp: () => Promise.resolve(),
    questionsRead: () => Promise.resolve(true),
    limits: { admit: () => Promise.resolve({ admitted: true, takeBack: () => Promise.resolve() }) },
    health: { checks: readiness.checks, clock: readiness.checks.clock },
    current: { now: {} },
  } as unknown as ApiContext
  const settings = {
    host: '127.0.0.1',
    port: 0,
    sharePort: false,
    requestTimeoutMs: 10_000,
    idleTimeoutMs: 10_000,
    maxConnections: 100,
    maxConnectionsOfAddress: 100,
  }
  const server = await startServer(createListener({ production: context }, components), settings, () => [])
  onTestFinished(() => server.close(0))
  return new Client(server.url)
}

/** What provokes a status, whatever call it is of. */
const PROVOKE: Record<string, Provoke> = {
  200: (request) => send(service.client, request),
  201: (request) => send(service.client, request),
  304: async (request) => {
    const { headers } = await send(service.client, request)
    // As `fetch` sends it, which asks no cache with a condition.
    const condition = { 'If-None-Match': headers.etag!, 'Cache-Control': 'no-cache' }
    const answer = await send(service.client, { ...request, headers: { ...request.headers, ...condition } })
    expect(answer.bytes).toHaveLength(0)
    for (const name of ['etag', 'cache-control', 'vary', 'x-service-signature'])
      expect(answer.headers[name], name).toBe(headers[name])
    return answer
  },
  400: (request) => send(service.client, { ...request, body: '{"a' }),
  401: (request, { security }) => {
    const { Authorization: _key, ...others } = request.headers
    const needed =
      security.length > 0 && security.every((scheme) => 'agent' in scheme || 'operator' in scheme)
    return send(service.client, {
      ...request,
      headers: needed ? others : { ...others, 'X-API-Key': 'wrong' },
    })
  },
  403: async (request, { operationId, security }) => {
    if (security.some((scheme) => 'operator' in scheme)) {
      const other = operationId === 'putAgent' ? 'people' : 'agents'
      const { registry } = service.components
      const key = await registry.createOperatorKey('another', clock.now(), [other])
      return send(service.client, { ...request, headers: { ...request.headers, ...bearer(key) } })
    }
    return send(service.client, {
      ...request,
      path: request.path.replace(/^(\/agents)\/[^/]+/, `$1/${uuidOf(9, 9)}`),
    })
  },
  404: (request, operation) => {
    if (operation.method === 'POST') {
      return send(service.client, { ...request, body: { question_id: uuidOf(9, 9), probability: 0.5 } })
    }
    const path = request.path.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, uuidOf(9, 9))
    return send(service.client, { ...request, path })
  },
  405: ({ path }) => {
    const method = path.startsWith('/operator') ? 'PATCH' : 'PUT'
    return send(service.client, { method, path, query: {}, headers: {} })
  },
  409: (request) =>
    send(service.client, { ...request, body: { question_id: QUESTION.closed, probability: 0.5 } }),
  413: (request) =>
    send(service.client, {
      ...request,
      body: ' '.repeat(request.path.startsWith('/operator') ? 4_200_000 : 70_000),
    }),
  415: (request) =>
    send(service.client, { ...request, headers: { ...request.headers, 'Content-Type': 'text/plain' } }),
  422: (request) => send(service.client, { ...request, query: { ...request.query, colour: 'red' } }),
  429: async (request) => {
    const client = await another({ settings: ONE_OF_EACH })
    const { 'X-API-Key': _key, ...headers } = request.headers
    await send(client, { ...request, headers })
    return send(client, { ...request, headers })
  },
  // A defect in the call itself: what it is given is as ever.
  500: async (request, { method, path }) => {
    const found = routes.find((spec) => spec.method === method && spec.path === path)!
    const failing: Route = {
      ...found,
      limit: 'other',
      key: 'none',
      handle: () => Promise.reject(new Error('a defect')),
    }
    return send(await served([failing], true), request)
  },
  503: async (request) => {
    let down = false
    const store = new FaultStore(copyOf(released), {
      before: ({ operation, path }) => {
        if (down) throw new ServiceError('unavailable', `the store did not ${operation} ${path}`)
      },
    })
    const client = await another({ store })
    down = true
    const body = (request.body ?? {}) as { question_id?: string }
    const isKnown = /^\/questions|forecast$/.test(request.path) && body.question_id === undefined
    if (request.path.includes('/events/')) return send(client, ofNoEvent(request))
    return send(client, isKnown ? { ...request, path: `/questions/${uuidOf(9, 9)}` } : request)
  },
}

/** The same call of an event that nobody knows. */
const ofNoEvent = (request: Request): Request => ({
  ...request,
  path: request.path.replace(/\/events\/[^/]+/, '/events/nothing'),
})

/** Sent twice at once with the same key: what the second is told while the first is being written. */
/** With a service of its own, whose agent cannot go on afterwards. */
async function alone(request: Request): Promise<Answer> {
  return send(await another({ store: new FaultStore(copyOf(released)) }), request)
}

/** With a service whose agent claims no owner. */
async function unclaimed(request: Request): Promise<Answer> {
  const store = new FaultStore(copyOf(released))
  await store.delete(ownerClaimPath(EXAMPLE_CLAIM.agent_id))
  return send(await another({ store }), request)
}

async function underWay(request: Request): Promise<Answer> {
  let writing = () => {}
  let finish = () => {}
  const begun = new Promise<void>((resolve) => (writing = resolve))
  const held = new Promise<void>((resolve) => (finish = resolve))
  const store = new FaultStore(copyOf(released), {
    before: ({ operation, path }) => {
      if (operation !== 'putIfAbsent' || !path.startsWith('inbox/')) return undefined
      writing()
      return held
    },
  })
  const client = await another({ store })
  const headers = { ...request.headers, 'Idempotency-Key': uuidOf(7, 7) }
  const first = send(client, { ...request, headers })
  await begun
  const second = await send(client, { ...request, headers })
  finish()
  await first
  return second
}

/** What needs something else. */
const PROVOKE_OF: Record<string, Provoke> = {
  'getDataIndex 404': async (request) => send(await another({ settings: { PUBLIC_DATA: 'none' } }), request),
  // The other calls need the question open and the agent as they are.
  'putQuestions 200': alone,
  'putResolutions 200': alone,
  'putEventOutcome 200': alone,
  'putEventOutcome 404': (request) => send(service.client, ofNoEvent(request)),
  'getEvent 404': (request) => send(service.client, ofNoEvent(request)),
  'submitEventForecast 404': (request) => send(service.client, ofNoEvent(request)),
  'submitEventForecast 409': (request) =>
    send(service.client, {
      ...request,
      body: { probabilities: { [QUESTION_ID]: 0.5, [CLOSED_QUESTION_ID]: 0.5 } },
    }),
  'putAgent 200': alone,
  'registerAgent 403': async (request) =>
    send(await another({ settings: { REGISTRATION: 'invited' } }), request),
  'registerAgent 409': underWay,
  'rotateAgentKey 200': alone,
  'rotateAgentKey 409': async (request) => {
    const client = await another({ store: new FaultStore(copyOf(released)) })
    const once = (number: number) =>
      send(client, { ...request, headers: { ...request.headers, 'Idempotency-Key': uuidOf(7, number) } })
    await once(20)
    return once(21)
  },
  'revokeAgentKey 200': alone,
  'revokeAgentKey 409': async (request) => {
    const client = await another({ store: new FaultStore(copyOf(released)) })
    await send(client, { ...request, path: request.path.replace('revoke', 'rotate') })
    return send(client, request)
  },
  'revokeAgentKey 429': async (request) => {
    const client = await another({ settings: ONE_OF_EACH })
    await send(client, { ...request, path: request.path.replace('revoke-key', 'retire') })
    return send(client, request)
  },
  'claimOwner 409': async (request) => {
    const store = new FaultStore(copyOf(released))
    const proved = { ...EXAMPLE_CLAIM, domain: 'other.example', proved_at: NOW }
    await ownerClaimsIn(store).replace(proved.agent_id, proved)
    return send(await another({ store }), request)
  },
  'getOwnerClaim 404': unclaimed,
  'giveUpOwner 200': alone,
  'giveUpOwner 404': unclaimed,
  'retireAgent 200': alone,
  'renameAgent 200': alone,
  'renameAgent 409': async (request) => {
    const client = await another({ store: new FaultStore(copyOf(released)) })
    for (let nth = 0; nth < 5; nth++) await send(client, request)
    return send(client, request)
  },
  'unretireAgent 409': async (request) => {
    const store = new FaultStore(copyOf(released))
    const agentId = request.path.split('/')[2]!
    await (await testComponents({ store, folder, clock })).registry.noteRetired(agentId, clock.now())
    return send(await another({ store }), request)
  },
  'getUsage 429': async (request) => {
    const client = await another({ settings: { READS_PER_MINUTE: '1' } })
    await send(client, request)
    return send(client, request)
  },
  'submitForecasts 409': underWay,
  'withdrawForecast 200': async (request) => {
    const client = await another({ store: new FaultStore(copyOf(released)) })
    const [, , agentId, , question_id] = request.path.split('/')
    const headers = { ...request.headers, 'Content-Type': 'application/json' }
    const body = { question_id, probability: 0.5 }
    await client.post(`/agents/${agentId}/forecast`, body, headers)
    return send(client, request)
  },
  'withdrawForecast 404': (request) =>
    send(service.client, { ...request, path: request.path.replace(/[^/]+$/, uuidOf(9, 9)) }),
  'withdrawForecast 409': (request) =>
    send(service.client, { ...request, path: request.path.replace(/[^/]+$/, QUESTION.closed) }),
  'listCurrentForecasts 429': async (request) => {
    const client = await another({ settings: { READS_PER_MINUTE: '1' } })
    await send(client, { ...request, path: '/questions', query: {}, headers: {} })
    return send(client, request)
  },
  'listQuestions 503': async (request) => {
    const store = new FaultStore(copyOf(released), {
      before: ({ path }) => {
        if (path.startsWith('tables/questions/')) throw new ServiceError('unavailable', `there is no ${path}`)
      },
    })
    return send(await another({ store }), request)
  },
  'listCurrentForecasts 503': async (request) => {
    const store = new FaultStore(copyOf(released), {
      before: ({ path }) => {
        if (path.startsWith('tables/forecasts/')) throw new ServiceError('unavailable', `there is no ${path}`)
      },
    })
    return send(await another({ store }), request)
  },
  // They differ from one answer to the next.
  'getMeasurements 304': (request) => send(service.client, { ...request, headers: { 'If-None-Match': '*' } }),
  'getCurrentRelease 404': async (request) =>
    send(await another({ store: new FaultStore(new MemoryStore()) }), request),
  'getJsonSchema 404': (request) => send(service.client, { ...request, path: '/schemas/nothing' }),
  'getProblemType 404': (request) => send(service.client, { ...request, path: '/problems/nothing' }),
  'listLeaderboard 404': async (request) =>
    send(await another({ store: new FaultStore(new MemoryStore()) }), request),
  'getReleaseFeed 404': async (request) =>
    send(await another({ store: new FaultStore(new MemoryStore()) }), request),
  'compareTwo 404': (request) =>
    send(service.client, { ...request, query: { ...request.query, b: uuidOf(9, 9) } }),
  'getOwner 404': (request) => send(service.client, { ...request, path: '/owners/nobody' }),
  'getRelease 404': (request) => send(service.client, { ...request, path: '/releases/2' }),
  'getLogCheckpoint 404': async (request) =>
    send(await another({ store: new FaultStore(new MemoryStore()) }), request),
  'getCredentialStatusList 404': (request) =>
    send(service.client, { ...request, path: '/credentials/status/7' }),
  'getCredentialIssuer 404': async (request) =>
    send(await another({ store: new FaultStore(new MemoryStore()) }), request),
  'getCredentialIssuerInFolder 404': async (request) =>
    send(await another({ store: new FaultStore(new MemoryStore()) }), request),
  'getLogKeys 404': async (request) => send(await another({ signers: [] }), request),
  'getReadiness 503': async (request) => {
    const ready = routes.filter(({ path }) => path === request.path)
    return send(await served(ready, false), request)
  },
}

describe.for(api.operations.map((operation) => [operation.operationId, operation] as const))(
  '%s',
  ([id, operation]) => {
    test.for(Object.keys(operation.responses))('answers %s as the document says', async (status) => {
      const provoke = PROVOKE_OF[`${id} ${status}`] ?? PROVOKE[status]
      if (!provoke) throw new Error(`nothing provokes ${status} of ${id}`)
      const answer = await provoke(exampleOf(operation, keys), operation)
      expect(answer.status, answer.text).toBe(Number(status))
      expectDocumented(api, operation, answer)
      if (operation.method === 'GET' && status === '200') await expectTag(exampleOf(operation, keys), answer)
    })
  },
)

/** A GET has a strong tag of its bytes, and HEAD the same. */
async function expectTag(request: Request, { headers, bytes }: Answer): Promise<void> {
  // A table is sent while it is made: its tag is of what it is made from.
  if (request.path.endsWith('.csv')) expect(headers.etag).toMatch(/^"[0-9a-f]{64}"$/)
  else expect(headers.etag).toBe(`"${sha256Hex(bytes)}"`)
  const head = await send(service.client, { ...request, method: 'HEAD' })
  expect(head.bytes).toHaveLength(0)
  // Measurements change with every answer.
  if (request.path !== '/metrics') expect(head.headers.etag).toBe(headers.etag)
}

describe('what a status may mean besides is answered as the document says:', () => {
  const withKey = (request: Request): Request => ({
    ...request,
    headers: { ...request.headers, 'Idempotency-Key': uuidOf(7, 8) },
  })

  test.for<[string, string, number, Provoke, RegExp]>([
    [
      'a forecast that is being written',
      'submitForecast',
      409,
      underWay,
      /still under way.*request-in-progress/s,
    ],
    [
      'an Idempotency-Key of another request',
      'submitForecast',
      422,
      async (request) => {
        await send(service.client, withKey(request))
        const body = { question_id: QUESTION.open, probability: 0.25 }
        return send(service.client, withKey({ ...request, body }))
      },
      /used for another request/,
    ],
    [
      'an Idempotency-Key that can be guessed',
      'registerAgent',
      422,
      (request) =>
        send(service.client, { ...request, headers: { ...request.headers, 'Idempotency-Key': 'mine' } }),
      /at least 20 characters/,
    ],
    [
      'a month that is used up',
      'getAgentVerification',
      429,
      async (request) => {
        const client = await another({ settings: { FREE_MONTHLY_CALLS: '1' } })
        const keyed = { ...request, headers: { 'X-API-Key': keys.agent } }
        await send(client, keyed)
        return send(client, keyed)
      },
      /"violated-policies":\["monthly-calls"\]/,
    ],
    [
      'a month that is used up without a key',
      'getAgentVerification',
      429,
      async ({ path }) => {
        const client = await another({ settings: { ANONYMOUS_PER_MONTH: '1' } })
        await client.get(path)
        return client.get(path)
      },
      /"violated-policies":\["monthly-calls-by-address"\]/,
    ],
    [
      'too many failures',
      'listQuestions',
      429,
      async ({ path }) => {
        const client = await another({ settings: { ATTEMPTS_PER_MINUTE: '1' } })
        await client.get(`${path}?colour=red`)
        return client.get(path)
      },
      /"violated-policies":\["attempts"\]/,
    ],
    [
      'a key of production in the sandbox',
      'getAgentVerification',
      401,
      (request) => send(service.client, { ...request, path: `/sandbox${request.path}` }),
      /fv_live_/,
    ],
    [
      'a parameter that is given twice',
      'listQuestions',
      422,
      ({ path }) => service.client.get(`${path}?limit=1&limit=2`),
      /limit is given more than once/,
    ],
    [
      'an id that is none',
      'getQuestion',
      422,
      () => service.client.get('/questions/first'),
      /must be a UUID/,
    ],
  ])('%s', async ([, id, status, provoke, text]) => {
    const operation = api.operations.find(({ operationId }) => operationId === id)!
    const answer = await provoke(exampleOf(operation, keys), operation)
    expect(answer.status, answer.text).toBe(status)
    expect(answer.text).toMatch(text)
    expectDocumented(api, operation, answer)
  })
})

describe('the walk would notice', () => {
  const question = api.operations.find(({ operationId }) => operationId === 'getQuestion')!
  const asked = () => send(service.client, exampleOf(question, keys))

  test('a field, a header, a status and a type that are not in the document', async () => {
    const answer = await asked()
    const changed = (change: Partial<Answer>): Answer => ({ ...answer, ...change })
    expectDocumented(api, question, answer)
    const fault = (change: Partial<Answer>) => () => {
      expectDocumented(api, question, changed(change))
    }
    expect(fault({ status: 202 })).toThrow(/202/)
    expect(fault({ json: <T>() => ({ ...answer.json(), colour: 'red' }) as T })).toThrow(
      /additional properties/,
    )
    expect(fault({ headers: { ...answer.headers, 'x-colour': 'red' } })).toThrow(/x-colour/)
    expect(fault({ headers: { ...answer.headers, 'content-type': 'text/plain' } })).toThrow(/text\/plain/)
    const { 'x-request-id': _id, ...unnamed } = answer.headers
    expect(fault({ headers: unnamed })).toThrow(/X-Request-Id is missing/)
  })
})
