// How often a node looks at the store: at its usual pace while it is asked, seldom while it is not, and
// before a call that comes after a rest.
import { describe, expect, onTestFinished, test } from 'vitest'
import { Follower, type Pause } from '../../../jobs/serve/follower.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { FaultStore, madeByCalls } from '../../support/faults/fault-store.ts'
import { testComponents, testService } from '../../support/http/service.ts'
import { copyReleasedWorld, forecasterId } from '../../support/worlds/world.ts'

const REFRESH_MS = 500

/** A follower whose time passes when the test says so. */
function setUp(
  follow: () => Promise<void> = () => Promise.resolve(),
  settings: { firstLookMs?: number; patienceMs?: number } = {},
) {
  let nowMs = 0
  let looks = 0
  const waiting = new Set<{ atMs: number; end: (elapsed: boolean) => void }>()
  const pause: Pause = (milliseconds, signal) =>
    new Promise((resolve) => {
      const entry = {
        atMs: nowMs + milliseconds,
        end: (elapsed: boolean) => {
          waiting.delete(entry)
          resolve(elapsed)
        },
      }
      waiting.add(entry)
      signal.addEventListener('abort', () => {
        entry.end(false)
      })
    })
  const follower = new Follower({
    ...settings,
    refreshMs: REFRESH_MS,
    pause,
    follow: () => {
      looks += 1
      return follow()
    },
  })
  onTestFinished(() => follower.stop())
  return {
    follower,
    looks: () => looks,
    pass: async (milliseconds: number) => {
      for (const endMs = nowMs + milliseconds; nowMs < endMs;) {
        nowMs = Math.min(endMs, ...[...waiting].map(({ atMs }) => atMs))
        for (const { atMs, end } of waiting) if (atMs <= nowMs) end(true)
        await new Promise(setImmediate)
      }
    },
  }
}

describe('a follower', () => {
  test('that is asked again and again looks at its usual pace, and no call waits', async () => {
    const { follower, looks, pass } = setUp()
    for (let call = 0; call < 100; call++) {
      await follower.catchUp()
      await pass(REFRESH_MS / 5)
    }
    expect(looks()).toBe(20)
  })

  test('that nobody asks looks four times a minute', async () => {
    const { looks, pass } = setUp()
    await pass(10 * 60_000)
    expect(looks()).toBe(40)
  })

  test('that rests looks before it lets a call go on, once for all calls that wait', async () => {
    let known = 0
    let written = 0
    const gate = Promise.withResolvers<void>()
    const { follower, looks, pass } = setUp(async () => {
      const seen = written
      await gate.promise
      known = seen
    })
    await pass(2 * REFRESH_MS)
    written = 1
    const calls = Promise.all(
      Array.from({ length: 10 }, async () => {
        await follower.catchUp()
        return known
      }),
    )
    expect(known).toBe(0)
    gate.resolve()
    expect(new Set(await calls)).toEqual(new Set([1]))
    expect(looks()).toBe(1)
  })

  test('goes back to its usual pace with the first call after a rest', async () => {
    const { follower, looks, pass } = setUp()
    await pass(5_000)
    expect(looks()).toBe(0)
    await follower.catchUp()
    expect(looks()).toBe(1)
    await pass(REFRESH_MS)
    expect(looks()).toBe(2)
    await pass(5_000)
    expect(looks()).toBe(2)
  })

  test('lets calls go on after half a second where the store says nothing, and later ones at once', async () => {
    const gate = Promise.withResolvers<void>()
    const { follower, looks, pass } = setUp(() => gate.promise)
    await pass(2 * REFRESH_MS)
    let answered = 0
    const call = () => follower.catchUp().then(() => (answered += 1))
    void call()
    void call()
    await pass(499)
    expect(answered).toBe(0)
    await pass(1)
    expect(answered).toBe(2)
    await call()
    expect(looks()).toBe(1)
    gate.resolve()
  })

  test('tells calls whether it has looked since it rested', async () => {
    const gate = Promise.withResolvers<void>()
    const { follower, pass } = setUp(() => gate.promise)
    await pass(3 * REFRESH_MS)
    const early = follower.catchUp()
    await pass(500)
    expect(await early).toBe(false)
    expect(await follower.catchUp()).toBe(false)
    gate.resolve()
    await pass(1)
    expect(await follower.catchUp()).toBe(true)
  })

  test('that begins behind looks by itself after a time', async () => {
    const { looks, pass } = setUp(undefined, { firstLookMs: 100 })
    await pass(99)
    expect(looks()).toBe(0)
    await pass(1)
    expect(looks()).toBe(1)
  })

  test('that begins behind looks as soon as a call wants it, and tells so until it has looked', async () => {
    const gate = Promise.withResolvers<void>()
    const { follower, looks, pass } = setUp(() => gate.promise, { firstLookMs: 100, patienceMs: 50 })
    const early = follower.catchUp()
    await pass(50)
    expect(await early).toBe(false)
    gate.resolve()
    await pass(1)
    expect(await follower.catchUp()).toBe(true)
    await pass(REFRESH_MS - 100)
    expect(looks()).toBe(1)
  })
})

describe('a node', () => {
  test('asks a store that holds nothing for five objects a look, and lists nothing', async () => {
    const store = new FaultStore(new MemoryStore())
    const { client } = await testService(await testComponents({ store }))
    store.calls.length = 0
    const looked = () => madeByCalls(store).map(({ operation, path }) => `${operation} ${path}`)
    await expect.poll(async () => (await client.get('/questions'), looked().length)).toBeGreaterThan(10)
    expect(new Set(looked())).toEqual(
      new Set([
        'get tables/events/_delta_log/00000000000000000000.json',
        'get tables/questions/_delta_log/00000000000000000000.json',
        'get tables/resolutions/_delta_log/00000000000000000000.json',
        'range credentials/00000001.json',
        'range releases/00000001/manifest.json',
      ]),
    )
  })

  test('asks a store with a release for five objects a look too', async () => {
    const store = new FaultStore(new MemoryStore())
    await copyReleasedWorld(store)
    const { client } = await testService(await testComponents({ store }))
    store.calls.length = 0
    const looked = () => madeByCalls(store).map(({ operation, path }) => `${operation} ${path}`)
    await expect.poll(async () => (await client.get('/questions'), looked().length)).toBeGreaterThan(10)
    expect(new Set(looked())).toEqual(
      new Set([
        'get tables/events/_delta_log/00000000000000000001.json',
        'get tables/questions/_delta_log/00000000000000000002.json',
        'get tables/resolutions/_delta_log/00000000000000000002.json',
        'range credentials/00000001.json',
        'range releases/00000002/manifest.json',
      ]),
    )
    expect((await client.get(`/forecaster/${forecasterId(0)}/metrics`)).status).toBe(200)
  })
})
