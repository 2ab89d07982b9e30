import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dayOf } from '../../../api/limits/calendar.ts'

const MINUTE_MS = 60_000
const aroundMidnight = fc
  .tuple(
    fc.constantFrom('2026-01-01', '2026-02-01', '2026-03-01', '2026-03-02', '2028-02-29', '2028-03-01'),
    fc.integer({ min: -MINUTE_MS, max: MINUTE_MS }),
  )
  .map(([day, ms]) => new Date(Date.parse(`${day}T00:00:00Z`) + ms))

test('the day and the month are those of the time, whatever was asked for before', () => {
  fc.assert(
    fc.property(fc.array(aroundMidnight, { minLength: 1, maxLength: 20 }), (times) => {
      for (const at of times) {
        const { name, month, startMs, monthStartMs, nextMonthMs } = dayOf(at)
        expect(at.toISOString()).toMatch(new RegExp(`^${name}T`))
        expect(month).toBe(name.slice(0, 7))
        expect(new Date(startMs).toISOString()).toBe(`${name}T00:00:00.000Z`)
        expect(new Date(monthStartMs).toISOString()).toBe(`${month}-01T00:00:00.000Z`)
        // The last moment before it is of this month, and it begins another one.
        expect(new Date(nextMonthMs - 1).toISOString()).toMatch(new RegExp(`^${month}`))
        expect(new Date(nextMonthMs).toISOString()).toMatch(/-01T00:00:00.000Z$/)
        expect(nextMonthMs).toBeGreaterThan(at.getTime())
      }
    }),
    { seed: 20261123 },
  )
})
