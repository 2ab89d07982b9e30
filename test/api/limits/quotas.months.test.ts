// Monthly quotas that are used up: until when, to which call exactly, and what a process knows of the ones
// before it.
import { describe, expect, test } from 'vitest'
import { runRelease } from '../../../jobs/release/release.ts'
import {
  BULK,
  FOUND,
  MISSING,
  bulkOf,
  expectLimited,
  idOf,
  remaining,
  quotaIn,
  storm,
  timesThrough,
  withKey,
} from '../../support/http/counted-calls.ts'
import { inboxRows } from '../../support/inbox-rows.ts'
import {
  MONTH_S,
  REST_OF_MONTH_S,
  holdingCopy,
  limitedWorld,
  usageOf,
  withQuota,
} from '../../support/http/limited-service.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { Clock } from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { NOW, uuidOf } from '../../support/worlds/world.ts'

const { released, served } = await limitedWorld()
const AGENT_ID = uuidOf(7, 1)
const UNKNOWN_AGENT = `/agents/${AGENT_ID}/verification`

describe('a quota', () => {
  test('that is used up refuses with 429 until the month ends', async () => {
    const { client, newKey, clock } = await served({ settings: withQuota(3) })
    const key = withKey(await newKey())
    for (let call = 0; call < 3; call++) expect((await client.get(FOUND, key)).status).toBe(200)
    for (const refused of [
      await client.get(FOUND, key),
      await client.get(MISSING, key),
      await client.post(BULK, bulkOf(1), key),
    ]) {
      const answered = expectLimited(refused, 'monthly-calls')
      expect(answered).toMatchObject({ quota: 3, windowS: MONTH_S, resetS: REST_OF_MONTH_S })
      expect(refused.text).toContain('are used up; try again in 31 days')
    }
    expect((await client.send('HEAD', FOUND, { headers: key })).status).toBe(429)
    clock.set('2026-03-31T23:59:59.001Z')
    expect(expectLimited(await client.get(FOUND, key), 'monthly-calls').resetS).toBe(1)
    clock.set('2026-04-01T00:00:00.000Z')
    const anew = await client.get(FOUND, key)
    expect(anew.status).toBe(200)
    expect(quotaIn(anew)).toMatchObject({
      quota: 3,
      remaining: 2,
      windowS: 30 * 86_400,
      resetS: 30 * 86_400,
    })
  })

  test('does not start anew for a clock that is set back over the end of a month', async () => {
    const { client, newKey, clock } = await served({ settings: withQuota(1) })
    const key = withKey(await newKey())
    clock.set('2026-03-31T23:59:59.999Z')
    expect((await client.get(FOUND, key)).status).toBe(200)
    clock.set('2026-04-01T00:00:00.000Z')
    expect((await client.get(FOUND, key)).status).toBe(200)
    for (const at of ['2026-03-31T23:59:59.998Z', '2026-04-01T00:00:00.000Z']) {
      clock.set(at)
      expect((await client.get(FOUND, key)).status).toBe(429)
    }
  })

  test('of nothing refuses the first call', async () => {
    const { client, newKey } = await served({ settings: withQuota(0) })
    expectLimited(await client.get(FOUND, withKey(await newKey())), 'monthly-calls')
  })

  test('is one for a key and the key that replaced it, for the 24 hours that both work', async () => {
    const { client, components, clock, newKey, stop, store } = await served({ settings: withQuota(4) })
    const old = await newKey()
    const { key } = await components.registry.rotateKey(idOf(old), clock.now())
    expect(await remaining(client.get(FOUND, withKey(old)))).toBe(3)
    expect(await remaining(client.get(FOUND, withKey(key.key)))).toBe(2)
    clock.set('2026-03-02T11:59:59.999Z')
    expect(await remaining(client.get(FOUND, withKey(old)))).toBe(1)
    clock.set('2026-03-02T12:00:00.000Z')
    expectProblem(await client.get(FOUND, withKey(old)), 401, /revoked/)
    expect(await remaining(client.get(FOUND, withKey(key.key)))).toBe(0)
    expectLimited(await client.get(FOUND, withKey(key.key)), 'monthly-calls')
    await stop()
    expect(await usageOf(store)).toEqual(
      [
        `${idOf(old)} of ${idOf(old)} free 2026-03-01 1`,
        `${idOf(old)} of ${idOf(old)} free 2026-03-02 1`,
        `${key.id} of ${idOf(old)} free 2026-03-01 1`,
        `${key.id} of ${idOf(old)} free 2026-03-02 1`,
      ].toSorted(),
    )
  })

  test(
    'is kept to exactly by calls that come all at once and of which some fail',
    { tags: ['slow'] },
    async () => {
      const { client, newKey } = await served({ settings: withQuota(20) })
      const keys = await Promise.all(Array.from({ length: 8 }, newKey))
      const result = await storm([client], keys, 60)
      expect(timesThrough(result)).toEqual({ 20: 8 })
      expect(result.failed).toBe(0)
      expect(result.notFound + result.refused).toBe(8 * 40)
      for (const key of keys) expectLimited(await client.get(FOUND, withKey(key)), 'monthly-calls')
    },
  )
})

describe('a place', () => {
  test('that a failing call held is free again, also after others were refused meanwhile', async () => {
    const { store, arrived, letGo } = holdingCopy(released, AGENT_ID)
    const { client, newKey } = await served({ store, settings: withQuota(1) })
    const key = withKey(await newKey())
    const failing = client.get(UNKNOWN_AGENT, key)
    await arrived
    for (let call = 0; call < 5; call++) expectLimited(await client.get(FOUND, key), 'monthly-calls')
    letGo()
    expect((await failing).status).toBe(404)
    expect(quotaIn(await failing).remaining).toBe(1)
    expect((await client.get(FOUND, key)).status).toBe(200)
    expectLimited(await client.get(FOUND, key), 'monthly-calls')
  })

  test('is given back to the month that it was taken of', async () => {
    const { store, arrived, letGo } = holdingCopy(released, AGENT_ID)
    const { client, newKey, clock } = await served({ store, settings: withQuota(1) })
    const key = withKey(await newKey())
    const failing = client.get(UNKNOWN_AGENT, key)
    await arrived
    clock.set('2026-04-01T00:00:00.000Z')
    expect((await client.get(FOUND, key)).status).toBe(200)
    letGo()
    expect((await failing).status).toBe(404)
    expectLimited(await client.get(FOUND, key), 'monthly-calls')
    clock.set(NOW)
    expect((await client.get(FOUND, key)).status).toBe(200)
  })
})

describe('what was used', () => {
  test('is a row for each key, tier and day, and nothing of calls that failed or were refused', async () => {
    const { client, components, clock, newKey, stop, store } = await served({ settings: withQuota(2) })
    const free = await newKey()
    const pro = await components.registry.createClientKey('Bob', clock.now(), {
      tier: 'pro',
      monthly_calls: null,
    })
    for (const key of [free, free, free, pro, pro, pro]) await client.get(FOUND, withKey(key))
    await client.get(MISSING, withKey(pro))
    clock.set('2026-03-02T00:00:00.000Z')
    await client.get(FOUND, withKey(pro))
    await stop()
    expect(await usageOf(store)).toEqual(
      [
        `${idOf(free)} of ${idOf(free)} free 2026-03-01 2`,
        `${idOf(pro)} of ${idOf(pro)} pro 2026-03-01 3`,
        `${idOf(pro)} of ${idOf(pro)} pro 2026-03-02 1`,
      ].toSorted(),
    )
  })

  test(
    'is known to the next process, before and after a release has taken it in',
    { tags: ['slow'] },
    async () => {
      const store = copyOf(released)
      const options = { store, settings: withQuota(5) }
      const first = await served(options)
      const key = withKey(await first.newKey())
      expect(await remaining(first.client.get(FOUND, key))).toBe(4)
      await first.client.get(MISSING, key)
      await first.stop()

      const second = await served(options)
      expect(await remaining(second.client.get(FOUND, key))).toBe(3)
      await second.stop()
      await runRelease(second.components, {})
      expect(await inboxRows(store, 'usage')).toEqual([])

      const third = await served(options)
      expect(await remaining(third.client.get(FOUND, key))).toBe(2)
      await third.stop()

      const inApril = await served({ ...options, clock: new Clock('2026-04-30T23:59:59.000Z') })
      expect(await remaining(inApril.client.get(FOUND, key))).toBe(4)
    },
  )

  test('by an account of two keys is known to the next process as of one', { tags: ['slow'] }, async () => {
    const options = { store: copyOf(released), settings: withQuota(5) }
    const first = await served(options)
    const old = await first.newKey()
    const { key } = await first.components.registry.rotateKey(idOf(old), new Date(NOW))
    for (const each of [old, key.key, key.key]) await first.client.get(FOUND, withKey(each))
    await first.stop()
    const second = await served(options)
    expect(await remaining(second.client.get(FOUND, withKey(old)))).toBe(1)
  })
})
