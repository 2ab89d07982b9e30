// Counters that processes share: leases make calls that need not ask, and never one too many or too few.
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { count } from '../../../api/limits/admission.ts'
import { admittedNow } from '../../../api/limits/counted-now.ts'
import { CounterTable } from '../../../api/limits/counter-table.ts'
import { EVERYONE } from '../../../api/limits/counters.ts'
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
        return table.answer(calls, {
          process,
          processes,
          recall: async (holder, name, caller) => {
            // What was sent before has arrived by then, as over a connection.
            await nextTurn()
            return all[holder]!.recall(name, caller)
          },
        })
      }),
  )
  const admitters = all.map((counters) => {
    const counter = counters.counter('calls', 60, EVERYONE)
    const limitOf = (quota: number) =>
      ({ policy: 'reads', quota, windowOf: () => ({ windowS: 60, resetS: 60 }) }) as const
    return {
      counter,
      admit: (quota: number, calls = 1) => count(counter, 'someone', limitOf(quota), calls),
      admitNow: (quota: number) => admittedNow([{ counter, caller: 'someone', limit: limitOf(quota) }]),
    }
  })
  return { admitters, asked: () => asked }
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
      expect(await counter.get('someone')).toMatchObject({ consumedPoints: 100 })
    }
  })

  test('give back a call that failed, and count one that is several', async () => {
    const { admitters } = processesOver(new CounterTable(), 3)
    const several = await admitters[0]!.admit(1_000, 200)
    expect(several.admitted).toBe(true)
    await (await admitters[1]!.admit(1_000)).takeBack()
    expect(await admitters[2]!.counter.get('someone')).toMatchObject({ consumedPoints: 200 })
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
    expect(await admitters[1]!.counter.get('someone')).toMatchObject({ consumedPoints: 1 })
  } finally {
    vi.useRealTimers()
  }
})

test('a process counts by itself once the one that counts is gone', async () => {
  const counter = new RemoteCounters(() => Promise.resolve(undefined)).counter('calls', 60, EVERYONE)
  await counter.consume('someone')
  expect(await counter.consume('someone')).toMatchObject({ consumedPoints: 2 })
  await counter.reward('someone')
  expect(await counter.get('someone')).toMatchObject({ consumedPoints: 1 })
})
