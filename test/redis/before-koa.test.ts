// Calls that are answered before Koa where calls are counted in Redis: what is counted there has to be waited
// for.
import { describe, expect, test } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { BULK, FOUND, bulkOf, expectLimited, quotaIn, withKey } from '../support/http/counted-calls.ts'
import { TestRedis, redisServer } from '../support/redis.ts'
import { bearer, testComponents, testService } from '../support/http/service.ts'
import { QUESTION, copyReleasedWorld } from '../support/worlds/world.ts'

/**
 * A service with few calls for each caller, and how many of them it has left to Koa. Call it inside a test.
 */
async function countedService(redis: TestRedis) {
  const store = new MemoryStore()
  const agent = await copyReleasedWorld(store)
  const settings = {
    REDIS_URL: redis.url,
    ANONYMOUS_PER_MINUTE: '3',
    FREE_MONTHLY_CALLS: '3',
    FORECASTS_PER_MINUTE: '3',
    FORECASTS_BURST: '3',
  }
  const components = await testComponents({ store, settings })
  let left = 0
  const { client } = await testService(components, {
    answerFirst: (answer) => (request, response, otherwise) => {
      answer(request, response, (...others) => {
        left += 1
        otherwise(...others)
      })
    },
  })
  return { agent, components, client, left: () => left }
}

describe.skipIf(!redisServer)('counted in Redis', () => {
  test.for(['without a key', 'with a key'])(
    'a prepared answer %s is counted once, until none is left',
    async (who) => {
      const redis = await TestRedis.start()
      const { components, client, left } = await countedService(redis)
      const key = await components.registry.createClientKey('a client', new Date())
      const headers = who === 'with a key' ? withKey(key) : {}
      const answers = [await client.get(FOUND, headers), await client.get(FOUND, headers)]
      // The first one found the payload.
      expect(left()).toBe(1)
      const last = await client.get(FOUND, { ...headers, 'If-None-Match': answers[0]!.headers.etag! })
      expect([left(), last.status]).toEqual([1, 304])
      expect([...answers, last].map((answer) => quotaIn(answer).remaining)).toEqual([2, 1, 0])
      expectLimited(
        await client.get(FOUND, headers),
        who === 'with a key' ? 'monthly-calls' : 'verifications',
      )
      // Koa says why, and what was refused is counted by neither.
      expect(left()).toBe(2)
    },
  )

  test.for(['without a key', 'with a key'])(
    'a bulk call %s goes to its route directly and is counted with prepared answers, until none is left',
    async (who) => {
      const { components, client, left } = await countedService(await TestRedis.start())
      const key = await components.registry.createClientKey('a client', new Date())
      const headers = who === 'with a key' ? withKey(key) : {}
      const answers = [
        await client.post(BULK, bulkOf(1), headers),
        await client.get(FOUND, headers),
        await client.post(BULK, bulkOf(2), headers),
      ]
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(answers.map((answer) => quotaIn(answer).remaining)).toEqual([2, 1, 0])
      const invalid = await client.post(BULK, bulkOf(0), headers)
      const refused = await client.post(BULK, bulkOf(1), headers)
      for (const answer of [invalid, refused]) {
        expectLimited(answer, who === 'with a key' ? 'monthly-calls' : 'verifications')
      }
      // The first one for a payload, which finds it.
      expect(left()).toBe(1)
    },
  )

  test('a forecast goes to its route directly and is counted, also by a node that Redis has left', async () => {
    const redis = await TestRedis.start()
    const { agent, client, left } = await countedService(redis)
    const submit = (probability: number) =>
      client.post(
        `/agents/${agent.agentId}/forecast`,
        { question_id: QUESTION.open, probability },
        bearer(agent.key),
      )
    const answers = [await submit(0.1), await submit(2), await submit(0.2), await submit(0.3)]
    expect(answers.map(({ status }) => status)).toEqual([200, 422, 200, 200])
    expect(answers.map((answer) => quotaIn(answer).remaining)).toEqual([2, 2, 1, 0])
    expectLimited(await submit(0.4), 'forecasts')
    await redis.kill()
    const alone = await submit(0.5)
    expect([alone.status, quotaIn(alone).remaining, left()]).toEqual([200, 2, 0])
  })
})
