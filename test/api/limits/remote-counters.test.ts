// Counters that processes share: leases make calls that need not ask, and never one too many or too few.
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { countToward } from '../../../api/limits/admission.ts'
import { admittedNow } from '../../../api/limits/counted-now.ts'
import { type CounterAnswer, CounterTable } from '../../../api/limits/counter-table.ts'
import { EVERYONE } from '../../../api/limits/counters.ts'
import { countInMemory } from '../../../api/limits/memory-counter.ts'
import { type CountedAttempt, MirroredCounters } from '../../../api/limits/mirrored-counters.ts'
import { RemoteCounters } from '../../../api/limits/remote-counters.ts'

/** Processes that count in one table, each through a connection that delivers later. */
function processesOver(table: CounterTable, processes: number, delivered = () => Promise.resolve()) {
  let asked = 0
  const all: RemoteCounters[] = Array.from(
    { length: processes },
    (_, process) =>
      new RemoteCounters(async (calls) => {
        asked += 1
        await delivered()
        const recall = async (holder: number, name: string, caller: string) => {
          // What was sent before has arrived by then, as over a connection.
          await nextTurn()
          return all[holder]!.recall(name, caller)
        }
        return new Promise((resolve) => void table.answer(calls, { process, processes, recall }, resolve))
      }),
  )
  const admitters = all.map((counters) => {
    const counter = counters.counter('calls', 60, EVERYONE)
    const limitOf = (quota: number) =>
      ({ policy: 'reads', quota, windowOf: () => ({ windowS: 60, resetS: 60 }) }) as const
    const allowanceOf = (quota: number) => ({ counter, caller: 'someone', limit: limitOf(quota) })
    return {
      counter,
      admit: (quota: number, calls = 1) => countToward([allowanceOf(quota)], calls),
      admitNow: (quota: number) => admittedNow([allowanceOf(quota)], performance.now()),
    }
  })
  return { all, admitters, asked: () => asked }
}

describe('three processes', () => {
  test('let a caller through exactly as often as its quota says, wherever the calls come', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 400 }),
        fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 50 }),
        async (quota, route) => {
          const { admitters } = processesOver(new CounterTable(), 3)
          let admitted = 0
          for (let call = 0; call < quota + 10; call += 1) {
            const { admit } = admitters[route[call % route.length]!]!
            if ((await admit(quota)).admitted) admitted += 1
          }
          expect(admitted).toBe(quota)
        },
      ),
      { numRuns: 30 },
    )
  })

  test('let a caller through exactly as often as its quota says, however many calls come at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 400 }),
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 20 }),
        async (quota, groups) => {
          const { admitters } = processesOver(new CounterTable(), 3, nextTurn)
          const admitAll = async (calls: number) => {
            const all = Array.from({ length: calls }, (_, call) => admitters[call % 3]!.admit(quota))
            return (await Promise.all(all)).filter(({ admitted }) => admitted).length
          }
          let [sent, admitted] = [0, 0]
          for (const calls of groups) {
            admitted += await admitAll(calls)
            sent += calls
          }
          expect(admitted).toBe(Math.min(quota, sent))
        },
      ),
      { numRuns: 100 },
    )
  })

  test('leave exactly what calls of any size have not used, also those that were refused or failed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 2_000 }),
        fc.array(
          fc.array(fc.tuple(fc.integer({ min: 1, max: 300 }), fc.boolean()), { minLength: 1, maxLength: 9 }),
          {
            maxLength: 9,
          },
        ),
        async (quota, groups) => {
          const { admitters } = processesOver(new CounterTable(), 3, nextTurn)
          let left = quota
          const call = async (size: number, fails: boolean, caller: number) => {
            const { admitted, takeBack } = await admitters[caller % 3]!.admit(quota, size)
            if (fails) await takeBack()
            else if (admitted) left -= size
          }
          for (const group of groups) {
            await Promise.all(group.map(([size, fails], caller) => call(size, fails, caller)))
          }
          const last = [await admitters[0]!.admit(quota, left + 1), await admitters[1]!.admit(quota, left)]
          expect(last.map(({ admitted }) => admitted)).toEqual([false, true])
        },
      ),
      { numRuns: 100 },
    )
  })

  test('count at once what is leased to them, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 400 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.boolean()), { minLength: 1, maxLength: 50 }),
        async (quota, route) => {
          const { admitters } = processesOver(new CounterTable(), 3)
          let admitted = 0
          for (let call = 0; call < quota + 10; call += 1) {
            const [process, atOnce] = route[call % route.length]!
            const { admit, admitNow } = admitters[process]!
            if ((atOnce && admitNow(quota)) || (await admit(quota)).admitted) admitted += 1
          }
          expect(admitted).toBe(quota)
        },
      ),
      { numRuns: 30 },
    )
    const { admitters } = processesOver(new CounterTable(), 3)
    expect(admitters[0]!.admitNow(1_000)).toBeUndefined()
    await admitters[0]!.admit(1_000)
    expect(admitters[0]!.admitNow(1_000)).toBeDefined()
    expect(admitters[1]!.admitNow(1_000)).toBeUndefined()
  })

  test('at once never let through too many, and all that is left soon after', async () => {
    const { admitters } = processesOver(new CounterTable(), 3)
    let admitted = 0
    const call = async (index: number) => {
      if ((await admitters[index % 3]!.admit(500)).admitted) admitted += 1
    }
    await Promise.all(Array.from({ length: 600 }, (_, index) => call(index)))
    expect(admitted).toBeLessThanOrEqual(500)
    for (let index = 0; index < 600; index += 1) await call(index)
    expect(admitted).toBe(500)
  })

  test('seldom ask while much is left', async () => {
    const { admitters, asked } = processesOver(new CounterTable(), 3)
    for (let call = 0; call < 10_000; call += 1) await admitters[call % 3]!.admit(1_000_000)
    expect(asked()).toBeLessThan(50)
  })

  test('all know how much a caller has used, without what is leased', async () => {
    const { admitters } = processesOver(new CounterTable(), 3)
    for (let call = 0; call < 100; call += 1) await admitters[call % 3]!.admit(10_000)
    for (const { counter } of admitters) {
      expect(await counter.get('someone')).toMatchObject({ used: 100 })
    }
  })

  test('take back a lease whose answer is on its way', async () => {
    const table = new CounterTable()
    const { admitters } = processesOver(table, 3, nextTurn)
    // In one message: what leases, and what is too much, so that it waits for that lease.
    const [first, tooMuch] = await Promise.all([
      admitters[0]!.admit(1_000),
      admitters[0]!.admit(1_000, 1_000),
    ])
    expect([first.admitted, tooMuch.admitted]).toEqual([true, false])
    expect((await admitters[1]!.admit(1_000, 999)).admitted).toBe(true)
  })

  test('refuse nobody, and count nothing, for what is leased to another key of the account', async () => {
    const { admitters } = processesOver(new CounterTable(), 3)
    // With a large quota much is leased, more than a small one in all.
    for (const { admit } of admitters) await admit(100_000)
    const few = [await admitters[0]!.admit(5), await admitters[0]!.admit(5), await admitters[0]!.admit(5)]
    expect(few.map(({ admitted }) => admitted)).toEqual([true, true, false])
    expect(await admitters[1]!.counter.get('someone')).toMatchObject({ used: 5 })
  })

  test('give back a call that failed, and count one that is several', async () => {
    const { admitters } = processesOver(new CounterTable(), 3)
    const several = await admitters[0]!.admit(1_000, 200)
    expect(several.admitted).toBe(true)
    await (await admitters[1]!.admit(1_000)).takeBack()
    expect(await admitters[2]!.counter.get('someone')).toMatchObject({ used: 200 })
    expect((await admitters[1]!.admit(1_000, 801)).admitted).toBe(false)
    expect((await admitters[1]!.admit(1_000, 800)).admitted).toBe(true)
  })
})

test('what is leased ends with its window', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const { admitters } = processesOver(new CounterTable(), 2)
    for (let call = 0; call < 50; call += 1) await admitters[0]!.admit(1_000)
    vi.advanceTimersByTime(60_001)
    await admitters[0]!.admit(1_000)
    expect(await admitters[1]!.counter.get('someone')).toMatchObject({ used: 1 })
  } finally {
    vi.useRealTimers()
  }
})

test('nothing is leased of a window that began after the call was counted', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const table = new CounterTable()
    const { admitters } = processesOver(table, 2)
    const recall = () => {
      vi.advanceTimersByTime(60_001)
      return Promise.resolve(0)
    }
    await admitters[1]!.admit(1_000)
    const spec = ['calls', 60, EVERYONE] as const
    const consume = { spec, verb: 'consume', caller: 'someone', quota: 1_000 } as const
    const calls = [
      { ...consume, calls: 1 },
      // Waits for what is leased, in the same message.
      { ...consume, calls: 1_000 },
    ]
    const answers = await new Promise<readonly CounterAnswer[]>(
      (resolve) => void table.answer(calls, { process: 0, processes: 2, recall }, resolve),
    )
    expect(answers.map((answer) => answer![2])).toEqual([0, 0])
  } finally {
    vi.useRealTimers()
  }
})

test('a process counts by itself once the one that counts is gone', async () => {
  const counter = new RemoteCounters(() => Promise.resolve(undefined)).counter('calls', 60, EVERYONE)
  await counter.consume('someone')
  expect(await counter.consume('someone')).toMatchObject({ used: 2 })
  await counter.giveBack('someone')
  expect(await counter.get('someone')).toMatchObject({ used: 1 })
})

test.each([
  ['in memory', countInMemory()],
  ['that processes share', processesOver(new CounterTable(), 3).all[0]!],
  ['that each process mirrors', new MirroredCounters(() => {})],
])('a counter %s counts nothing for a call that is one too many', async (_, counters) => {
  const counter = counters.counter('calls', 60, EVERYONE)
  const consumed = async () => (await counter.consume('someone', 1, 1)).used
  // With the refused ones counted, even until they are given back, the call after one that failed would be
  // refused.
  expect([await consumed(), await consumed(), await consumed()]).toEqual([1, 2, 2])
  await counter.giveBack('someone')
  expect(await consumed()).toBe(1)
})

test('a process tells the others of what it counted, and of nothing that it refused', async () => {
  const told = vi.fn<(call: CountedAttempt) => void>()
  const counter = new MirroredCounters(told).counter('calls', 60, EVERYONE)
  for (let call = 0; call < 3; call += 1) await counter.consume('someone', 1, 2)
  expect(told).toHaveBeenCalledTimes(2)
})
