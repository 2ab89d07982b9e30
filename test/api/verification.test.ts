// What was published of an entity: its bytes, signatures, caching, and many at once.
import { createHash, createHmac } from 'node:crypto'
import { describe, expect } from 'vitest'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import type { ReleaseShard } from '../../schemas/payloads.ts'
import type { SchemaName } from '../../schemas/json-schemas.ts'
import { suiteFolder } from '../support/folder.ts'
import { expectValid } from '../support/json-schema.ts'
import { expectProblem, pointersOf } from '../support/http/problem.ts'
import { test } from '../support/http/fixtures.ts'
import {
  type Answer,
  Clock,
  OTHER_SECRET,
  SECRET,
  type TestOptions,
  type TestService,
  bearer,
  registerAgent,
  testComponents,
  testService,
} from '../support/http/service.ts'
import { FORECASTERS, NOW, forecasterId, copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'

let service: TestService
let agent: { agentId: string; key: string }
let clientKey: string
const clock = new Clock(NOW)
const folder = await suiteFolder()

test.beforeAll(async ({ serve }) => {
  const components = await testComponents({ folder, clock })
  agent = await copyReleasedWorld(components.store)
  clientKey = await components.registry.createClientKey('a client', clock.now())
  service = await serve(components)
})

const KINDS = ['agent', 'forecaster'] as const
const CALLS = ['verification', 'metrics', 'rankings', 'advanced-metrics'] as const
const pathOf = (kind: string, call: string, id?: string) =>
  kind === 'agent' ? `/agents/${id ?? agent.agentId}/${call}` : `/forecaster/${id ?? forecasterId(0)}/${call}`
const PUBLICATIONS = KINDS.flatMap((kind) => CALLS.map((call) => [kind, call] as const))

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const hmac = (bytes: Uint8Array, secret: string) => createHmac('sha256', secret).update(bytes).digest('hex')

/** The same store served under other settings. */
function served(settings: Record<string, string>): Promise<TestService> {
  const options: TestOptions = { folder, clock, settings }
  return testService(options)
}

describe.for(PUBLICATIONS)('GET of the %s %s', ([kind, call]) => {
  test('answers 200 with a payload of its schema, in canonical JSON', async () => {
    const answer = await service.client.get(pathOf(kind, call))
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('application/json')
    const payload = answer.json()
    expectValid(`${kind}-${call}`, payload)
    expect(answer.bytes).toEqual(Buffer.from(canonical(payload)))
    expect(payload).toMatchObject({
      release: 1,
      as_of: NOW,
      environment: 'production',
      methodology_version: METHODOLOGY.version,
    })
    expect(payload[kind === 'agent' ? 'agent_id' : 'user_id']).toBe(
      kind === 'agent' ? agent.agentId : forecasterId(0),
    )
  })

  test('is signed over the exact bytes and tagged with their SHA-256', async () => {
    const { bytes, headers } = await service.client.get(pathOf(kind, call))
    expect(headers['x-service-signature']).toBe(`v1=${hmac(bytes, SECRET)}`)
    expect(headers.etag).toBe(`"${sha256(bytes)}"`)
    expect(headers['content-length']).toBe(String(bytes.length))
  })

  test('answers HEAD with the same headers and no body', async () => {
    const get = await service.client.get(pathOf(kind, call))
    const head = await service.client.send('HEAD', pathOf(kind, call))
    expect(head.status).toBe(200)
    expect(head.bytes).toHaveLength(0)
    const own = { date: '', 'x-request-id': '', ratelimit: '' }
    expect({ ...head.headers, ...own }).toEqual({ ...get.headers, ...own })
  })

  test('answers 304 to a caller that has the entity tag, with the tag and no body', async () => {
    const { headers } = await service.client.get(pathOf(kind, call))
    const etag = headers.etag!
    for (const condition of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const asked = { 'If-None-Match': condition, 'Cache-Control': 'no-cache' }
      const answer = await service.client.get(pathOf(kind, call), asked)
      expect(answer.status, condition).toBe(304)
      expect(answer.bytes).toHaveLength(0)
      expect(answer.headers.etag).toBe(etag)
      expect(answer.headers['cache-control']).toBe('public, max-age=60')
      expect(answer.headers['access-control-allow-origin']).toBe('*')
      expect(answer.headers['content-type']).toBeUndefined()
    }
    const head = await service.client.send('HEAD', pathOf(kind, call), { headers: { 'If-None-Match': etag } })
    expect(head.status).toBe(304)
    const other = await service.client.get(pathOf(kind, call), { 'If-None-Match': '"other"' })
    expect(other.status).toBe(200)
  })

  test('takes the id in upper case and answers in lower case', async () => {
    const id = kind === 'agent' ? agent.agentId : forecasterId(0)
    const upper = await service.client.get(pathOf(kind, call, id.toUpperCase()))
    expect(upper.bytes).toEqual((await service.client.get(pathOf(kind, call, id))).bytes)
  })

  test('answers 404 to an id that nobody has and 422 to what is no id', async () => {
    expectProblem(await service.client.get(pathOf(kind, call, uuidOf(9, 9))), 404, new RegExp(uuidOf(9, 9)))
    const pointer = kind === 'agent' ? '/agent_id' : '/user_id'
    expect(pointersOf(await service.client.get(pathOf(kind, call, 'somebody')))).toEqual([pointer])
  })

  test('answers 422 to a query that it does not have', async () => {
    expect(pointersOf(await service.client.get(`${pathOf(kind, call)}?verbose=1`))).toEqual(['/verbose'])
  })
})

/** The schemas of files by their folders, those of entities aside. */
const FILES: [folder: string, name: SchemaName][] = [
  ['/leaderboard/', 'leaderboard-file'],
  ['/method/', 'method-file'],
  ['/row-groups/', 'row-groups-file'],
  ['/questions/', 'questions-file'],
  ['/references/', 'references-file'],
  ['/categories/index.json', 'categories-file'],
  ['/categories/', 'category-board-file'],
]

describe('everything that a release publishes', () => {
  test('keeps its schema, in canonical JSON', { tags: ['slow'] }, async () => {
    const { store } = service.components
    const names = new Set<SchemaName>()
    const check = (name: SchemaName, value: unknown) => {
      expectValid(name, value)
      names.add(name)
    }
    for (const prefix of ['releases/', 'snapshots/']) {
      for await (const { path } of store.list(prefix)) {
        if (!path.endsWith('.json') || path.endsWith('/plan.json')) continue
        const bytes = (await store.get(path))!
        const content = JSON.parse(new TextDecoder().decode(bytes)) as ReleaseShard
        expect(Buffer.from(canonical(content)), path).toEqual(Buffer.from(bytes))
        const what = prefix === 'releases/' ? 'release' : 'snapshot'
        if (path.endsWith('/manifest.json')) {
          check(`${what}-manifest`, content)
          continue
        }
        const ofOne = FILES.find(([part]) => path.includes(part))
        if (ofOne) {
          check(ofOne[1], content)
          continue
        }
        check(`${what}-shard`, content)
        if (what === 'snapshot') continue
        for (const entity of Object.values(content.entities)) {
          check(`${content.entity_type}-profile`, entity.profile.payload)
          check(`${content.entity_type}-verification`, entity.verification.payload)
          check(`${content.entity_type}-metrics`, entity.metrics.payload)
          check(`${content.entity_type}-rankings`, entity.rankings.payload)
          check(`${content.entity_type}-advanced-metrics`, entity.advanced_metrics.payload)
        }
      }
    }
    expect(names.size).toBe(21)
  })
})

describe('the key of a caller', () => {
  const get = (headers: Record<string, string>, call = 'verification') =>
    service.client.get(pathOf('forecaster', call), headers)

  test('makes the answer of a verification private, whoever has it', async () => {
    for (const key of [clientKey, agent.key]) {
      const answer = await get({ 'X-API-Key': key })
      expect(answer.status).toBe(200)
      expect(answer.headers['cache-control']).toBe('private, max-age=60')
    }
    expect((await get({})).headers['cache-control']).toBe('public, max-age=60')
  })

  test('gets the same bytes and tag as none', async () => {
    const [anonymous, known] = [await get({}), await get({ 'X-API-Key': clientKey })]
    expect(known.bytes).toEqual(anonymous.bytes)
    expect(known.headers.etag).toBe(anonymous.headers.etag)
    const again = await get({ 'X-API-Key': clientKey, 'If-None-Match': known.headers.etag! })
    expect(again.status).toBe(304)
    expect(again.headers['cache-control']).toBe('private, max-age=60')
  })

  test.for([
    ['of another form', 'letmein'],
    ['of the right form that nobody has', `fv_live_AAAAAAAA_${'A'.repeat(38)}`],
    ['that is empty', ''],
  ] as const)('%s is answered 401', async ([, key]) => {
    expectProblem(await get({ 'X-API-Key': key }), 401, /X-API-Key/)
    const bulk = await service.client.post(
      '/verification/bulk',
      { entity_type: 'agent', ids: [uuidOf(1, 1)] },
      { 'X-API-Key': key },
    )
    expectProblem(bulk, 401, /X-API-Key/)
  })

  test('is refused also by calls that need none, where it does not work', async () => {
    const key = await service.components.registry.createClientKey('a reader', clock.now())
    const { client } = service
    for (const path of [pathOf('forecaster', 'metrics'), '/questions', '/leaderboard/agent']) {
      for (const headers of [{ 'X-API-Key': 'letmein' }, bearer('letmein'), bearer(`${key}x`)]) {
        expectProblem(await client.get(path, headers), 401, /unknown or was revoked/)
      }
      // A proxy in front of the service may want a key of its own.
      for (const headers of [
        {},
        { 'X-API-Key': key },
        bearer(key),
        { Authorization: 'Basic bGV0OmluCg==' },
      ]) {
        expect((await client.get(path, headers)).status, JSON.stringify(headers)).toBe(200)
      }
    }
    expect((await client.get('/livez', { 'X-API-Key': 'letmein' })).status).toBe(200)
  })

  test('works as bearer token wherever it works as X-API-Key', async () => {
    const key = await service.components.registry.createClientKey('another reader', clock.now())
    const path = pathOf('forecaster', 'verification')
    const named = await service.client.get(path, { 'X-API-Key': key })
    for (const again of [1, 2]) {
      const borne = await service.client.get(path, bearer(key))
      expect([again, borne.text, borne.headers['cache-control']]).toEqual([
        again,
        named.text,
        named.headers['cache-control'],
      ])
    }
    expect((await service.client.get('/usage', bearer(key))).json()).toMatchObject({ tier: 'free', calls: 3 })
    expectProblem(await service.client.get(path, bearer('')), 401, /bearer token is unknown/)
  })

  test('ends with its revocation, on a node that keeps no keys', async () => {
    const { client, components } = await served({ KEY_CACHE_MS: '0' })
    const key = await components.registry.createClientKey('another client', clock.now())
    const path = pathOf('forecaster', 'verification')
    expect((await client.get(path, { 'X-API-Key': key })).status).toBe(200)
    await components.registry.revokeKey(key.split('_')[2]!, clock.now())
    await expect
      .poll(async () => (await client.get(path, { 'X-API-Key': key })).status, {
        interval: 1,
        timeout: 10_000,
      })
      .toBe(401)
  })
})

describe('X-Service-Signature', () => {
  const path = pathOf('forecaster', 'verification')

  test('holds both entries while a previous secret is set, the new one first', async () => {
    const { client } = await served({
      VERIFICATION_SIGNING_SECRET: OTHER_SECRET,
      VERIFICATION_SIGNING_SECRET_PREVIOUS: SECRET,
    })
    const { bytes, headers } = await client.get(path)
    expect(headers['x-service-signature']).toBe(`v1=${hmac(bytes, OTHER_SECRET)}, v1=${hmac(bytes, SECRET)}`)
    expect(bytes).toEqual((await service.client.get(path)).bytes)
  })

  test('takes a secret as its UTF-8 bytes', async () => {
    const owls = `gehëim ${'🦉'.repeat(16)}`
    const { client } = await served({ VERIFICATION_SIGNING_SECRET: owls })
    const { bytes, headers } = await client.get(path)
    expect(headers['x-service-signature']).toBe(`v1=${hmac(bytes, owls)}`)
  })

  test('is left out while no secret is set, also from bulk answers', async () => {
    const { client } = await served({ VERIFICATION_SIGNING_SECRET: '' })
    const answer = await client.get(path)
    expect(answer.status).toBe(200)
    expect(answer.headers).not.toHaveProperty('x-service-signature')
    expect(answer.headers.etag).toBe(`"${sha256(answer.bytes)}"`)
    const bulk = await client.post('/verification/bulk', {
      entity_type: 'forecaster',
      ids: [forecasterId(0)],
    })
    expect(bulk.json<Bulk>().results[0]).toMatchObject({ status: 'ok', signature: null })
  })

  test('stays with a 304', async () => {
    const { bytes, headers } = await service.client.get(path)
    const answer = await service.client.get(path, { 'If-None-Match': headers.etag! })
    expect(answer.headers['x-service-signature']).toBe(`v1=${hmac(bytes, SECRET)}`)
  })
})

describe('ranks', () => {
  test('rank every forecaster, agents apart', async () => {
    const ranks: unknown[][] = []
    for (let index = 0; index < FORECASTERS; index++) {
      const { rank, badge, population } = (
        await service.client.get(pathOf('forecaster', 'rankings', forecasterId(index)))
      ).json()
      ranks.push([rank, badge, population])
    }
    expect(ranks.map(([first]) => first)).toEqual([1, 2, 3, 4, 5, 6])
    expect(ranks[0]).toEqual([1, 'measured', FORECASTERS])
    expect(ranks.at(-1)).toEqual([6, 'measured', FORECASTERS])
    expect((await service.client.get(pathOf('agent', 'rankings'))).json()).toMatchObject({
      rank: 1,
      population: 1,
      eligible: true,
    })
  })
})

describe('an agent that no release has covered', () => {
  test('is told when the next release is due', async () => {
    const { agentId } = await registerAgent(service.client)
    for (const call of CALLS) {
      const answer = await service.client.get(pathOf('agent', call, agentId))
      expectProblem(
        answer,
        404,
        /no release has covered it yet: .*; the next release is due at 20\d\d-\d\d-\d\dT\d\d:\d\d:00.000Z/,
      )
      const due = Date.parse(/due at (\S+)$/.exec(answer.json<{ detail: string }>().detail)![1]!)
      expect(due - Date.now()).toBeGreaterThan(-1000)
      expect(due - Date.now()).toBeLessThanOrEqual(15 * 60_000)
      expect(due % (15 * 60_000)).toBe(0)
    }
  })

  test('is told so by a service without any release, of itself and not of others', async () => {
    const { client } = await testService()
    const { agentId } = await registerAgent(client)
    expectProblem(await client.get(pathOf('agent', 'verification', agentId)), 404, /no release has covered/)
    expectProblem(await client.get(pathOf('agent', 'verification', uuidOf(9, 9))), 404, /there is no agent/)
    expectProblem(
      await client.get(pathOf('forecaster', 'verification', uuidOf(9, 9))),
      404,
      /no release has a/,
    )
  })
})

interface Bulk {
  results: { id: string; status: string; verification?: object; signature?: string }[]
}

describe('POST /verification/bulk', () => {
  const bulk = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    service.client.post('/verification/bulk', body, headers)

  test('answers in the order asked, once for a repeated id, and says who is not found', async () => {
    const ids = [
      forecasterId(3),
      uuidOf(9, 9),
      forecasterId(1).toUpperCase(),
      forecasterId(3),
      forecasterId(1),
    ]
    const answer = await bulk({ entity_type: 'forecaster', ids })
    expect(answer.status).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    expectValid('bulk-results', answer.json())
    const { results } = answer.json<Bulk>()
    expect(results.map(({ id, status }) => [id, status])).toEqual([
      [forecasterId(3), 'ok'],
      [uuidOf(9, 9), 'not_found'],
      [forecasterId(1), 'ok'],
    ])
    expect(results[1]).toEqual({
      id: uuidOf(9, 9),
      status: 'not_found',
      detail: `no release has a forecaster ${uuidOf(9, 9)}`,
    })
  })

  test('says of each id that is not found what the single call says', async () => {
    const { agentId } = await registerAgent(service.client)
    const ids = [agentId, uuidOf(9, 9), forecasterId(0)]
    const { results } = (await bulk({ entity_type: 'agent', ids })).json<Bulk>()
    const details = await Promise.all(
      ids.map(async (id) => {
        const single = await service.client.get(pathOf('agent', 'verification', id))
        expect(single.status).toBe(404)
        return single.json<{ detail: string }>().detail
      }),
    )
    expect(details[0]).toMatch(/no release has covered it yet/)
    expect(results).toEqual(ids.map((id, index) => ({ id, status: 'not_found', detail: details[index] })))
  })

  test('embeds what the single call answers, with its signature', async () => {
    const { results } = (await bulk({ entity_type: 'agent', ids: [agent.agentId] })).json<Bulk>()
    const single = await service.client.get(pathOf('agent', 'verification'))
    expect(Buffer.from(canonical(results[0]!.verification))).toEqual(single.bytes)
    expect(results[0]!.signature).toBe(single.headers['x-service-signature'])
  })

  test('holds both signatures while a previous secret is set', async () => {
    const { client } = await served({
      VERIFICATION_SIGNING_SECRET: OTHER_SECRET,
      VERIFICATION_SIGNING_SECRET_PREVIOUS: SECRET,
    })
    const answer = await client.post('/verification/bulk', { entity_type: 'agent', ids: [agent.agentId] })
    expectValid('bulk-results', answer.json())
    const [{ verification, signature } = {}] = answer.json<Bulk>().results
    const bytes = canonical(verification)
    expect(signature).toBe(`v1=${hmac(bytes, OTHER_SECRET)}, v1=${hmac(bytes, SECRET)}`)
  })

  test('does not find an entity among those of the other kind', async () => {
    const { results } = (await bulk({ entity_type: 'agent', ids: [forecasterId(0)] })).json<Bulk>()
    const detail = `there is no agent ${forecasterId(0)}`
    expect(results).toEqual([{ id: forecasterId(0), status: 'not_found', detail }])
  })

  test('takes 200 ids and refuses 201, naming the maximum', async () => {
    const ids = Array.from({ length: 201 }, (_, index) => uuidOf(7, index))
    const quota = { tier: 'enterprise', monthly_calls: 10 } as const
    const key = await service.components.registry.createClientKey('a large client', clock.now(), quota)
    const headers = { 'X-API-Key': key }
    const most = await bulk({ entity_type: 'forecaster', ids: ids.slice(0, 200) }, headers)
    expect(most.json<Bulk>().results).toHaveLength(200)
    const tooMany = await bulk({ entity_type: 'forecaster', ids }, headers)
    expect(pointersOf(tooMany)).toEqual(['/ids'])
    expectProblem(tooMany, 422, /201 ids were sent; at most 200/)
  })

  test.for([
    [
      '11 ids, the last of which is none',
      [...Array.from({ length: 10 }, (_, index) => uuidOf(7, index)), 'x'],
    ],
    ['21,000 ids that are none', Array.from({ length: 21_000 }, () => '')],
    ['lists in place of ids', Array.from({ length: 11 }, () => [])],
    ['the same id 11 times', Array.from({ length: 11 }, () => uuidOf(7, 1))],
  ] as const)('counts before it looks at any id: %s', async ([, ids]) => {
    const answer = await bulk({ entity_type: 'team', ids })
    expect(answer.json()).toMatchObject({
      status: 422,
      detail: `${ids.length} ids were sent; at most 10 are allowed in one request`,
      errors: [{ pointer: '/ids', detail: 'ids must have at most 10 items' }],
    })
  })

  test('takes a known key', async () => {
    expect(
      (await bulk({ entity_type: 'agent', ids: [agent.agentId] }, { 'X-API-Key': clientKey })).status,
    ).toBe(200)
  })

  test.for([
    ['no ids', { entity_type: 'agent', ids: [] }, ['/ids']],
    ['ids that are a text', { entity_type: 'agent', ids: uuidOf(1, 1) }, ['/ids']],
    ['an id that is none', { entity_type: 'agent', ids: [uuidOf(1, 1), 'x'] }, ['/ids/1']],
    ['another kind of entity', { entity_type: 'team', ids: [uuidOf(1, 1)] }, ['/entity_type']],
    ['nothing', {}, ['/entity_type', '/ids']],
    ['an unknown field', { entity_type: 'agent', ids: [uuidOf(1, 1)], limit: 1 }, ['/limit']],
  ] as const)('answers 422 to %s', async ([, body, pointers]) => {
    expect(pointersOf(await bulk(body))).toEqual(pointers)
  })
})
