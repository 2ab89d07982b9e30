// What holds for every call: paths, methods, bodies, other origins, and failures that are not the caller's.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sha256Hex } from '../../../pipeline/proof/canonical.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { errorLog } from '../../support/http/error-log.ts'
import { suiteFolder, testFolder } from '../../support/folder.ts'
import { expectProblem, pointersOf } from '../../support/http/problem.ts'
import {
  type Answer,
  type TestService,
  bearer,
  registerAgent,
  startTestService,
  testComponents,
  testService,
} from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { QUESTION, forecasterId, copyReleasedWorld, uuidOf } from '../../support/worlds/world.ts'

let service: TestService
/** The released world, for tests to copy. */
let released: MemoryStore
const folder = await suiteFolder()
beforeAll(async () => {
  released = new MemoryStore()
  await copyReleasedWorld(released)
  service = await startTestService({ folder })
})
afterAll(() => service.stop())

const JSON_TYPE = { 'Content-Type': 'application/json' }
const AGENT = { name: 'a', model_type: 'm' }
const register = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  service.client.post('/agents/register', body, headers)

describe('an unknown path is answered 404', () => {
  test.for([
    '/view',
    '/agents',
    '/agents/register/',
    '/Agents/register',
    '/agents//verification',
    '/questions/a/b',
    '/favicon.png',
    '/../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/agents/register/%2e%2e%2fregister',
    `/agents/a/${'a'.repeat(4000)}`,
  ])('%s', async (path) => {
    expectProblem(await service.client.get(path), 404, /there is no path/)
    expectProblem(await service.client.post(path, AGENT), 404, /there is no path/)
  })

  test('a path that is no text in UTF-8 is an id that is none', async () => {
    expect((await service.client.get('/agents/%ff%fe/verification')).status).toBe(422)
    expect((await service.client.get('/questions/%')).status).toBe(422)
  })
})

describe('a wrong method is answered 405 with Allow', () => {
  test.for([
    ['DELETE', '/verification/bulk', 'POST'],
    ['GET', '/verification/bulk', 'POST'],
    ['HEAD', '/verification/bulk', 'POST'],
    ['PUT', `/agents/${uuidOf(1, 1)}/forecast`, 'POST'],
    ['GET', '/verification/bulk', 'POST'],
    ['POST', '/questions', 'HEAD, GET'],
    ['PATCH', `/questions/${uuidOf(1, 1)}`, 'HEAD, GET'],
    ['POST', '/livez', 'HEAD, GET'],
    ['TRACE', '/livez', 'HEAD, GET'],
    ['PROPFIND', '/livez', 'HEAD, GET'],
  ] as const)('%s %s', async ([method, path, allow]) => {
    const answer = await service.client.send(method, path)
    expect(answer.status).toBe(405)
    expect(answer.headers.allow).toBe(allow)
    if (method !== 'HEAD') expectProblem(answer, 405, new RegExp(`takes only ${allow}`))
  })

  test('a path that there is not has no method either', async () => {
    expectProblem(await service.client.send('DELETE', '/nowhere'), 404, /there is no path/)
    const answer = await service.client.send('PROPFIND', '/nowhere')
    expectProblem(answer, 404, /there is no path/)
    expect(answer.headers).not.toHaveProperty('allow')
  })
})

describe('a query', () => {
  test('of more parameters than any call knows is refused by their number', async () => {
    const parameters = (count: number) => Array.from({ length: count }, (_, index) => `p${index}=1`).join('&')
    expect(pointersOf(await service.client.get(`/questions?${parameters(20)}`))).toHaveLength(20)
    const tooMany = await service.client.get(`/questions?${parameters(21)}`)
    expectProblem(tooMany, 422, /^the query has more than 20 parameters$/)
    expect(tooMany.json()).not.toHaveProperty('errors')
  })
})

describe('a body', () => {
  test.for([
    ['none', {}],
    ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['text', { 'Content-Type': 'text/plain' }],
    ['something like JSON', { 'Content-Type': 'application/json-seq' }],
    ['JSON in another charset', { 'Content-Type': 'application/json; charset=latin1' }],
    ['no type', { 'Content-Type': 'json' }],
  ] as const)('with the content type of %s is answered 415', async ([, headers]) => {
    const answer = await service.client.send('POST', '/agents/register', {
      body: JSON.stringify(AGENT),
      headers,
    })
    expectProblem(answer, 415, /must be application\/json/)
  })

  test.for([
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
  ])('of type %s is read', async (type) => {
    expect((await register(AGENT, { 'Content-Type': type })).status).toBe(201)
  })

  test('with a content coding is answered 415, with identity it is read', async () => {
    expectProblem(await register(AGENT, { 'Content-Encoding': 'gzip' }), 415, /content coding/)
    expect((await register(AGENT, { 'Content-Encoding': 'identity' })).status).toBe(201)
  })

  test.for([
    ['nothing', ''],
    ['white space', '  \n'],
    ['half an object', '{"name":"a"'],
    ['two objects', '{}{}'],
    ['a comma too many', '{"name":"a",}'],
    ['single quotes', "{'name':'a'}"],
    ['a comment', '{} // all'],
    ['bytes that are not UTF-8', Buffer.from('{"name":"\xff","model_type":"m"}', 'latin1')],
    [
      'half a character at the end',
      Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xf0, 0x9f, 0xa6])]),
    ],
    ['UTF-16', Buffer.from('{"name":"a","model_type":"m"}', 'utf16le')],
    ['a hundred levels without an end', '['.repeat(100)],
  ] as const)('of %s is answered 400', async ([, body]) => {
    expectProblem(await register(body), 400, /not JSON: at line 1|not text in UTF-8|is empty/)
  })

  test('of levels that no body has is answered 400 without a place', async () => {
    expectProblem(await register('['.repeat(60_000)), 400, /^the body is not JSON$/)
  })

  test.for([
    ['a text', '"a"'],
    ['a number', '1'],
    ['a list', '[{}]'],
    ['deep nesting', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ] as const)('that is JSON and not an object, as %s, is answered 422', async ([, body]) => {
    expect(pointersOf(await register(body))).toEqual([''])
  })

  // 64 KiB, with a field name that makes 422 of what is read.
  const bodyOf = (bytes: number) => `{"x":"${'a'.repeat(bytes - 8)}"}`

  test('of 64 KiB is read and of one byte more answered 413, declared or in chunks', async () => {
    expect(Buffer.byteLength(bodyOf(65_536))).toBe(65_536)
    expect((await register(bodyOf(65_536))).status).toBe(422)
    expectProblem(await register(bodyOf(65_537)), 413, /more than 65536 bytes/)
    const chunked = { 'Transfer-Encoding': 'chunked' }
    expect((await register(bodyOf(65_536), chunked)).status).toBe(422)
    expectProblem(await register(bodyOf(65_537), chunked), 413, /more than 65536 bytes/)
  })

  test('is not waited for where its type or its key is wrong', async () => {
    const path = `/agents/${uuidOf(1, 1)}/forecast`
    const answer = await service.client.post(path, bodyOf(65_537))
    expectProblem(answer, 401, /no API key/)
    expect(answer.headers.connection).toBe('close')
  })

  test('of a GET is left alone', async () => {
    const answer = await service.client.send('GET', '/livez', {
      body: 'not JSON',
      headers: { ...JSON_TYPE, 'Content-Length': '8' },
    })
    expect(answer.status).toBe(200)
  })
})

describe('a page of another origin', () => {
  const origin = { Origin: 'https://example.org' }

  test.for([
    ['200', '/livez', {}, 200],
    ['404', '/nowhere', {}, 404],
    ['404 of an entity', `/forecaster/${uuidOf(9, 9)}/verification`, {}, 404],
    ['405', '/verification/bulk', {}, 405],
    ['422', '/questions?limit=0', {}, 422],
    ['401', `/forecaster/${uuidOf(9, 9)}/verification`, { 'X-API-Key': 'x' }, 401],
  ] as const)('may read a GET that is answered %s', async ([, path, headers, status]) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await service.client.send(method, path, { headers: { ...origin, ...headers } })
      expect(answer.status).toBe(status)
      expect(answer.headers['access-control-allow-origin']).toBe('*')
      expect(answer.headers['access-control-expose-headers']).toContain('X-Service-Signature')
    }
  })

  test('may send a key and a condition with a GET, after asking', async () => {
    const answer = await service.client.send('OPTIONS', `/forecaster/${uuidOf(1, 1)}/verification`, {
      headers: {
        ...origin,
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'x-api-key',
      },
    })
    expect(answer.status).toBe(204)
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': 'Authorization, X-API-Key, If-None-Match, Range, If-Range',
      'access-control-max-age': '86400',
    })
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
  })

  test.for(['/metrics', '/sandbox/metrics'])('may not read measurements: %s', async (path) => {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const headers = { ...origin, 'Access-Control-Request-Method': 'GET' }
      const answer = await service.client.send(method, path, { headers })
      expect(answer.status).toBe(200)
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
    }
  })

  test('may not POST, nor read what POST answers', async () => {
    const asked = await service.client.send('OPTIONS', '/verification/bulk', {
      headers: { ...origin, 'Access-Control-Request-Method': 'POST' },
    })
    expect(asked.status).toBe(200)
    expect(asked.headers.allow).toBe('POST')
    expect(asked.headers).not.toHaveProperty('access-control-allow-origin')
    for (const body of [AGENT, {}]) {
      expect((await register(body, origin)).headers).not.toHaveProperty('access-control-allow-origin')
    }
  })
})

describe('a request id', () => {
  test('is new for each answer, errors too', async () => {
    const ids = await Promise.all(
      ['/livez', '/livez', '/nowhere'].map(
        async (path) => (await service.client.get(path)).headers['x-request-id'],
      ),
    )
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('a store that does not answer', () => {
  async function failingService() {
    let down = false
    const store = new FaultStore(copyOf(released), {
      before: ({ operation, path }) => {
        if (!down) return
        const reason = `the store did not ${operation} ${path} (ECONNREFUSED 10.0.0.7)`
        throw new ServiceError('unavailable', reason, { retryAfterS: 5 })
      },
    })
    const running = await testService({ store })
    return { ...running, setDown: (value: boolean) => void (down = value) }
  }

  test('makes what needs it 503 with Retry-After and without its details, until it does', async () => {
    const { client, setDown } = await failingService()
    const { agentId, key } = await registerAgent(client)
    const submit = () =>
      client.post(
        `/agents/${agentId}/forecast`,
        { question_id: QUESTION.open, probability: 0.5 },
        bearer(key),
      )
    expect((await submit()).status).toBe(200)
    setDown(true)
    const answers = [
      await submit(),
      await client.post('/agents/register', AGENT),
      await client.get(`/questions/${uuidOf(9, 9)}`),
      await client.get(`/forecaster/${forecasterId(0)}/verification`),
    ]
    for (const answer of answers) {
      expectProblem(
        answer,
        503,
        /^the store did not confirm the write in time|^the store does not answer; try again$/,
      )
      expect(answer.headers['retry-after']).toBe('5')
      expect(answer.text).not.toMatch(/10\.0\.0\.7|registry|tables|releases/)
    }
    setDown(false)
    expect((await submit()).status).toBe(200)
  })

  test('is not noticed by a caller that asks for what was read before', async () => {
    const { client, setDown } = await failingService()
    const path = `/forecaster/${forecasterId(0)}/verification`
    const before = await client.get(path)
    setDown(true)
    expect((await client.get(path)).bytes).toEqual(before.bytes)
    expect((await client.get('/livez')).status).toBe(200)
    expect((await client.get('/questions')).status).toBe(200)
  })
})

describe('damaged objects', () => {
  const DAMAGED = /^what the store holds for this call is damaged; the failure was noted, try again later$/
  const isShard = (path: string) => path.startsWith('releases/00000001/forecaster/')
  const isHistory = (path: string) => /^snapshots\/[\d-]+\/forecaster\//.test(path)
  const VERIFICATION = `/forecaster/${forecasterId(0)}/verification`
  const HISTORY = `/snapshots/forecaster/${forecasterId(0)}`

  /** A copy of the world in which reads of some objects are changed. */
  class DamagedReads extends MemoryStore {
    readonly reads: string[] = []
    readonly #damage: (path: string, bytes: Uint8Array, read: number) => Uint8Array | undefined

    constructor(damage: (path: string, bytes: Uint8Array, read: number) => Uint8Array | undefined) {
      super()
      this.#damage = damage
      for (const [path, bytes] of released.objects) this.objects.set(path, bytes)
    }

    override async get(path: string): Promise<Uint8Array | undefined> {
      const bytes = await super.get(path)
      this.reads.push(path)
      const read = this.reads.filter((each) => each === path).length
      return bytes && this.#damage(path, bytes, read)
    }
  }
  const flipped = (bytes: Uint8Array) => bytes.with(100, bytes[100]! ^ 1)

  test.for([
    ['a flipped bit', flipped],
    ['a truncated body', (bytes: Uint8Array) => bytes.slice(0, 50)],
    ['no body', () => undefined],
  ] as const)('%s in one read of a shard is read once more, and no caller notices', async ([, damage]) => {
    const store = new DamagedReads((path, bytes, read) =>
      read === 1 && (isShard(path) || isHistory(path)) ? damage(bytes) : bytes,
    )
    const { client } = await testService({ store })
    for (const path of [VERIFICATION, HISTORY]) {
      const answer = await client.get(path)
      expect(answer.status, answer.text).toBe(200)
    }
    for (const wanted of [isShard, isHistory]) expect(store.reads.filter(wanted)).toHaveLength(2)
  })

  test('are answered 503 with Retry-After and without what is damaged, and counted', async () => {
    const store = new DamagedReads((path, bytes) =>
      isShard(path) || isHistory(path) ? flipped(bytes) : bytes,
    )
    const logger = errorLog()
    const components = { ...(await testComponents({ store })), logger: logger.logger }
    const { client } = await testService(components)
    const counted = async () =>
      /^fvs_corrupt_total\{environment="production"\} (\d+)$/m.exec((await client.get('/metrics')).text)?.[1]
    expect(await counted()).toBe('0')
    for (const path of [VERIFICATION, `/forecaster/${forecasterId(0)}/metrics`, HISTORY]) {
      const answer = await client.get(path)
      expectProblem(answer, 503, DAMAGED)
      expect(answer.headers['retry-after']).toBe('60')
      expect(answer.text).not.toMatch(/SHA-256|shard|releases/)
    }
    expect(await counted()).toBe('3')
    // Nothing is remembered of a failure, so each call has read the object twice.
    expect(store.reads.filter(isShard)).toHaveLength(4)
    const shard = [...released.objects.keys()].find(isShard)!
    const bytes = released.objects.get(shard)!
    expect(
      logger.lines.map((line) => (JSON.parse(line) as { err: { message: string } }).err.message),
    ).toContain(
      `${shard} must have ${bytes.length} bytes with the SHA-256 ${sha256Hex(bytes)}, as its manifest says; ` +
        `the store has ${bytes.length} bytes with the SHA-256 ${sha256Hex(flipped(bytes))}`,
    )
    expect((await client.get('/livez')).status).toBe(200)
  })

  test('such as a data file that is gone are not taken for a question that is not there', async () => {
    const store = new MemoryStore()
    const { client } = await testService({ store, settings: { REFRESH_MS: '60000' } })
    for (const [key, bytes] of released.objects) {
      if (!/^tables\/questions\/.*\.parquet$/.test(key)) store.objects.set(key, bytes)
    }
    expectProblem(await client.get(`/questions/${QUESTION.open}`), 503, DAMAGED)
    const { client: begun } = await testService({ store, folder: await testFolder() })
    expectProblem(
      await begun.get(`/questions/${QUESTION.open}`),
      503,
      /^this node has not read the questions/,
    )
    expectProblem(await begun.get('/readyz?for=forecasts'), 503, /the questions could not be read/)
  })
})
