// Two nodes that count in one Redis: quotas and limits apply to both together.
import { beforeAll, describe, expect, test } from 'vitest'
import {
  FOUND,
  MISSING,
  expectLimited,
  idOf,
  remaining,
  storm,
  timesThrough,
  withKey,
} from '../support/http/counted-calls.ts'
import { suiteFolder } from '../support/folder.ts'
import { type NodeWorld, nodeWorld } from '../support/http/nodes.ts'
import { fvs } from '../support/process.ts'
import { TestRedis, redisServer } from '../support/redis.ts'
import { bearer, registerAgent, testComponents } from '../support/http/service.ts'
import { QUESTION, copyReleasedWorld } from '../support/worlds/world.ts'

const folder = await suiteFolder()
beforeAll(async () => {
  if (redisServer) await copyReleasedWorld((await testComponents({ folder })).store)
})

/** Two nodes and the world that they serve. */
async function twoNodes(settings: Record<string, string> = {}): Promise<NodeWorld & { nodes: Nodes }> {
  const redis = await TestRedis.start()
  const world = await nodeWorld(folder, { REDIS_URL: redis.url, ...settings })
  return { ...world, nodes: await Promise.all([world.node(), world.node()]) }
}
type Nodes = [Awaited<ReturnType<NodeWorld['node']>>, Awaited<ReturnType<NodeWorld['node']>>]

describe.skipIf(!redisServer)('two nodes', () => {
  test('let each of 50 free keys through exactly 100 times in 10,000 calls at once', async () => {
    const { nodes, newKeys, used } = await twoNodes()
    const keys = await newKeys(50)
    const clients = nodes.map(({ client }) => client)
    const started = performance.now()
    const result = await storm(clients, keys, 200)
    const seconds = (performance.now() - started) / 1000
    expect(timesThrough(result)).toEqual({ 100: 50 })
    expect(result.failed).toBe(0)
    expect(result.notFound + result.refused).toBe(5_000)
    expect(result.notFound).toBeGreaterThan(0)
    for (const key of keys) {
      for (const client of clients) expectLimited(await client.get(FOUND, withKey(key)), 'monthly-calls')
    }
    await Promise.all(nodes.map((node) => node.stop()))
    const written = await used()
    expect([...written.values()]).toEqual(Array.from({ length: 50 }, () => 100))
    console.info(
      `10000 calls with 50 keys on 2 nodes: ${JSON.stringify(timesThrough(result))} let through, ` +
        `${result.notFound} not found, ${result.refused} refused, ${seconds.toFixed(1)} s`,
    )
  })

  test('both give back a failed call, and both report the same remaining calls', async () => {
    const { nodes, newKeys } = await twoNodes({ FREE_MONTHLY_CALLS: '3' })
    const [a, b] = nodes
    const key = withKey((await newKeys(1))[0]!)
    expect(await remaining(a.client.get(FOUND, key))).toBe(2)
    expect(await remaining(b.client.get(MISSING, key))).toBe(2)
    expect(await remaining(b.client.get(FOUND, key))).toBe(1)
    expect(await remaining(a.client.get(FOUND, key))).toBe(0)
    for (const { client } of nodes) expectLimited(await client.get(FOUND, key), 'monthly-calls')
  })

  test('show in GET /usage what both have counted', async () => {
    const { nodes, newKeys } = await twoNodes()
    const key = withKey((await newKeys(1))[0]!)
    for (const { client } of nodes) await client.get(FOUND, key)
    for (const { client } of nodes) {
      expect((await client.get('/usage', key)).json()).toMatchObject({ calls: 2 })
    }
  })

  test('count a key and its replacement against one quota', async () => {
    const { nodes, newKeys, registry } = await twoNodes({ FREE_MONTHLY_CALLS: '2' })
    const [old] = (await newKeys(1)) as [string]
    const { key } = await registry.rotateKey(idOf(old), new Date())
    expect(await remaining(nodes[0].client.get(FOUND, withKey(old)))).toBe(1)
    expect(await remaining(nodes[1].client.get(FOUND, withKey(key.key)))).toBe(0)
    expectLimited(await nodes[0].client.get(FOUND, withKey(key.key)), 'monthly-calls')
  })

  test('share the limits by address and by agent', async () => {
    const { nodes } = await twoNodes({
      ANONYMOUS_PER_MINUTE: '3',
      REGISTRATIONS_PER_HOUR: '3',
      FORECASTS_PER_MINUTE: '1',
      FORECASTS_BURST: '3',
    })
    const [a, b] = nodes
    const left = [
      await remaining(a.client.get(FOUND)),
      await remaining(b.client.get(FOUND)),
      await remaining(a.client.get(MISSING)),
      await remaining(a.client.get(FOUND)),
    ]
    expect(left).toEqual([2, 1, 1, 0])
    for (const { client } of nodes) expectLimited(await client.get(FOUND), 'verifications')

    const { agentId, key } = await registerAgent(a.client)
    await b.client.post('/agents/register', '{')
    await registerAgent(b.client)
    await registerAgent(a.client)
    const register = { name: 'a', model_type: 'm' }
    for (const { client } of nodes) {
      expectLimited(await client.post('/agents/register', register), 'registrations')
    }

    const submit = ({ client }: Nodes[0]) =>
      client.post(
        `/agents/${agentId}/forecast`,
        { question_id: QUESTION.open, probability: 0.5 },
        bearer(key),
      )
    const forecasts = [await remaining(submit(a)), await remaining(submit(b)), await remaining(submit(b))]
    expect(forecasts).toEqual([2, 1, 0])
    for (const node of nodes) expectLimited(await submit(node), 'forecasts')
  })

  test('share the month of an address, and count its reads each by itself', async () => {
    const { nodes } = await twoNodes({ ANONYMOUS_PER_MONTH: '2', READS_PER_MINUTE: '1' })
    const [a, b] = nodes
    expect(await remaining(a.client.get(FOUND))).toBe(1)
    expect(await remaining(b.client.get(FOUND))).toBe(0)
    for (const { client } of nodes) {
      expectLimited(await client.get(FOUND), 'monthly-calls-by-address')
      expect(await remaining(client.get('/questions'))).toBe(0)
      expectLimited(await client.get('/questions'), 'reads')
    }
  })

  test('both refuse a key soon after it was revoked, and keep the count of its account', async () => {
    const { nodes, newKeys, folder: home } = await twoNodes({ KEY_CACHE_MS: '200' })
    const [key] = (await newKeys(1)) as [string]
    for (const { client } of nodes) expect((await client.get(FOUND, withKey(key))).status).toBe(200)
    const env = { STORE_URL: `${home}/store` }
    const revoked = await fvs(['keys', 'revoke', idOf(key)], { folder: home, env })
    expect(revoked.code, revoked.stderr).toBe(0)
    for (const { client } of nodes) {
      await expect.poll(async () => (await client.get(FOUND, withKey(key))).status).toBe(401)
    }
  })

  test('know the usage from before a restart of both, counted once', async () => {
    const { nodes, node, newKeys } = await twoNodes({ FREE_MONTHLY_CALLS: '10' })
    const key = withKey((await newKeys(1))[0]!)
    for (const { client } of nodes) await client.get(FOUND, key)
    await nodes[0].client.get(FOUND, key)
    await Promise.all(nodes.map((each) => each.stop()))
    const [a, b] = await Promise.all([node(), node()])
    expect(await remaining(a.client.get(FOUND, key))).toBe(6)
    expect(await remaining(b.client.get(FOUND, key))).toBe(5)
  })
})
