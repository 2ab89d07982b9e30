// Callers as they are found by their keys: what is looked up in the store, how often, and for how long it is remembered.
import { randomBytes } from 'node:crypto'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Callers } from '../../../api/limits/callers.ts'
import { newApiKey } from '../../../pipeline/access/api-key.ts'
import { Registry } from '../../../pipeline/access/registry.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Environment } from '../../../schemas/values.ts'
import { idOf } from '../../support/counted-calls.ts'
import { type Call, FaultStore } from '../../support/fault-store.ts'
import { Clock } from '../../support/service.ts'

const NOW = '2026-03-01T12:00:00.000Z'

function setUp(before?: (call: Call) => void | Promise<void>) {
  const clock = new Clock(NOW)
  const store = new FaultStore(new MemoryStore(), before ? { before } : {})
  const registry = new Registry({ store, environment: 'production', randomBytes })
  const callers = (ttlMs = 5_000) => new Callers(registry, ttlMs, clock.now)
  return { store, registry, callers }
}

/** A key that nobody was given, of the right form and with the right checksum. */
function unknownKey(environment: Environment = 'production'): string {
  return newApiKey(environment, randomBytes).key
}

describe('a key that does not exist', () => {
  test('of another environment is refused by its beginning, without a look into the store', async () => {
    const { callers, store } = setUp()
    await expect(callers().ofApiKey(unknownKey('sandbox'))).rejects.toThrow('works under /sandbox only')
    expect(store.calls).toEqual([])
  })

  test('costs no look into the store where its form is wrong, a hundred thousand times', async () => {
    const { callers, store } = setUp()
    const found = callers()
    const real = unknownKey()
    const keys = Array.from({ length: 100_000 }, (_, index) => {
      const kinds = [
        () => real.slice(0, -6) + String(index).padStart(6, '0'),
        () => `fv_live_${String(index).padStart(8, '0')}_${real.slice(-38)}`,
        () => `nonsense ${index}`,
        () => 'x'.repeat(index % 300),
      ]
      return kinds[index % kinds.length]!()
    })
    const wrong = keys.filter((key) => key !== real)
    const started = performance.now()
    let refused = 0
    for (const key of wrong) {
      await found.ofApiKey(key).catch(() => (refused += 1))
    }
    const seconds = (performance.now() - started) / 1000
    expect(refused).toBe(wrong.length)
    expect(store.calls).toHaveLength(0)
    console.info(
      `${wrong.length} invalid keys refused without a read, ${Math.round(refused / seconds)} a second`,
    )
  })

  test('costs one look-up where only its secret is wrong, also when it comes fifty times at once', async () => {
    const { callers, store } = setUp()
    const found = callers()
    const key = unknownKey()
    const ask = () =>
      found.ofApiKey(key).then(
        () => 'found',
        (error: unknown) => (error as { kind: string }).kind,
      )
    const answers = await Promise.all(Array.from({ length: 50 }, ask))
    answers.push(await ask())
    expect(new Set(answers)).toEqual(new Set(['unauthorized']))
    expect(store.calls).toHaveLength(1)
  })

  test('is looked up again after a look-up that failed', async () => {
    let broken = true
    const { callers, registry } = setUp(({ operation }) => {
      if (broken && operation === 'get') throw new Error('injected')
    })
    const found = callers()
    broken = false
    const key = await registry.createClientKey('Ada', new Date(NOW))
    broken = true
    await expect(found.ofApiKey(key)).rejects.toThrow('injected')
    broken = false
    expect(await found.ofApiKey(key)).toMatchObject({ owner: 'Ada' })
  })
})

describe('a revoked key', () => {
  test('is refused on every node once what the node remembers is too old', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let nowMs = performance.now()
    // The cache holds the real object, which fake timers leave alone.
    const spy = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
    onTestFinished(() => {
      spy.mockRestore()
      vi.useRealTimers()
    })
    const pass = (ms: number) => {
      nowMs += ms
      vi.advanceTimersByTime(ms)
    }
    const { callers, registry, store } = setUp()
    const [first, second] = [callers(10_000), callers(10_000)]
    const key = await registry.createClientKey('Ada', new Date(NOW))
    for (const node of [first, second]) expect(await node.ofApiKey(key)).toMatchObject({ owner: 'Ada' })
    await registry.revokeKey(idOf(key), new Date(NOW))
    const reads = store.count('get')
    pass(9_000)
    // Nobody asks the store in between.
    for (const node of [first, second]) expect(await node.ofApiKey(key)).toMatchObject({ owner: 'Ada' })
    expect(store.count('get')).toBe(reads)
    pass(1_100)
    for (const node of [first, second]) {
      await expect(node.ofApiKey(key)).rejects.toThrow('unknown or was revoked')
    }
  })
})
