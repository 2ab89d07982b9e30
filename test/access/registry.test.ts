// API keys in the store: their records, and how they are replaced and revoked.
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { Callers } from '../../api/limits/callers.ts'
import { type ApiKey, isWellFormedKey, newApiKey, redactKeys } from '../../pipeline/access/api-key.ts'
import { Registry } from '../../pipeline/access/registry.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { keyPath } from '../../pipeline/store/paths.ts'
import type { Environment } from '../../schemas/values.ts'
import { idOf } from '../support/http/counted-calls.ts'
import { type Call, FaultStore } from '../support/faults/fault-store.ts'
import { Clock } from '../support/http/service.ts'
import { uuidOf } from '../support/worlds/world.ts'

const NOW = '2026-03-01T12:00:00.000Z'
const HOUR_MS = 3_600_000

function setUp(before?: (call: Call) => void | Promise<void>) {
  const clock = new Clock(NOW)
  const objects = new MemoryStore()
  const store = new FaultStore(objects, before ? { before } : {})
  const registry = new Registry({ store, environment: 'production', randomBytes })
  const callers = (ttlMs = 5_000) => new Callers(registry, ttlMs, clock.now)
  return { clock, objects, store, registry, callers }
}

const later = (ms: number) => new Date(Date.parse(NOW) + ms)
/** The secret and the checksum of a key. */
const secretOf = (key: string) => key.slice(-38)

/** A key that was never issued, but has the right form and checksum. */
function unknownKey(environment: Environment = 'production'): string {
  return newApiKey(environment, randomBytes).key
}

describe('a key', () => {
  test('begins with its environment and its id, and ends with a checksum', () => {
    for (const [environment, prefix] of [
      ['production', 'fv_live_'],
      ['sandbox', 'fv_test_'],
    ] as const) {
      const { key, id } = newApiKey(environment, randomBytes)
      expect(key).toMatch(new RegExp(`^${prefix}${id}_[0-9A-Za-z]{38}$`))
      expect(isWellFormedKey(key)).toBe(true)
    }
  })

  test('with any one character changed, left out or added is not well-formed', () => {
    const key = unknownKey()
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === 'x' ? 'y' : 'x'
      for (const wrong of [
        key.slice(0, at) + other + key.slice(at + 1),
        key.slice(0, at) + key.slice(at + 1),
        key.slice(0, at) + other + key.slice(at),
      ]) {
        expect(isWellFormedKey(wrong), wrong).toBe(false)
      }
    }
    for (const wrong of [`${key}\n`, ` ${key}`, key.toUpperCase()]) expect(isWellFormedKey(wrong)).toBe(false)
  })

  test('is redacted anywhere in a text, also with its underscores percent-encoded', () => {
    const key = unknownKey()
    for (const text of [
      key,
      `"${key}"`,
      `/a/${key}?b=${key}`,
      `x${key}x`,
      key.replaceAll('_', '%5F'),
      `${key}${key}`,
    ]) {
      const redacted = redactKeys(text)
      expect(redacted).not.toContain(secretOf(key).slice(0, 8))
      expect(redacted).toContain(idOf(key))
    }
    expect(redactKeys('fv_live_ is how they begin')).toBe('fv_live_ is how they begin')
  })

  test('is redacted however its characters are percent-encoded, also when they are so twice or in part', () => {
    const encoded = (text: string, every: number) =>
      Array.from(text, (character, index) =>
        index % every === 0 ? `%${character.charCodeAt(0).toString(16)}` : character,
      ).join('')
    const decoded = (text: string): string => {
      const next = text.replace(/%([0-7][0-9a-f])/gi, (_code, hex: string) =>
        String.fromCharCode(parseInt(hex, 16)),
      )
      return next === text ? text : decoded(next)
    }
    for (let round = 0; round < 20; round++) {
      const key = unknownKey()
      for (const every of [1, 2, 3, 7]) {
        const once = encoded(key, every)
        const twice = once.replaceAll('%', '%25')
        const upper = once.replace(/%../g, (code) => code.toUpperCase())
        for (const text of [once, upper, twice, twice.replaceAll('%', '%25')]) {
          for (const line of [text, `/agents/${text}/verification?x=1`, `/questions?cursor=${text}`]) {
            expect(decoded(redactKeys(line))).not.toContain(secretOf(key).slice(0, 8))
          }
        }
      }
    }
  })

  test('is in the store only as its SHA-256, whatever is done with it', async () => {
    const { registry, objects } = setUp()
    const first = await registry.createClientKey('Ada', later(0))
    const rotated = await registry.rotateKey(idOf(first), later(1))
    const agent = registry.newKey()
    await registry.createAgent(uuidOf(9, 1), agent, later(2))
    await registry.revokeKey(agent.id, later(3))
    expect(objects.objects.size).toBe(5)
    for (const [path, bytes] of objects.objects) {
      const content = path + Buffer.from(bytes).toString('latin1')
      for (const key of [first, rotated.key.key, agent.key]) {
        expect(content).not.toContain(secretOf(key))
        expect(content).not.toContain(secretOf(key).slice(0, 32))
      }
    }
  })

  test('works at once on any node, and gives its owner', async () => {
    const { registry, callers } = setUp()
    const key = await registry.createClientKey('Ada', later(0), { tier: 'enterprise', monthly_calls: 7 })
    const agent = registry.newKey()
    await registry.createAgent(uuidOf(9, 1), agent, later(0))
    expect(await callers().ofApiKey(key)).toMatchObject({
      kind: 'client',
      owner: 'Ada',
      tier: 'enterprise',
      monthly_calls: 7,
      key_id: idOf(key),
      account_id: idOf(key),
    })
    expect(await callers().ofApiKey(agent.key)).toMatchObject({ kind: 'agent', tier: 'free' })
    expect(await callers().ofBearer([`Bearer ${agent.key}`])).toMatchObject({ agent_id: uuidOf(9, 1) })
    await expect(callers().ofBearer([`Bearer ${key}`])).rejects.toMatchObject({ kind: 'unauthorized' })
  })
})

describe('a revoked key', () => {
  test('keeps the time at which it was first revoked', async () => {
    const { registry } = setUp()
    const key = await registry.createClientKey('Ada', later(0))
    const first = await registry.revokeKey(idOf(key), later(1))
    expect(await registry.revokeKey(idOf(key), later(HOUR_MS))).toEqual(first)
    expect(first.revoked_at).toBe(later(1).toISOString())
  })
})

describe('rotating a key', () => {
  test('gives another of the same account and kind, and ends the old one after 24 hours', async () => {
    const { registry, callers, clock } = setUp()
    const old = await registry.createClientKey('Ada', later(0), { tier: 'enterprise', monthly_calls: 7 })
    const { key, replaced } = await registry.rotateKey(idOf(old), later(0))
    const whole = {
      kind: 'client',
      owner: 'Ada',
      tier: 'enterprise',
      monthly_calls: 7,
      account_id: idOf(old),
    }
    expect(replaced).toMatchObject({
      ...whole,
      key_id: idOf(old),
      expires_at: later(24 * HOUR_MS).toISOString(),
    })
    const node = callers()
    expect(await node.ofApiKey(old)).toMatchObject(whole)
    expect(await node.ofApiKey(key.key)).toMatchObject({ ...whole, key_id: key.id, expires_at: null })
    clock.set(later(24 * HOUR_MS - 1).toISOString())
    expect(await node.ofApiKey(old)).toMatchObject(whole)
    clock.set(later(24 * HOUR_MS).toISOString())
    await expect(node.ofApiKey(old)).rejects.toThrow('unknown or was revoked')
    expect(await node.ofApiKey(key.key)).toMatchObject(whole)
  })

  test('may be repeated with each new key, and the account stays the first one', async () => {
    const { registry } = setUp()
    const first = await registry.createClientKey('Ada', later(0))
    const second = await registry.rotateKey(idOf(first), later(1))
    const third = await registry.rotateKey(second.key.id, later(2))
    expect(await registry.findKey(third.key.key)).toMatchObject({ account_id: idOf(first) })
  })

  test('twice is a conflict and changes nothing', async () => {
    const { registry, objects } = setUp()
    const id = idOf(await registry.createClientKey('Ada', later(0)))
    await registry.rotateKey(id, later(1))
    const before = new Map(objects.objects)
    await expect(registry.rotateKey(id, later(2))).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining(
        `the key ${id} was rotated already, with its end at ${later(1 + 24 * HOUR_MS).toISOString()}`,
      ) as string,
    })
    expect(objects.objects).toEqual(before)
  })

  test('of a revoked key gives its holder another, once, and the old one stays revoked', async () => {
    const { registry, callers } = setUp()
    const agent = { id: uuidOf(9, 1), key: registry.newKey() }
    await registry.createAgent(agent.id, agent.key, later(0))
    await registry.revokeKey(agent.key.id, later(1))
    const { key, replaced } = await registry.rotateKey(agent.key.id, later(2))
    expect(replaced).toMatchObject({ revoked_at: later(1).toISOString(), expires_at: later(1).toISOString() })
    const node = callers()
    await expect(node.ofBearer([`Bearer ${agent.key.key}`])).rejects.toMatchObject({ kind: 'unauthorized' })
    expect(await node.ofBearer([`Bearer ${key.key}`])).toMatchObject({
      agent_id: agent.id,
      account_id: agent.key.id,
    })
    await expect(registry.rotateKey(agent.key.id, later(3))).rejects.toMatchObject({ kind: 'conflict' })
  })

  test('does not undo a revocation that happens while it creates the other key', async () => {
    const world = setUp(async ({ operation, path }) => {
      // The second object of a rotation, the record of the other API key.
      if (!rotating || operation !== 'putIfAbsent' || !path.startsWith('registry/keys/')) return
      rotating = false
      await world.registry.revokeKey(idOf(old), later(1))
    })
    let rotating = false
    const old = await world.registry.createClientKey('Ada', later(0))
    rotating = true
    expect((await world.registry.rotateKey(idOf(old), later(0))).replaced).toMatchObject({
      expires_at: later(1).toISOString(),
    })
    expect(rotating).toBe(false)
    expect(await world.registry.findKey(old)).toMatchObject({ revoked_at: later(1).toISOString() })
  })

  test('by a thief that is under way while the keys of the agent are reset ends with them', async () => {
    const agentId = uuidOf(9, 1)
    let reset: Promise<ApiKey> | undefined
    const world = setUp(async ({ operation, path }) => {
      if (reset || !rotating || operation !== 'putIfAbsent' || !path.startsWith('registry/keys/')) return
      reset = world.registry.resetKeys(agentId, later(1))
      await reset
    })
    let rotating = false
    const [first, stolen] = [world.registry.firstKey(agentId), world.registry.newKey()]
    await world.registry.createAgent(agentId, first, later(0))
    rotating = true
    await expect(
      world.registry.rotateKey(first.id, later(1), stolen, { isByHolder: true }),
    ).rejects.toMatchObject({ kind: 'unauthorized' })
    const node = world.callers()
    for (const { key } of [first, stolen]) {
      await expect(node.ofBearer([`Bearer ${key}`])).rejects.toMatchObject({ kind: 'unauthorized' })
    }
    expect(await node.ofBearer([`Bearer ${(await reset!).key}`])).toMatchObject({ agent_id: agentId })
  })

  test('of one key twice at once gives one key in its place, and the other rotation is refused', async () => {
    let rival: Promise<unknown> | undefined
    const world = setUp(async ({ operation, path }) => {
      if (rival || operation !== 'putIfAbsent' || !path.startsWith('registry/keys/') || !old) return
      rival = world.registry.rotateKey(idOf(old), later(1))
      await rival
    })
    let old = ''
    old = await world.registry.createClientKey('Ada', later(0))
    await expect(world.registry.rotateKey(idOf(old), later(0))).rejects.toMatchObject({ kind: 'conflict' })
    const won = (await rival) as { key: { key: string } }
    expect(await world.registry.findKey(won.key.key)).toMatchObject({ revoked_at: null })
    const records = await Array.fromAsync(world.registry.listKeys())
    expect(records.filter((record) => record.expires_at === null && record.revoked_at === null)).toHaveLength(
      1,
    )
  })

  test.for(['setQuota', 'rotateKey'] as const)(
    'a %s that is about to write does not undo a revocation, nor does the revocation undo it',
    async (change) => {
      let isWriting = false
      const world = setUp(async ({ operation, path }) => {
        if (!isWriting || operation !== 'put' || !path.startsWith('registry/keys/')) return
        isWriting = false
        await world.registry.revokeKey(idOf(key), later(1))
      })
      const key = await world.registry.createClientKey('Ada', later(0))
      isWriting = true
      if (change === 'setQuota')
        await world.registry.setQuota(idOf(key), { tier: 'pro', monthly_calls: null })
      else await world.registry.rotateKey(idOf(key), later(0))
      expect(isWriting).toBe(false)
      expect(await world.registry.findKey(key)).toMatchObject({
        revoked_at: later(1).toISOString(),
        ...(change === 'setQuota' ? { tier: 'pro' } : { expires_at: later(1).toISOString() }),
      })
    },
  )

  test('that overwrites a revocation is noticed by the revocation', async () => {
    let revoking = false
    let unrevoked: Map<string, Uint8Array> | undefined
    const world = setUp(({ operation }) => {
      if (revoking && operation === 'put') unrevoked = new Map(world.objects.objects)
      // The rotation writes, after the revocation, the record that it read before.
      if (operation !== 'get' || !unrevoked) return
      for (const [path, bytes] of unrevoked) world.objects.objects.set(path, bytes)
      unrevoked = undefined
      revoking = false
    })
    const key = await world.registry.createClientKey('Ada', later(0))
    revoking = true
    await world.registry.revokeKey(idOf(key), later(1))
    expect(await world.registry.findKey(key)).toMatchObject({ revoked_at: later(1).toISOString() })
  })
})

test('an unknown id is refused, and a whole key given instead of an id is not repeated in the message', async () => {
  const { registry } = setUp()
  const key = await registry.createClientKey('Ada', later(0))
  for (const wrong of ['abcdefgh', '', '../x', key, `${idOf(key)}x`]) {
    for (const attempt of [registry.revokeKey(wrong, later(1)), registry.rotateKey(wrong, later(1))]) {
      await expect(attempt).rejects.toMatchObject({
        kind: 'notFound',
        message: expect.not.stringContaining(secretOf(key)) as string,
      })
    }
  }
  expect(await registry.findKey(key)).toMatchObject({ revoked_at: null, expires_at: null })
})

test('a random id that another key has is not issued again', async () => {
  const objects = new MemoryStore()
  let draws = 0
  // Each key gets the same id and another secret.
  const random = (size: number) => {
    draws += 1
    return size === 8 ? new Uint8Array(8) : new Uint8Array(size).fill(draws % 60)
  }
  const registry = new Registry({ store: objects, environment: 'production', randomBytes: random })
  const first = await registry.createClientKey('Ada', later(0))
  await expect(registry.createClientKey('Bob', later(0))).rejects.toMatchObject({ kind: 'unavailable' })
  expect(await registry.findKey(first)).toMatchObject({ owner: 'Ada' })
  expect(await Array.fromAsync(registry.listKeys())).toHaveLength(1)
})

test('look-ups use at most a part of the connections to the store, and more than a thousand waiting are refused', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  let held = 0
  const { registry, store } = setUp(async ({ operation }) => {
    if (operation !== 'get') return
    held += 1
    await answered
  })
  const unknown = Array.from({ length: 1_016 }, () => registry.findKey(unknownKey()))
  await expect.poll(() => held).toBe(16)
  await expect(registry.findAgent(uuidOf(9, 1))).rejects.toMatchObject({
    kind: 'unavailable',
    retryAfterS: 5,
  })
  // Writers do not wait for them.
  expect(await store.putIfAbsent('probe/a', new Uint8Array())).toBe(true)
  expect(held).toBe(16)
  answer()
  expect(new Set(await Promise.all(unknown))).toEqual(new Set([undefined]))
  expect(await registry.findAgent(uuidOf(9, 1))).toBeUndefined()
})

test('an agent and its first key are one record', async () => {
  const { registry, objects } = setUp()
  const key = registry.firstKey(uuidOf(9, 1))
  await registry.createAgent(uuidOf(9, 1), key, later(0))
  await registry.createAgent(uuidOf(9, 1), key, later(0))
  expect([...objects.objects.keys()]).toEqual([keyPath(key.id)])
  expect(await registry.findAgent(uuidOf(9, 1))).toEqual({
    agent_id: uuidOf(9, 1),
    registered_at: later(0).toISOString(),
  })
  expect(await registry.findAgent(uuidOf(9, 2))).toBeUndefined()
})
