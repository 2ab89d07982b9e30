// The worked values of METHODOLOGY 3.0.0 against the plain scorer: small worlds, and an identity that needs
// none.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SMALL_VECTORS, readVectors, testWorldsPlainly } from '../support/methodology-vectors.ts'
import { errorIntegrals } from '../support/plain/errors.ts'
import type { Fraction } from '../support/plain/fraction.ts'

describe('the plain scorer', () => {
  testWorldsPlainly(readVectors(SMALL_VECTORS))
})

const ppm = fc.oneof(fc.constantFrom(0, 1, 500_000, 1_000_000), fc.integer({ min: 0, max: 1_000_000 }))

const spans = fc.array(
  fc.record({
    spanMs: fc.integer({ min: 1, max: 10 ** 12 }),
    own: ppm,
    others: fc.array(ppm, { maxLength: 9 }),
  }),
  { minLength: 1, maxLength: 12 },
)

/** a − b = c − d, exactly. */
function expectEqualDifferences(a: Fraction, b: Fraction, c: Fraction, d: Fraction): void {
  const left = (a.over * b.under - b.over * a.under) * c.under * d.under
  const right = (c.over * d.under - d.over * c.under) * a.under * b.under
  expect(left).toBe(right)
}

test('Y − K = Y′ − K′ before rounding: both are how far the voices are apart, whatever comes', () => {
  fc.assert(
    fc.property(spans, (held) => {
      const [no, yes] = [errorIntegrals(held, 0), errorIntegrals(held, 1)]
      expectEqualDifferences(yes.reference_brier, yes.crowd_brier, no.reference_brier, no.crowd_brier)
    }),
    { numRuns: 500 },
  )
})
