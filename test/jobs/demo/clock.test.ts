// The clock of the demo, and what its store says of the time.
import { expect, test } from 'vitest'
import { DemoClock } from '../../../jobs/demo/clock.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'

const A_DAY_MS = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * A_DAY_MS)
/** By how many whole days a time is past. */
const daysPast = (time: Date) => Math.round((Date.now() - time.getTime()) / A_DAY_MS)

test('goes forward to given times and then to the real one, and never back', () => {
  const clock = new DemoClock(daysAgo(9))
  expect(daysPast(clock.now())).toBe(9)
  clock.moveTo(daysAgo(5))
  expect(daysPast(clock.now())).toBe(5)
  clock.moveTo(daysAgo(7))
  expect(daysPast(clock.now())).toBe(5)
  clock.catchUp()
  expect(daysPast(clock.now())).toBe(0)
})

test('its store does not say what time it is before the clock has caught up', async () => {
  const clock = new DemoClock(daysAgo(9))
  const store = clock.untimed(new MemoryStore())
  await store.put('probe/one', Buffer.from('1'))
  const times = async () =>
    (await Array.fromAsync(store.list('probe/'))).map(({ modifiedAt }) => modifiedAt.getTime())
  expect(await times()).toEqual([Number.NaN])
  clock.catchUp()
  expect(await times()).toEqual([0])
  expect(Buffer.from((await store.get('probe/one'))!).toString()).toBe('1')
})
