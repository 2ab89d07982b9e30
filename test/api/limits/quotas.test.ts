// Monthly quotas: whose key has which, and which calls count against it.
import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../../schemas/errors.ts'
import {
  BULK,
  FOUND,
  MISSING,
  bulkOf,
  idOf,
  remaining,
  quotaIn,
  withKey,
} from '../../support/http/counted-calls.ts'
import { inboxRows } from '../../support/inbox-rows.ts'
import {
  MONTH_S,
  REST_OF_MONTH_S,
  faultyCopy,
  limitedWorld,
  withQuota,
} from '../../support/http/limited-service.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { type Answer, Client, registerAgent } from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { NOW } from '../../support/worlds/world.ts'

const { released, served } = await limitedWorld()

describe('a key', () => {
  test.for([
    ['free', null, 100, 10],
    ['pro', null, 5_000, 50],
    ['enterprise', 321, 321, 200],
  ] as const)('of the tier %s has its calls a month and ids a request', async ([tier, own, quota, ids]) => {
    const { client, components } = await served()
    const key = await components.registry.createClientKey('Ada', new Date(NOW), {
      tier,
      monthly_calls: own,
    } as Parameters<typeof components.registry.createClientKey>[2])
    const first = await client.get(FOUND, withKey(key))
    expect(first.status).toBe(200)
    expect(quotaIn(first)).toEqual({
      policy: 'monthly-calls',
      quota,
      windowS: MONTH_S,
      remaining: quota - 1,
      resetS: REST_OF_MONTH_S,
    })
    const most = await client.post(BULK, bulkOf(ids), withKey(key))
    expect(most.status).toBe(200)
    expect(quotaIn(most).remaining).toBe(quota - 2)
    const tooMany = await client.post(BULK, bulkOf(ids + 1), withKey(key))
    expectProblem(tooMany, 422, new RegExp(`at most ${ids} are allowed`))
    expect(quotaIn(tooMany).remaining).toBe(quota - 2)
  })

  test('of an agent is one of the free tier', async () => {
    const { client } = await served()
    const { key } = await registerAgent(client)
    const answer = await client.get(FOUND, withKey(key))
    expect(answer.status).toBe(200)
    expect(quotaIn(answer)).toMatchObject({ policy: 'monthly-calls', quota: 100, remaining: 99 })
  })

  test('of the sandbox has the calls of the sandbox, which are others', async () => {
    const { client, newKey } = await served()
    const sandboxed = new Client(`${client.url}/sandbox`)
    const { agentId, key } = await registerAgent(sandboxed)
    const answer = await sandboxed.post(BULK, { entity_type: 'agent', ids: [agentId] }, withKey(key))
    expect(answer.status).toBe(200)
    expect(quotaIn(answer)).toMatchObject({ policy: 'monthly-calls', quota: 1_000, remaining: 999 })
    expectProblem(await client.get(FOUND, withKey(key)), 401, /works under \/sandbox only/)
    expectProblem(await sandboxed.get(FOUND, withKey(await newKey())), 401, /not under \/sandbox/)
  })

  test('does not count against the limit of its address, nor other keys against its own', async () => {
    const { client, newKey } = await served({ settings: { ANONYMOUS_PER_MINUTE: '1' } })
    const [first, second] = [await newKey(), await newKey()]
    for (let call = 0; call < 3; call++) expect((await client.get(FOUND, withKey(first))).status).toBe(200)
    expect(await remaining(client.get(FOUND, withKey(second)))).toBe(99)
    expect(quotaIn(await client.get(FOUND))).toMatchObject({ policy: 'verifications', remaining: 0 })
  })

  test('that is unknown, revoked or none at all is answered 401 and counted nowhere', async () => {
    const { client, components, clock, newKey, stop, store } = await served()
    const old = await newKey()
    const { key } = await components.registry.rotateKey(idOf(old), clock.now())
    await components.registry.revokeKey(idOf(old), clock.now())
    const unknown = components.registry.newKey().key
    for (const wrong of [old, unknown, 'nonsense', '']) {
      for (const answer of [
        await client.get(FOUND, withKey(wrong)),
        await client.post(BULK, bulkOf(1), withKey(wrong)),
      ]) {
        expectProblem(answer, 401, /X-API-Key is unknown or was revoked/)
        expect(answer.headers).not.toHaveProperty('ratelimit')
      }
    }
    expect(await remaining(client.get(FOUND, withKey(key.key)))).toBe(99)
    expect(quotaIn(await client.get(FOUND)).remaining).toBe(19)
    await stop()
    expect(await inboxRows(store, 'usage')).toMatchObject([{ key_id: key.id, calls: 1n }])
  })
})

describe('a call that counts', () => {
  test('is one of GET, HEAD or bulk, whether or not the caller has the answer already', async () => {
    const { client, newKey } = await served()
    const key = withKey(await newKey())
    const first = await client.get(FOUND, key)
    expect(first.status).toBe(200)
    const known = { ...key, 'If-None-Match': first.headers.etag! }
    const statuses: number[] = []
    const left: number[] = []
    for (const call of [
      () => client.send('HEAD', FOUND, { headers: key }),
      () => client.get(FOUND, known),
      () => client.send('HEAD', FOUND, { headers: known }),
      () => client.post(BULK, bulkOf(10), key),
      () => client.get(FOUND, key),
    ]) {
      const answer = await call()
      statuses.push(answer.status)
      left.push(quotaIn(answer).remaining)
    }
    expect(statuses).toEqual([200, 304, 304, 200, 200])
    expect(left).toEqual([98, 97, 96, 95, 94])
  })

  test('is none of the calls that need no key, nor a question what may be called', async () => {
    const { client, newKey } = await served({ settings: withQuota(1) })
    const key = withKey(await newKey())
    for (const path of [FOUND.replace('verification', 'metrics'), '/methodology/version', '/questions']) {
      const answer = await client.get(path, key)
      expect(answer.status).toBe(200)
      expect(quotaIn(answer).policy).toBe('reads')
    }
    await client.send('OPTIONS', FOUND, { headers: key })
    expect((await client.send('DELETE', FOUND, { headers: key })).status).toBe(405)
    expect((await client.get(FOUND, key)).status).toBe(200)
  })

  test.for([
    ['what is not published', 404, (client: Client, key: object) => client.get(MISSING, { ...key })],
    ['a question that it does not take', 422, (client, key) => client.get(`${FOUND}?x=1`, { ...key })],
    ['no JSON', 400, (client, key) => client.post(BULK, '{', { ...key })],
    ['another media type', 415, (client, key) => client.post(BULK, '', { ...key, 'Content-Type': 'a/b' })],
    ['too many ids', 422, (client, key) => client.post(BULK, bulkOf(11), { ...key })],
    ['no ids', 422, (client, key) => client.post(BULK, bulkOf(0), { ...key })],
  ] satisfies [string, number, (client: Client, key: object) => Promise<Answer>][])(
    'is not one for %s: it has its place back',
    { tags: ['slow'] },
    async ([, status, call]) => {
      const { client, newKey, stop, store } = await served()
      const key = withKey(await newKey())
      const failed = await call(client, key)
      expect(failed.status).toBe(status)
      expect(quotaIn(failed)).toMatchObject({ policy: 'monthly-calls', quota: 100, remaining: 100 })
      expect(await remaining(client.get(FOUND, key))).toBe(99)
      await stop()
      expect(await inboxRows(store, 'usage')).toMatchObject([{ calls: 1n }])
    },
  )

  test.for([
    ['a store that does not answer', 503, () => new ServiceError('unavailable', 'injected')],
    ['a broken shard', 503, () => new ServiceError('corrupt', 'injected')],
    ['a mistake of the service', 500, () => new TypeError('injected')],
  ] as const)('is not one for %s', async ([, status, failure]) => {
    let broken = true
    const store = faultyCopy(released, ({ path }) => {
      if (broken && /^releases\/\d+\/forecaster/.test(path)) throw failure()
    })
    const { client, newKey, stop } = await served({ store })
    const key = withKey(await newKey())
    const failed = await client.get(FOUND, key)
    expectProblem(failed, status, /./)
    expect(quotaIn(failed).remaining).toBe(100)
    broken = false
    expect(await remaining(client.get(FOUND, key))).toBe(99)
    await stop()
    expect(await inboxRows(store, 'usage')).toMatchObject([{ calls: 1n }])
  })

  test('is not one for a shard of other bytes than were published', async () => {
    const store = copyOf(released)
    for (const path of store.objects.keys()) {
      if (/^releases\/\d+\/forecaster/.test(path)) store.objects.set(path, new TextEncoder().encode('{}'))
    }
    const { client, newKey } = await served({ store })
    const failed = await client.get(FOUND, withKey(await newKey()))
    expectProblem(failed, 503, /the failure was noted/)
    expect(quotaIn(failed).remaining).toBe(100)
  })
})
