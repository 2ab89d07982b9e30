// Sums that are exact, against whole numbers of any size.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exactProductSum, exactSum } from '../../pipeline/scoring/exact-sum.ts'

const below = (bits: number) =>
  fc.oneof(
    fc.maxSafeInteger().map((x) => Math.trunc(x / 2 ** (53 - bits))),
    fc.constantFrom(0, 1, -1, 2 ** bits - 1, 1 - 2 ** bits),
    fc.integer({ min: -1e6, max: 1e6 }),
  )

test('exactSum is the double nearest to the sum, in whatever order', () => {
  fc.assert(
    fc.property(fc.array(below(52), { maxLength: 200 }), (numbers) => {
      const exact = Number(numbers.reduce((total, value) => total + BigInt(value), 0n))
      expect(exactSum(Float64Array.from(numbers))).toBe(exact)
      expect(exactSum(Float64Array.from(numbers.toReversed()))).toBe(exact)
    }),
  )
})

/** Numbers that are summed in parts, and larger ones. */
const whole = fc.oneof(below(46), below(53))

test('exactProductSum is the double nearest to the sum of the products', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(whole, whole), { maxLength: 200 }), (pairs) => {
      const [x, y] = [0, 1].map((side) => Float64Array.from(pairs, (pair) => pair[side]!)) as [
        Float64Array,
        Float64Array,
      ]
      const exact = pairs.reduce((total, [a, b]) => total + BigInt(a) * BigInt(b), 0n)
      expect(exactProductSum(x, y)).toBe(Number(exact))
    }),
  )
})
