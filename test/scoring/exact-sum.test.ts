// Exact sums, compared with integers of any size.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ExactProductSum, ExactSum } from '../../pipeline/scoring/exact-sum.ts'

const MOST = 2 ** 52 - 1
const whole = fc.oneof(
  fc.maxSafeInteger().map((x) => Math.trunc(x / 2)),
  fc.constantFrom(0, 1, -1, MOST, -MOST),
  fc.integer({ min: -1e6, max: 1e6 }),
)

test('ExactSum is the double nearest to the sum, in whatever order', () => {
  fc.assert(
    fc.property(fc.array(whole, { maxLength: 200 }), (numbers) => {
      const sumOf = (values: readonly number[]) => {
        const sum = new ExactSum()
        for (const value of values) sum.add(value)
        return [sum.exact(), sum.value()]
      }
      const exact = numbers.reduce((total, value) => total + BigInt(value), 0n)
      expect(sumOf(numbers)).toEqual([exact, Number(exact)])
      expect(sumOf(numbers.toReversed())).toEqual([exact, Number(exact)])
    }),
  )
})

test('ExactProductSum is the double nearest to the sum of the products', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(whole, whole), { maxLength: 200 }), (pairs) => {
      const sum = new ExactProductSum()
      for (const [x, y] of pairs) sum.add(x, y)
      expect(sum.value()).toBe(Number(pairs.reduce((total, [x, y]) => total + BigInt(x) * BigInt(y), 0n)))
    }),
  )
})
