// The worked values of METHODOLOGY 2.0.0 against the plain scorer: small worlds, the multiplier of the
// interval, and ranks.
import { describe, expect, test } from 'vitest'
import { SMALL_VECTORS, readVectors, testWorldsPlainly } from '../support/methodology-vectors.ts'
import { rankPlainly } from '../support/plain/ranking.ts'
import { multiplier } from '../support/plain/skill.ts'

describe('the plain scorer', () => {
  const vectors = readVectors(SMALL_VECTORS)

  testWorldsPlainly(vectors)

  test.each(vectors.units.multiplier)(
    'multiplies the error of $clusters clusters at $alpha by $expected',
    ({ clusters, alpha, expected }) => {
      expect(multiplier(clusters, alpha)).toBe(expected)
    },
  )

  test.each(vectors.units.ranks)(
    'ranks $skill among $voices (itself among them: $counted)',
    ({ voices, skill, lower, upper, counted, expected }) => {
      const field = counted ? voices : [...voices, skill]
      const standing = rankPlainly(field, skill, { lower, upper })
      expect([
        standing.rank,
        standing.rank_interval.lower,
        standing.rank_interval.upper,
        standing.percentile,
        standing.percentile_interval.lower,
        standing.percentile_interval.upper,
      ]).toEqual(expected)
    },
  )
})
