// The worked values of METHODOLOGY 2.0.0 against the plain scorer: eight worlds, the multiplier of the interval, and ranks.
import { describe, expect, test } from 'vitest'
import { type PairValues, areVectorsThere, vectors } from '../support/methodology-vectors.ts'
import { standingPlainly } from '../support/plain/ranking.ts'
import { multiplier } from '../support/plain/skill.ts'
import { scoreWorldPlainly } from '../support/plain/world.ts'

describe.skipIf(!areVectorsThere)('the plain scorer', () => {
  test.each(Object.keys(vectors.worlds))('scores the world %s', (name) => {
    const { world, expected } = vectors.worlds[name]!
    const scores = scoreWorldPlainly(world)
    expect({ scale: scores.scale, voice_rule: scores.voice_rule }).toEqual({
      scale: expected.scale,
      voice_rule: expected.voice_rule,
    })
    expect([...scores.pairs.keys()].sort()).toEqual(Object.keys(expected.pairs).sort())
    for (const [key, values] of Object.entries(expected.pairs)) {
      const pair = scores.pairs.get(key)!
      for (const [column, value] of Object.entries(values)) {
        const measured = pair[column as keyof PairValues]
        if (typeof value === 'boolean') expect(measured, `${column} of ${key}`).toBe(value)
        else {
          const difference = Math.abs(Number(measured) - value)
          expect(difference, `${column} of ${key}`).toBeLessThanOrEqual(vectors.tolerance)
        }
      }
    }
    expect([...scores.entities.keys()].sort()).toEqual(Object.keys(expected.entities).sort())
    for (const [id, values] of Object.entries(expected.entities)) {
      const { metrics: _, ...measured } = scores.entities.get(id)!
      expect(measured, id).toEqual(values)
    }
  })

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
      const standing = standingPlainly(field, skill, { lower, upper })
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
