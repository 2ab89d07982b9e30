// The logarithms of METHODOLOGY §7: none is so near a rounding boundary that two correct libraries could
// differ.
import { describe, expect, test } from 'vitest'
import { PPM, negativeLogNano } from '../../pipeline/scoring/logarithm.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'

const FLOOR_PPM = 1000
const LOGARITHMS = negativeLogNano(METHODOLOGY.parameters.log_probability_floor)
const BITS = 128n
const ONE = 1n << BITS

/**
 * −ln(ppm/1e6)·2^128 from the floor up, each within 2^-100 of the true value. It begins with −ln 1 = 0, and
 * each value for the next lower n is greater by ln(n + 1) − ln n = 2·artanh(1/(2n + 1)). No floating point,
 * no constants.
 */
function exactLogarithms(): bigint[] {
  const logarithms = Array.from({ length: PPM + 1 }, () => 0n)
  for (let ppm = PPM - 1; ppm >= FLOOR_PPM; ppm--) {
    const base = BigInt(2 * ppm + 1)
    const square = base * base
    let power = (2n * ONE) / base
    let difference = 0n
    for (let odd = 1n; power > 0n; odd += 2n) {
      difference += power / odd
      power /= square
    }
    logarithms[ppm] = logarithms[ppm + 1]! + difference
  }
  return logarithms
}

const exact = exactLogarithms()

/** −ln·1e9 rounded to an integer, and its distance, from 0 to ½, to the nearest rounding boundary (… + ½). */
function nano(ppm: number): { whole: number; distance: number } {
  const scaled = exact[ppm]! * 1_000_000_000n
  const fraction = Number(scaled & (ONE - 1n)) / 2 ** Number(BITS)
  return { whole: Number(scaled >> BITS) + (fraction >= 0.5 ? 1 : 0), distance: Math.abs(fraction - 0.5) }
}

function ulp(x: number): number {
  return 2 ** (Math.floor(Math.log2(x)) - 52)
}

/**
 * The largest error of −Math.log(ppm / 1e6)·1e9 in a library that is off by one unit in the last place: the
 * quotient's rounding, the logarithm's unit and the product's rounding.
 */
function greatestError(ppm: number): number {
  const logarithm = Number(exact[ppm]!) / 2 ** Number(BITS)
  return 1e9 * (2 ** -53 + ulp(logarithm)) + ulp(logarithm * 1e9) / 2
}

describe('−ln in integers of 1e-9', () => {
  const inside = Array.from({ length: PPM + 1 - 2 * FLOOR_PPM }, (_, i) => FLOOR_PPM + i)

  test('the reference reproduces ln 2 and ln 1000 to 30 digits (OEIS A002162; three times A002392)', () => {
    const digits = (ppm: number) => ((exact[ppm]! * 10n ** 30n) >> BITS).toString()
    expect(digits(500_000)).toBe('693147180559945309417232121458')
    expect(digits(1000)).toBe('6907755278982137052053974364053')
  })

  test('every one is the exactly rounded value', () => {
    const wrong = inside.filter((ppm) => LOGARITHMS[ppm] !== nano(ppm).whole)
    expect(wrong).toEqual([])
  })

  test('none is within 2.4e-7 of a rounding boundary; 0.869964 is the nearest', () => {
    const nearest = inside.reduce((best, ppm) => (nano(ppm).distance < nano(best).distance ? ppm : best))
    expect(nearest).toBe(869_964)
    expect(nano(nearest).distance).toBeGreaterThan(2.4e-7)
  })

  test('a library that is off by one unit in the last place gives the same values', () => {
    const doubtful = inside.filter((ppm) => nano(ppm).distance <= 1.5 * greatestError(ppm))
    expect(doubtful).toEqual([])
  })

  test('probabilities are limited to [0.001, 0.999] first', () => {
    expect(LOGARITHMS).toHaveLength(PPM + 1)
    for (let i = 0; i <= FLOOR_PPM; i++) {
      expect(LOGARITHMS[i]).toBe(6_907_755_279)
      expect(LOGARITHMS[PPM - i]).toBe(1_000_500)
    }
  })
})
