// Redis is not there, dies, hangs or demands a password: the service says so, goes on, and reveals no secret.
import { setInterval } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { FOUND, MISSING, expectLimited, remaining, storm, withKey } from '../support/http/counted-calls.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { nodeWorld } from '../support/http/nodes.ts'
import { fvs } from '../support/process.ts'
import { RawSocket } from '../support/http/raw-socket.ts'
import { freePort } from '../support/free-port.ts'
import { TestRedis, redisServer } from '../support/redis.ts'
import { type Answer, Client, testComponents } from '../support/http/service.ts'
import { copyReleasedWorld } from '../support/worlds/world.ts'

const PASSWORD = 'hunter2-of-the-tests'
const NO_ANSWER = /"level":40.*Redis does not answer: this node counts calls by itself/
const IN_REDIS = /counting calls in Redis/
const quotaStore = (isOk: 0 | 1) => `fvs_quota_store_ok{environment="production"} ${isOk}`

const folder = await suiteFolder()
beforeAll(async () => {
  if (redisServer) await copyReleasedWorld((await testComponents({ folder })).store)
})

const withPassword = (port: number, password = PASSWORD) => `redis://:${password}@127.0.0.1:${port}`

describe.skipIf(!redisServer)('a Redis that', () => {
  test('is killed makes each node count by itself, and counts again after its restart', async () => {
    const redis = await TestRedis.start()
    const { node, newKeys } = await nodeWorld(folder, { REDIS_URL: redis.url, FREE_MONTHLY_CALLS: '5' })
    const nodes = await Promise.all([node(), node()])
    const [a, b] = nodes
    const key = withKey((await newKeys(1))[0]!)
    for (const left of [4, 3, 2]) expect(await remaining(a.client.get(FOUND, key))).toBe(left)
    await redis.kill()
    await Promise.all(nodes.map(({ logged }) => logged(NO_ANSWER)))
    for (const { client } of nodes) {
      expect((await client.get('/metrics')).text).toContain(quotaStore(0))
      for (const left of [4, 3, 2, 1, 0]) expect(await remaining(client.get(FOUND, key))).toBe(left)
      expectLimited(await client.get(FOUND, key), 'monthly-calls')
    }
    await TestRedis.start({ port: redis.port })
    await Promise.all(nodes.map(({ logged }) => logged(IN_REDIS, 2)))
    for (const { client } of nodes) expect((await client.get('/metrics')).text).toContain(quotaStore(1))
    expect(await remaining(a.client.get(FOUND, key))).toBe(4)
    expect(await remaining(b.client.get(FOUND, key))).toBe(3)
    expect(await remaining(b.client.get(MISSING, key))).toBe(3)
    await Promise.all(nodes.map((each) => each.stop()))
  })

  test('is killed in the middle of many calls leaves none of them unanswered', async () => {
    const redis = await TestRedis.start()
    const { node, newKeys } = await nodeWorld(folder, { REDIS_URL: redis.url })
    const nodes = await Promise.all([node(), node()])
    const keys = await newKeys(10)
    let killed: Promise<void> | undefined
    const result = await storm(
      nodes.map(({ client }) => client),
      keys,
      100,
      (answered) => {
        if (answered === 300) killed = redis.kill()
      },
    )
    await killed
    expect(result.failed).toBe(0)
    // 20 of the hundred are not found, and the counts that begin anew let the others through.
    expect([...result.through.values()]).toEqual(Array.from({ length: 10 }, () => 80))
    await Promise.all(nodes.map((each) => each.stop()))
  })

  test.for([
    ['by another Redis', true],
    ['by a node for itself', false],
  ] as const)('is killed was alone in counting a call, which is not taken back %s', async ([, isBack]) => {
    const redis = await TestRedis.start()
    const { node, newKeys } = await nodeWorld(folder, { REDIS_URL: redis.url, FREE_MONTHLY_CALLS: '2' })
    const { client, logged } = await node()
    const key = withKey((await newKeys(1))[0]!)
    // The body of this call comes later: the call is counted first, and fails in the end.
    const body = Promise.withResolvers<string>()
    const failing = client.sendSlowly('POST', '/verification/bulk', { headers: key, body: body.promise })
    await expect.poll(() => remaining(client.get(MISSING, key))).toBe(1)
    await redis.kill()
    await logged(NO_ANSWER)
    if (isBack) {
      await TestRedis.start({ port: redis.port })
      await logged(IN_REDIS, 2)
    }
    body.resolve('{')
    expect((await failing).status).toBe(400)
    for (const left of [1, 0]) expect(await remaining(client.get(FOUND, key))).toBe(left)
    expectLimited(await client.get(FOUND, key), 'monthly-calls')
  })

  test('hangs delays no call for long, however many there are, and counts again afterwards', async () => {
    const redis = await TestRedis.start()
    const { node, newKeys } = await nodeWorld(folder, { REDIS_URL: redis.url })
    const { url, client, logged, stop } = await node()
    const keys = await newKeys(4)
    expect(await remaining(client.get(FOUND, withKey(keys[0]!)))).toBe(99)
    redis.hang()
    let noticed = false
    const warned = logged(NO_ANSWER).then(() => (noticed = true))
    // Calls keep coming, each on its own connection, so that the connection to Redis never becomes idle.
    const others = new Client(url, 10_000)
    const asking = keys.map(async (key) => {
      const statuses: number[] = []
      while (!noticed) statuses.push((await client.get(FOUND, withKey(key))).status)
      return statuses
    })
    const trickle = (async () => {
      const answers: Promise<Answer>[] = []
      for await (const _ of setInterval(100)) {
        if (noticed) break
        answers.push(others.get(MISSING))
      }
      return (await Promise.all(answers)).map(({ status }) => status)
    })()
    await warned
    const statuses = (await Promise.all(asking)).flat()
    expect(statuses.length).toBeGreaterThan(0)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(new Set(await trickle)).toEqual(new Set([404]))
    expect((await client.get(FOUND, withKey(keys[0]!))).status).toBe(200)
    redis.resume()
    await logged(IN_REDIS, 2)
    expect((await client.get(FOUND, withKey(keys[0]!))).status).toBe(200)
    await stop()
  })

  test('hangs or is gone does not prevent a node from ending', async () => {
    const redis = await TestRedis.start()
    const { node } = await nodeWorld(folder, { REDIS_URL: redis.url })
    const [first, second, third] = await Promise.all([node(), node(), node()])
    redis.hang()
    await first.stop()
    const raw = await RawSocket.open(second.url)
    raw.send('POST /verification/bulk HTTP/1.1', 'Host: x', 'Content-Type: application/json')
    raw.send('', 'Content-Length: 2', 'Expect: 100-continue', '', '{}')
    // The call has arrived, and the node now sends its count to Redis.
    await raw.received(/100 Continue/)
    await second.stop()
    expect(await raw.closed).toMatch(/HTTP\/1.1 422/)
    redis.resume()
    await redis.kill()
    await third.logged(NO_ANSWER)
    await third.stop()
  })

  test('demands a password is used with it, and the password is not printed anywhere', async () => {
    const redis = await TestRedis.start({ password: PASSWORD })
    const world = await nodeWorld(folder, { REDIS_URL: withPassword(redis.port), LOG_LEVEL: 'trace' })
    const { client, logged, stop, finished } = await world.node()
    const key = withKey((await world.newKeys(1))[0]!)
    expect(await remaining(client.get(FOUND, key))).toBe(99)
    await redis.kill()
    await logged(NO_ANSWER)
    expect(await remaining(client.get(FOUND, key))).toBe(99)
    const changed = await TestRedis.start({ port: redis.port, password: `${PASSWORD}, changed` })
    await logged(/WRONGPASS/)
    expect(await remaining(client.get(FOUND, key))).toBe(98)
    await changed.kill()
    await stop()
    const { stdout, stderr } = await finished
    expect(stdout + stderr).not.toContain(PASSWORD)
    expect(stderr).toContain(`127.0.0.1:${redis.port}`)
  })
})

describe.skipIf(!redisServer)('a start', () => {
  const serve = async (url: string) => {
    const home = await testFolder()
    return fvs(['serve', '--no-scheduler'], { folder: home, env: { REDIS_URL: url, LOG_LEVEL: 'trace' } })
  }

  test.for<[string, (redis: TestRedis) => Promise<string> | string, RegExp]>([
    ['on a port without a server', async () => withPassword(await freePort()), /REDIS_URL: .*ECONNREFUSED/],
    [
      'on a Redis that hangs',
      (redis) => {
        redis.hang()
        return withPassword(redis.port)
      },
      /REDIS_URL: Redis at 127.0.0.1:\d+ does not answer/,
    ],
    ['with a wrong password', ({ port }) => withPassword(port, 'wrong-one'), /REDIS_URL: .*WRONGPASS/],
    ['without a password', ({ url }) => url, /REDIS_URL: .*NOAUTH/],
    ['with a URL of another protocol', () => `https://:${PASSWORD}@127.0.0.1`, /REDIS_URL: must be redis/],
    [
      'with a password that is not encoded',
      ({ port }) => withPassword(port, '100%zz'),
      /REDIS_URL is not valid/,
    ],
    [
      'with a database that is not a number',
      ({ port }) => `${withPassword(port)}/x`,
      /REDIS_URL is not valid/,
    ],
  ])('%s is refused, and shows no password', async ([, urlOf, message]) => {
    const redis = await TestRedis.start({ password: PASSWORD })
    const { code, stdout, stderr } = await serve(await urlOf(redis))
    expect(code).toBe(1)
    expect(stderr).toMatch(message)
    expect(stdout + stderr).not.toMatch(/hunter2|wrong-one|100%zz/)
    expect(stderr).not.toMatch(/unexpected failure|counts calls by itself|"msg":"serving"/)
  })
})
