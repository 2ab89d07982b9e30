import fc from 'fast-check'
import { expect, test } from 'vitest'
import { atLeast, atMost } from '../../../../api/pages/charts/binomial.ts'

test('tails as worked out by hand: of 4 events of a half, at most 1 comes in 5 of 16 cases', () => {
  expect(atMost(1, 4, 0.5)).toBeCloseTo(5 / 16, 12)
  expect(atLeast(3, 4, 0.5)).toBeCloseTo(5 / 16, 12)
  expect(atMost(0, 3, 0.1)).toBeCloseTo(0.729, 12)
  expect([atMost(0, 9, 0), atMost(8, 9, 1), atLeast(0, 9, 0), atLeast(1, 9, 0)]).toEqual([1, 0, 1, 0])
})

test('both tails are the sums of the probabilities, and overlap in the count itself', () => {
  const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n, k - 1) * (n - k + 1)) / k)
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.nat(60),
      fc.integer({ min: 0, max: 100 }),
      (n, k, hundredths) => {
        const [count, p] = [Math.min(k, n), hundredths / 100]
        const of = (each: number) => choose(n, each) * p ** each * (1 - p) ** (n - each)
        const sum = Array.from({ length: count + 1 }, (_, each) => of(each)).reduce(
          (total, each) => total + each,
          0,
        )
        expect(atMost(count, n, p)).toBeCloseTo(sum, 9)
        expect(atMost(count, n, p) + atLeast(count, n, p)).toBeCloseTo(1 + of(count), 9)
      },
    ),
  )
})

test('of many events the tails do not vanish before their time', () => {
  expect(atMost(50_000, 100_000, 0.5)).toBeCloseTo(0.501_261_6, 6)
})
