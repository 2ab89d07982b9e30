// Rounding half to even, against exact integer arithmetic.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromPico, rounded, roundHalfEven } from '../../pipeline/scoring/round.ts'

/** Splitting off the integer part of a double is exact, so this needs no tolerance. */
function plainly(x: number): number {
  const whole = Math.trunc(Math.abs(x))
  const rest = Math.abs(x) - whole
  const up = rest > 0.5 || (rest === 0.5 && whole % 2 === 1)
  return Math.sign(x) * (whole + (up ? 1 : 0)) + 0
}

describe('roundHalfEven', () => {
  test.each([
    [0.5, 0],
    [1.5, 2],
    [2.5, 2],
    [3.5, 4],
    [-0.5, 0],
    [-1.5, -2],
    [-2.5, -2],
    [0.49999999999999994, 0],
    [0.5000000000000001, 1],
    [1e15 + 0.5, 1e15],
    [1e15 + 1.5, 1e15 + 2],
    [2 ** 51 - 1.5, 2 ** 51 - 2],
    [-(2 ** 51) + 1.5, -(2 ** 51) + 2],
    [5e-324, 0],
    // The greatest possible score, in 1e-12: 100·ln 999, for two entities at opposite limits.
    [690_675_477_864_855.4, 690_675_477_864_855],
  ])('%d gives %d', (x, expected) => {
    expect(roundHalfEven(x)).toBe(expected)
  })

  test('gives 0, never -0', () => {
    for (const x of [-0, -0.5, -0.1, -5e-324, 0]) expect(Object.is(roundHalfEven(x), 0)).toBe(true)
  })

  test('agrees with splitting off the fraction, everywhere below 2^51', () => {
    const limit = 2 ** 51 - 1
    const halves = fc.maxSafeInteger().map((n) => (n % 2 ** 51) / 2)
    fc.assert(
      fc.property(
        fc.oneof(
          halves,
          fc.double({ min: -limit, max: limit, noNaN: true }),
          fc.double({ min: -9, max: 9, noNaN: true }),
        ),
        (x) => {
          expect(roundHalfEven(x)).toBe(plainly(x))
        },
      ),
      { numRuns: 20_000 },
    )
  })
})

describe('published', () => {
  test.each([
    [0.0000005, 0],
    [0.0000015, 0.000002],
    [0.0000025, 0.000002],
    [-0.0000015, -0.000002],
    [0.1234565, 0.123456],
    [0.1234575, 0.123458],
    [-896.5784284662087, -896.578428],
    [1e-12, 0],
  ])('%d gives %d', (x, expected) => {
    expect(rounded(x)).toBe(expected)
  })

  test('gives percentiles two decimals', () => {
    expect(rounded(100 / 3, 2)).toBe(33.33)
    expect(rounded(0.125, 2)).toBe(0.12)
    expect(rounded(0.375, 2)).toBe(0.38)
    expect(rounded(89.995, 2)).toBe(90)
  })

  test('gives 0, never -0', () => {
    for (const x of [-0, -1e-7, -0.0000005, -1e-300]) expect(Object.is(rounded(x), 0)).toBe(true)
  })

  test('is the double nearest to a decimal, idempotent and odd', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e8, max: 1e8, noNaN: true }), (x) => {
        const once = rounded(x)
        expect(Math.abs(once - x)).toBeLessThanOrEqual(0.5e-6 + Math.abs(x) * 2 ** -51)
        expect(once).toBe(Number(once.toFixed(6)) + 0)
        expect(rounded(once)).toBe(once)
        expect(rounded(-x)).toBe(0 - once)
      }),
      { numRuns: 5000 },
    )
  })

  test('has six decimals', () => {
    expect(rounded(0.12345678)).toBe(0.123457)
  })
})

test('fromPico turns integers of 1e-12 into plain numbers', () => {
  expect(fromPico(250_000_000_000)).toBe(0.25)
  expect(fromPico(1)).toBe(1e-12)
  expect(fromPico(0n)).toBe(0)
  expect(fromPico(-(5n * 10n ** 23n))).toBe(-5e11)
})
