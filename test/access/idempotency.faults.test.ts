// Calls with an Idempotency-Key that are cut off, swept or overlap in any order: one effect and one answer.
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type IdempotentWork, sealedBytes } from '../../pipeline/access/idempotency.ts'
import type { ApiKey } from '../../pipeline/access/api-key.ts'
import { Registry } from '../../pipeline/access/registry.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { FAULTS, type Fault, FaultStore } from '../support/faults/fault-store.ts'
import {
  ANOTHER,
  type Answer,
  HOUR_MS,
  KEY,
  LEASE_MS,
  REQUEST,
  START,
  WRITES_OF_A_CALL,
  claimIn,
  distinctEffects,
  effects,
  everythingIn,
  forecast,
  meetingAt,
  newNode,
  outcome,
  passMs,
  refuse,
  sweepAll,
  world,
} from '../support/http/idempotent-calls.ts'
import { Clock } from '../support/http/service.ts'
import { runs } from '../support/runs.ts'

describe('a call that is cut off', () => {
  test('by a commit that fails is taken over by an immediate retry, with the same id', async () => {
    for (const fault of FAULTS) {
      const { store, node } = world()
      const broken = new FaultStore(store, { at: 2, fault })
      await expect(node(broken).run(REQUEST, forecast(broken)), fault).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('injected') as string,
      })
      const claim = await claimIn(store)
      expect(claim, fault).toMatchObject({ state: 'interrupted' })
      const answer = await node().run(REQUEST, forecast(store))
      expect(answer, fault).toMatchObject({ id: claim.id, at: claim.at })
      expect(distinctEffects(store), fault).toEqual([answer])
      expect(effects(store), fault).toHaveLength(fault === 'failed' ? 1 : 2)
    }
  })

  test('by an answer that cannot be made is taken over too', async () => {
    const { store, node } = world()
    const answer = () => {
      throw new ServiceError('corrupt', 'no answer')
    }
    await expect(node().run(REQUEST, { ...forecast(store), answer })).rejects.toThrow('no answer')
    expect(await claimIn(store)).toMatchObject({ state: 'interrupted' })
    expect(effects(store)).toEqual([])
    const made = await node().run(REQUEST, forecast(store))
    expect(effects(store)).toEqual([made])
  })

  const cuts = FAULTS.flatMap((fault) =>
    [false, true].flatMap((crash) => [1, 2, 3].map((at) => [at, fault, crash] as const)),
  )
  test.for(cuts)('at write %i, %s, crash %s: retries take effect once, with one answer', async (cut) => {
    const [at, fault, crash] = cut
    const { store, node, clock } = world()
    const broken = new FaultStore(store, { at, fault, crash })
    const first = await outcome(node(broken).run(REQUEST, forecast(broken)))
    expect(broken.failed).toBe(true)
    const retried = await outcome(node().run(REQUEST, forecast(store)))
    passMs(clock, LEASE_MS)
    const answer = await node().run(REQUEST, forecast(store))
    expect(distinctEffects(store)).toEqual([answer])
    // An answered call can have lost only the note that it is done.
    expect(first.answer).toEqual(at === WRITES_OF_A_CALL ? answer : undefined)
    if (retried.answer) expect(retried.answer).toEqual(answer)
    else expect(retried.error).toMatchObject({ kind: 'conflict', retryAfterS: 10 })
    expect(await claimIn(store)).toMatchObject({ id: answer.id, state: 'done' })
  })

  test.for(FAULTS)('while it is taken over, at any write that %s, is taken over again', async (fault) => {
    for (let at = 1; at <= 3; at++) {
      const { store, node, clock } = world()
      const dead = new FaultStore(store, { at: 2, fault: 'failed', crash: true })
      await outcome(node(dead).run(REQUEST, forecast(dead)))
      const claim = await claimIn(store)
      passMs(clock, LEASE_MS)
      const broken = new FaultStore(store, { at, fault, crash: true })
      await outcome(node(broken).run(REQUEST, forecast(broken)))
      const answer = await node().run(REQUEST, forecast(store))
      expect(answer, `${at}`).toMatchObject({ id: claim.id })
      expect(distinctEffects(store), `${at}`).toEqual([answer])
    }
  })

  test('between the claim and its confirmation, by a client of the store that repeats the create, goes on', async () => {
    const { store, node } = world()
    // As an S3 client that gets no answer, sends the create again and is refused.
    const repeating: Store = Object.assign(new FaultStore(store), {
      putIfAbsent: async (path: string, bytes: Uint8Array) => {
        await store.putIfAbsent(path, bytes)
        return store.putIfAbsent(path, bytes)
      },
    })
    const answer = await node(repeating).run(REQUEST, forecast(store))
    expect(effects(store)).toEqual([answer])
    expect(await claimIn(store)).toMatchObject({ id: answer.id, state: 'done' })
  })
})

/** A store whose claim of `REQUEST` was done long ago and swept. */
async function sweptWorld() {
  const clock = new Clock(new Date(START).toISOString())
  const made = world(new MemoryStore(clock.now), clock)
  const old = await made.node().run(REQUEST, forecast(made.store))
  passMs(clock, 48 * HOUR_MS + 1)
  expect(await sweepAll(made.store, clock.now())).toBe(1)
  return { ...made, old }
}

describe('a claim of days ago', () => {
  test('holds for as long as it is stored', async () => {
    const { store, node, clock } = world()
    const answer = await node().run(REQUEST, forecast(store))
    const before = everythingIn(store)
    for (const hours of [24, 24, 47]) {
      passMs(clock, hours * HOUR_MS)
      expect(await node().run(REQUEST, forecast(store))).toEqual(answer)
      await expect(node().run(ANOTHER, forecast(store))).rejects.toMatchObject({ kind: 'invalid' })
    }
    expect(everythingIn(store)).toBe(before)
  })

  test('stays if the request is refused', async () => {
    const { store, node, clock } = world()
    await outcome(node().run(REQUEST, { ...forecast(store), commit: refuse('corrupt') }))
    passMs(clock, 24 * HOUR_MS)
    const before = everythingIn(store)
    const refused = { ...forecast(store), check: refuse('invalid') }
    await expect(node().run(REQUEST, refused)).rejects.toMatchObject({ kind: 'invalid' })
    expect(everythingIn(store)).toBe(before)
  })

  test('that was interrupted is taken over by any number of nodes, with the same id', async () => {
    for (const dead of [2, 3]) {
      const { store, node, clock } = world()
      const broken = new FaultStore(store, { at: dead, fault: 'failed', crash: true })
      await outcome(node(broken).run(REQUEST, forecast(broken)))
      const claim = await claimIn(store)
      passMs(clock, 25 * HOUR_MS)
      const outcomes = await Promise.all(
        [node(), node(), node()].map((each) => outcome(each.run(REQUEST, forecast(store)))),
      )
      const answers = outcomes.flatMap(({ answer }) => answer ?? [])
      expect(answers.length).toBeGreaterThanOrEqual(1)
      for (const answer of answers) expect(answer).toMatchObject({ id: claim.id, at: claim.at })
      expect(distinctEffects(store)).toEqual([answers[0]])
    }
  })
})

describe('a claim that was swept', () => {
  test('has no effect on the same request or another', async () => {
    for (const again of [REQUEST, ANOTHER]) {
      const { store, node, old } = await sweptWorld()
      const answer = await node().run(again, forecast(store))
      expect(answer.id).not.toBe(old.id)
      expect(await claimIn(store)).toMatchObject({ id: answer.id, state: 'done' })
      expect(await node().run(again, forecast(store))).toEqual(answer)
      expect(effects(store)).toHaveLength(2)
    }
  })

  test('is replaced once by any number of nodes that miss it at the same time', async () => {
    const { store, node, old } = await sweptWorld()
    const outcomes = await Promise.all(
      meetingAt(store, 3).map((each) => outcome(node(each).run(REQUEST, forecast(each)))),
    )
    const ids = new Set(outcomes.flatMap(({ answer }) => answer?.id ?? []))
    expect(ids.size).toBe(1)
    expect(ids).not.toContain(old.id)
    expect(effects(store)).toHaveLength(2)
  })

  test('is missed by a slow node, although another has replaced it and is done: both answer the same', async () => {
    const { store, node } = await sweptWorld()
    let fast: Answer | undefined
    const slow = new FaultStore(store, {
      before: async ({ operation }) => {
        if (operation === 'putIfAbsent' && !fast) fast = await node().run(REQUEST, forecast(store))
      },
    })
    expect(await node(slow).run(REQUEST, forecast(slow))).toEqual(fast)
    expect(effects(store)).toHaveLength(2)
  })

  test('is looked for by a node just before another replaces it and is done: both answer the same', async () => {
    const { store, node } = await sweptWorld()
    let fast: Answer | undefined
    const slow: FaultStore = new FaultStore(store, {
      before: async () => {
        if (slow.count('get') === 1 && !fast) fast = await node().run(REQUEST, forecast(store))
      },
    })
    expect(await node(slow).run(REQUEST, forecast(slow))).toEqual(fast)
    expect(effects(store)).toHaveLength(2)
    expect(slow.writes).toBe(0)
  })

  test('is followed by one claim however often its replacement is cut off', async () => {
    for (const fault of FAULTS) {
      for (let at = 1; at <= WRITES_OF_A_CALL; at++) {
        const { store, node, clock, old } = await sweptWorld()
        const broken = new FaultStore(store, { at, fault, crash: true })
        await outcome(node(broken).run(REQUEST, forecast(broken)))
        expect(broken.failed).toBe(true)
        passMs(clock, LEASE_MS)
        const answer = await node().run(REQUEST, forecast(store))
        expect(await node().run(REQUEST, forecast(store)), `${fault} at ${at}`).toEqual(answer)
        const distinct = distinctEffects(store)
        expect(new Set(distinct.map(({ id }) => id)), `${fault} at ${at}`).toEqual(
          new Set([old.id, answer.id]),
        )
      }
    }
  })
})

describe('any interleaving', () => {
  const cut = fc.option(
    fc.record({
      at: fc.integer({ min: 1, max: 4 }),
      fault: fc.constantFrom<Fault>(...FAULTS),
      crash: fc.boolean(),
    }),
    { nil: {} },
  )
  test('of retries on two nodes, over faults, takeovers and a swept claim gives one answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.tuple(cut, cut),
        fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 5 }),
        // Without a lease, every call takes over another that it finds under way.
        fc.constantFrom(0, LEASE_MS),
        fc.boolean(),
        async (scheduler, cuts, sent, leaseMs, swept) => {
          const { store, node, clock, old } = swept ? await sweptWorld() : { ...world(), old: undefined }
          const before = () => scheduler.schedule(Promise.resolve())
          const nodes = cuts.map((each) => {
            const faulty = new FaultStore(store, { ...each, before })
            const idempotency = newNode(faulty, clock, leaseMs)
            return () => outcome(idempotency.run(REQUEST, forecast(faulty)))
          })
          // The scheduler decides when each is sent, so that some overlap with others and some come after
          // them.
          const calls = sent.map(async (index) => {
            await scheduler.schedule(Promise.resolve())
            return nodes[index]!()
          })
          const outcomes = await scheduler.waitFor(Promise.all(calls))
          passMs(clock, LEASE_MS)
          const answer = await node().run(REQUEST, forecast(store))
          for (const { answer: given, error } of outcomes) {
            if (given) expect(given).toEqual(answer)
            else expect(['conflict', 'unavailable']).toContain((error as ServiceError).kind)
          }
          const distinct = distinctEffects(store).filter(({ id }) => id !== old?.id)
          expect(distinct).toEqual([answer])
          expect(answer.id).not.toBe(old?.id)
        },
      ),
      { numRuns: runs(300), endOnFailure: true },
    )
  })
})

describe('a registration', () => {
  const registration = { ...REQUEST, scope: 'register' }
  const registryOver = (store: Store) => new Registry({ store, environment: 'sandbox', randomBytes })
  const register = (store: Store): IdempotentWork<{ agentId: string; key: ApiKey }> => ({
    check: () => Promise.resolve(),
    answer: ({ id, salt }) => ({
      agentId: id,
      key: registryOver(store).firstKey(id, sealedBytes(KEY, salt)),
    }),
    commit: ({ id, at }, { key }) => registryOver(store).createAgent(id, key, at),
  })

  test.for(FAULTS)('cut off at any write that %s and sent again gives one agent one key', async (fault) => {
    for (let at = 1, reached = true; reached; at++) {
      const { store, node, clock } = world()
      const broken = new FaultStore(store, { at, fault })
      const first = await outcome(node(broken).run(registration, register(broken)))
      reached = broken.failed
      passMs(clock, LEASE_MS)
      const answer = await node().run(registration, register(store))
      if (first.answer) expect(first.answer, `${at}`).toEqual(answer)
      expect(await node().run(registration, register(store)), `${at}`).toEqual(answer)
      const registry = registryOver(store)
      expect(await registry.findKey(answer.key.key), `${at}`).toMatchObject({ agent_id: answer.agentId })
      expect(await Array.fromAsync(registry.listKeys()), `${at}`).toHaveLength(1)
      expect(await registry.findAgent(answer.agentId), `${at}`).toBeDefined()
      expect(everythingIn(store), `${at}`).not.toContain(KEY)
      expect(everythingIn(store), `${at}`).not.toContain(answer.key.key)
    }
  })
})
