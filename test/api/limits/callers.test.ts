// Callers as they are found by their keys: what is looked up in the store, how often, and for how long it is
// remembered.
import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Callers } from '../../../api/limits/callers.ts'
import { newApiKey } from '../../../pipeline/access/api-key.ts'
import { Registry } from '../../../pipeline/access/registry.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Environment } from '../../../schemas/values.ts'
import { idOf } from '../../support/http/counted-calls.ts'
import { type Call, FaultStore } from '../../support/faults/fault-store.ts'
import { Clock } from '../../support/http/service.ts'

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

  test(
    'costs no look into the store where its form is wrong, a hundred thousand times',
    { tags: ['slow'] },
    async () => {
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
    },
  )

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

/** Time that passes only when it is told to, for the cache too, which holds the real `performance`. */
function timeThatPasses(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let nowMs = performance.now()
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  onTestFinished(() => {
    spy.mockRestore()
    vi.useRealTimers()
  })
  return (ms) => {
    nowMs += ms
    vi.advanceTimersByTime(ms)
  }
}

describe('a revoked key', () => {
  test('is refused on every node once what the node remembers is too old', async () => {
    const pass = timeThatPasses()
    const { callers, registry, store } = setUp()
    const [first, second] = [callers(10_000), callers(10_000)]
    const key = await registry.createClientKey('Ada', new Date(NOW))
    for (const node of [first, second]) expect(await node.ofApiKey(key)).toMatchObject({ owner: 'Ada' })
    await registry.revokeKey(idOf(key), new Date(NOW))
    const reads = store.count('get')
    pass(4_900)
    // Nobody asks the store in between.
    for (const node of [first, second]) expect(await node.ofApiKey(key)).toMatchObject({ owner: 'Ada' })
    expect(store.count('get')).toBe(reads)
    pass(5_200)
    for (const node of [first, second]) {
      await expect(node.ofApiKey(key)).rejects.toThrow('unknown or was revoked')
    }
  })

  test('is refused as soon as a call in the second half of that time has had it looked up', async () => {
    const pass = timeThatPasses()
    const { callers, registry } = setUp()
    const node = callers(10_000)
    const key = await registry.createClientKey('Ada', new Date(NOW))
    await node.ofApiKey(key)
    await registry.revokeKey(idOf(key), new Date(NOW))
    pass(6_000)
    expect(await node.ofApiKey(key)).toMatchObject({ owner: 'Ada' })
    await turn()
    await expect(node.ofApiKey(key)).rejects.toThrow('unknown or was revoked')
  })
})

/** Returns the caller of a key; undefined if that takes waiting for the store. */
const atOnce = (node: Callers, key: string) => Promise.race([node.ofApiKey(key), turn()])

describe('a key that is used all the time', () => {
  /** A node that knows a key for five of ten seconds; what is read of the store from now on is held back. */
  async function heldNode() {
    const pass = timeThatPasses()
    let held: Promise<void> | undefined
    const { callers, registry, store } = setUp(({ operation }) => (operation === 'get' ? held : undefined))
    const node = callers(10_000)
    const key = await registry.createClientKey('Ada', new Date(NOW))
    await node.ofApiKey(key)
    pass(6_000)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    held = promise
    const reads = store.count('get')
    const again = () => store.count('get') - reads
    const end = (error?: Error) => {
      held = undefined
      if (error) reject(error)
      else resolve()
    }
    return { node, key, pass, again, end }
  }

  test('is looked up again once, and no call waits for it', async () => {
    const { node, key, pass, again, end } = await heldNode()
    for (let call = 0; call < 3; call++) expect(await atOnce(node, key)).toMatchObject({ owner: 'Ada' })
    expect(again()).toBe(1)
    end()
    await turn()
    pass(4_500)
    expect(await atOnce(node, key)).toMatchObject({ owner: 'Ada' })
    expect(again()).toBe(1)
  })

  test('works until its time is over where that fails, and no longer', async () => {
    const { node, key, pass, again, end } = await heldNode()
    expect(await atOnce(node, key)).toMatchObject({ owner: 'Ada' })
    await expect.poll(again).toBe(1)
    end(new Error('injected'))
    await turn()
    expect(await atOnce(node, key)).toMatchObject({ owner: 'Ada' })
    pass(4_100)
    await node.ofApiKey(key)
    expect(again()).toBe(2)
  })

  test('is no attempt when it is looked up again after its time is over', async () => {
    const { node, key, pass, again, end } = await heldNode()
    end()
    pass(5_000)
    const refuse = () => Promise.reject(new Error('no attempt is left'))
    const guard = { assertAttemptLeft: refuse, hold: refuse }
    expect(await node.ofApiKey(key, guard)).toMatchObject({ owner: 'Ada' })
    expect(again()).toBe(1)
    for (const wrong of [unknownKey(), 'x', undefined]) {
      await expect(node.ofApiKey(wrong, guard)).rejects.toThrow('no attempt is left')
    }
  })

  test('is waited for once its time is over, however long the store takes', async () => {
    const { node, key, pass, end } = await heldNode()
    expect(await atOnce(node, key)).toMatchObject({ owner: 'Ada' })
    pass(4_100)
    expect(await atOnce(node, key)).toBeUndefined()
    let isAnswered = false
    const waiting = node.ofApiKey(key).finally(() => (isAnswered = true))
    await turn()
    expect(isAnswered).toBe(false)
    end()
    expect(await waiting).toMatchObject({ owner: 'Ada' })
  })
})
