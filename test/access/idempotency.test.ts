// A call with an Idempotency-Key takes effect once and has the same answer on every node.
import { describe, expect, test } from 'vitest'
import { type Claim, type IdempotentWork, sweepPart } from '../../pipeline/access/idempotency.ts'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { CLAIMS_PREFIX } from '../../pipeline/store/paths.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
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
  effects,
  everythingIn,
  forecast,
  heldBack,
  meetingAt,
  outcome,
  passMs,
  refuse,
  sweepAll,
  world,
} from '../support/http/idempotent-calls.ts'
import { Clock } from '../support/http/service.ts'

describe('a first call', () => {
  test('is checked, claimed, committed and noted as done, in this order, and answered from its claim', async () => {
    const { store, watched, calls, node } = world()
    const work: IdempotentWork<Answer> = {
      ...forecast(watched),
      check: async () => {
        expect(calls()).toEqual(['get idempotency'])
      },
    }
    const answer = await node().run(REQUEST, work)
    expect(calls().slice(1)).toEqual(['putIfAbsent idempotency', 'putIfAbsent inbox', 'put idempotency'])
    expect(effects(store)).toEqual([answer])
    expect(await claimIn(store)).toEqual({
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      id: answer.id,
      at: answer.at,
      salt: answer.salt,
      state: 'done',
    })
    expect(answer.salt).toMatch(/^[0-9a-f]{64}$/)
  })

  test('leaves neither its key nor its request in the store', async () => {
    const { store, node } = world()
    await node().run(REQUEST, forecast(store))
    const [key, ...others] = [...store.objects.keys()].filter((name) => name.startsWith(CLAIMS_PREFIX))
    expect(others).toEqual([])
    expect(key).toMatch(/^idempotency\/[0-9a-f]{64}\.json$/)
    expect(everythingIn(store)).not.toContain(KEY)
    expect(everythingIn(store)).not.toContain(REQUEST.body.text)
  })

  test('that is refused claims nothing: the corrected request may use the key', async () => {
    const { store, node } = world()
    const refused = { ...forecast(store), check: refuse('invalid') }
    await expect(node().run(REQUEST, refused)).rejects.toMatchObject({ kind: 'invalid' })
    expect([...store.objects.keys()]).toEqual([])
    const corrected = { ...REQUEST, body: { text: 'the corrected request' } }
    const answer = await node().run(corrected, forecast(store))
    expect(effects(store)).toEqual([answer])
  })

  test.for([
    ['another key', { ...REQUEST, key: `${KEY}-2` }],
    ['the same key in another scope', { ...REQUEST, scope: 'another call' }],
    ['a scope and a key that give the same text when joined', { ...REQUEST, scope: 'a cal', key: `l${KEY}` }],
  ] as const)('is another than one with %s', async ([, other]) => {
    const { store, node } = world()
    const one = await node().run(REQUEST, forecast(store))
    const two = await node().run(other, forecast(store))
    expect(two.id).not.toBe(one.id)
    expect(effects(store)).toHaveLength(2)
  })
})

describe('a call without a key', () => {
  test('is checked, committed and answered each time, and claims nothing', async () => {
    const { store, watched, calls, node } = world()
    const keyless = { ...REQUEST, key: undefined }
    const work: IdempotentWork<Answer> = {
      ...forecast(watched),
      check: async () => {
        expect(calls()).toEqual([])
      },
    }
    const one = await node().run(keyless, work)
    expect(calls()).toEqual(['putIfAbsent inbox'])
    const two = await node().run(keyless, forecast(store))
    expect(two.id).not.toBe(one.id)
    expect(effects(store)).toEqual([one, two])
  })

  test('that is refused or fails gives the error of its work, and leaves nothing', async () => {
    const { store, node } = world()
    const keyless = { ...REQUEST, key: undefined }
    const refused = node().run(keyless, { ...forecast(store), check: refuse('invalid') })
    await expect(refused).rejects.toMatchObject({ kind: 'invalid' })
    const failed = node().run(keyless, { ...forecast(store), commit: refuse('corrupt') })
    await expect(failed).rejects.toMatchObject({ kind: 'corrupt' })
    expect([...store.objects.keys()]).toEqual([])
  })
})

describe('a call that is done', () => {
  test('has the same answer on every node, and neither checks nor writes anything', async () => {
    const { store, calls, node, clock } = world()
    const answer = await node().run(REQUEST, forecast(store))
    const before = calls().length
    passMs(clock, 95 * HOUR_MS)
    const work = { ...forecast(store), check: refuse('conflict'), commit: refuse('corrupt') }
    expect(canonical(await node().run(REQUEST, work))).toEqual(canonical(answer))
    expect(calls().slice(before)).toEqual(['get idempotency'])
  })

  test('refuses its key to another request', async () => {
    const { store, calls, node } = world()
    await node().run(REQUEST, forecast(store))
    const before = calls().length
    await expect(node().run(ANOTHER, forecast(store))).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('this Idempotency-Key was used for another request') as string,
    })
    expect(calls().slice(before)).toEqual(['get idempotency'])
  })

  test('but whose note was lost is answered, and repeated with the same result once the lease has run out', async () => {
    const { store, node, clock } = world()
    const broken = new FaultStore(store, { at: WRITES_OF_A_CALL, fault: 'failed' })
    const answer = await node(broken).run(REQUEST, forecast(broken))
    expect(await claimIn(store)).toMatchObject({ state: 'under_way' })
    passMs(clock, LEASE_MS)
    expect(await node().run(REQUEST, forecast(store))).toEqual(answer)
    expect(effects(store)).toEqual([answer, answer])
  })
})

describe('a call that is under way', () => {
  test('is a conflict on the same node without a look at the store, and no conflict for another key', async () => {
    const { store, calls, node } = world()
    const { held, work } = heldBack(forecast(store))
    const here = node()
    const first = here.run(REQUEST, work)
    await held.arrived
    const before = calls().length
    await expect(here.run(REQUEST, forecast(store))).rejects.toMatchObject({
      kind: 'conflict',
      retryAfterS: 1,
    })
    expect(calls()).toHaveLength(before)
    await here.run({ ...REQUEST, key: `${KEY}-2` }, forecast(store))
    held.release()
    const answer = await first
    expect(await here.run(REQUEST, forecast(store))).toEqual(answer)
  })

  test('is a conflict on another node, until the lease runs out', async () => {
    const { store, node, clock } = world()
    const { held, work } = heldBack(forecast(store))
    const first = node().run(REQUEST, work)
    await held.arrived
    passMs(clock, 500)
    await expect(node().run(REQUEST, forecast(store))).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('a request with this Idempotency-Key is still under way') as string,
      retryAfterS: 10,
    })
    passMs(clock, LEASE_MS - 501)
    await expect(node().run(REQUEST, forecast(store))).rejects.toMatchObject({ retryAfterS: 1 })
    expect(effects(store)).toEqual([])
    held.release()
    const answer = await first
    expect(await node().run(REQUEST, forecast(store))).toEqual(answer)
    expect(effects(store)).toEqual([answer])
  })

  test('refuses its key to another request', async () => {
    const { store, node } = world()
    const { held, work } = heldBack(forecast(store))
    const first = node().run(REQUEST, work)
    await held.arrived
    await expect(node().run(ANOTHER, forecast(store))).rejects.toMatchObject({ kind: 'invalid' })
    held.release()
    await first
  })

  test('is taken over when the lease has run out, from the same claim', async () => {
    const { store, node, clock } = world()
    const { held, work } = heldBack(forecast(store))
    const first = node().run(REQUEST, work)
    await held.arrived
    const claim = await claimIn(store)
    passMs(clock, LEASE_MS)
    const answer = await node().run(REQUEST, forecast(store))
    expect(answer).toMatchObject({ id: claim.id, at: claim.at, salt: claim.salt })
    expect(await claimIn(store)).toEqual({ ...claim, state: 'done' })
    // The first call was slow, not dead.
    held.release()
    expect(await first).toEqual(answer)
    expect(effects(store)).toEqual([answer, answer])
  })

  test('is not taken over twice, because a call that is repeated is under way again', async () => {
    const { store, node } = world()
    const broken = new FaultStore(store, { at: 2, fault: 'failed' })
    await expect(node(broken).run(REQUEST, forecast(broken))).rejects.toMatchObject({ kind: 'unavailable' })
    const { held, work } = heldBack(forecast(store))
    const again = node().run(REQUEST, work)
    await held.arrived
    await expect(node().run(REQUEST, forecast(store))).rejects.toMatchObject({ kind: 'conflict' })
    held.release()
    const answer = await again
    expect(effects(store)).toEqual([answer])
  })

  test('is not taken over if the check refuses, and can be taken over later', async () => {
    const { store, node, clock } = world()
    const broken = new FaultStore(store, { at: 2, fault: 'failed', crash: true })
    await expect(node(broken).run(REQUEST, forecast(broken))).rejects.toMatchObject({ kind: 'unavailable' })
    passMs(clock, LEASE_MS)
    const before = everythingIn(store)
    let asked: Claim | undefined
    const refused: IdempotentWork<Answer>['check'] = async (claim) => {
      asked = claim
      throw new ServiceError('conflict', 'too late')
    }
    await expect(node().run(REQUEST, { ...forecast(store), check: refused })).rejects.toThrow('too late')
    expect(asked?.at).toEqual(new Date(START))
    expect(everythingIn(store)).toBe(before)
    expect(await node().run(REQUEST, forecast(store))).toMatchObject({ id: asked?.id })
  })
})

describe('two simultaneous nodes', () => {
  test('that both find no claim: one does the call, the other has a conflict', async () => {
    const { store, node } = world()
    const meeting = meetingAt(store, 2)
    const outcomes = await Promise.all(
      meeting.map((each) => outcome(node(each).run(REQUEST, forecast(each)))),
    )
    const answers = outcomes.flatMap(({ answer }) => answer ?? [])
    expect(answers.length).toBeGreaterThanOrEqual(1)
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    for (const { error } of outcomes) if (error) expect(error).toMatchObject({ kind: 'conflict' })
    expect(effects(store)).toEqual([answers[0]])
  })

  test('that both find no claim, with different requests: the other is told that the key was used', async () => {
    const { store, node } = world()
    const [one, two] = meetingAt(store, 2)
    const outcomes = await Promise.all([
      outcome(node(one).run(REQUEST, forecast(store))),
      outcome(node(two).run(ANOTHER, forecast(store))),
    ])
    expect(outcomes.filter(({ answer }) => answer)).toHaveLength(1)
    expect(outcomes.find(({ error }) => error)?.error).toMatchObject({ kind: 'invalid' })
    expect(effects(store)).toHaveLength(1)
  })
})

describe('sweeping', () => {
  test('covers each part within two days if it runs once in every three hours', () => {
    const hours = Array.from({ length: 48 }, (_, hour) => sweepPart(new Date(START + hour * HOUR_MS)))
    expect(new Set(hours).size).toBe(16)
    for (const part of hours) expect(hours.filter((other) => other === part)).toHaveLength(3)
  })

  test('deletes claims written more than 48 hours ago, reads none, and touches nothing else', async () => {
    const clock = new Clock(new Date(START).toISOString())
    const store = new MemoryStore(clock.now)
    const { node } = world(store, clock)
    await node().run({ ...REQUEST, key: 'the first' }, forecast(store))
    passMs(clock, 24 * HOUR_MS)
    const answer = await node().run(REQUEST, forecast(store))
    await node().run({ ...REQUEST, key: 'another' }, forecast(store))
    const watched = new FaultStore(store)
    passMs(clock, 24 * HOUR_MS)
    expect(await sweepAll(watched, clock.now())).toBe(0)
    passMs(clock, 24 * HOUR_MS)
    expect(await sweepAll(watched, clock.now())).toBe(1)
    expect(await claimIn(store)).toMatchObject({ id: answer.id })
    passMs(clock, 1)
    expect(await sweepAll(watched, clock.now())).toBe(2)
    expect(watched.count('get', 'range', 'put', 'putIfAbsent')).toBe(0)
    expect([...store.objects.keys()].filter((key) => key.startsWith(CLAIMS_PREFIX))).toEqual([])
    expect(effects(store)).toHaveLength(3)
  })

  test('keeps claims whose age the server does not give', async () => {
    const store = new MemoryStore()
    await store.put(`${CLAIMS_PREFIX}a.json`, new Uint8Array())
    const ageless: Store = Object.assign(new FaultStore(store), {
      async *list(prefix: string) {
        for await (const object of store.list(prefix)) yield { ...object, modifiedAt: new Date(Number.NaN) }
      },
    })
    expect(await sweepAll(ageless, new Date(START))).toBe(0)
    expect(await sweepAll(store, new Date(START))).toBe(1)
  })
})
