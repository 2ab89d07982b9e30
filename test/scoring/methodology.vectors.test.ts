// The worked values of METHODOLOGY 2.0.0 against the scorer: small worlds, each scored whole.
import { describe, expect, test } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { rankedVoices, rankIn } from '../../pipeline/scoring/ranking.ts'
import { multiplier } from '../../pipeline/scoring/skill.ts'
import { SMALL_VECTORS, readVectors, testWorlds } from '../support/methodology-vectors.ts'

describe('vectors/methodology-2.0.0.json', () => {
  const vectors = readVectors(SMALL_VECTORS)
  const { parameters, tolerance, units } = vectors

  test('its parameters are those of the method', () => {
    expect(METHODOLOGY.parameters).toMatchObject(parameters)
  })

  test.each(units.multiplier)(
    'the multiplier of $clusters clusters at $alpha',
    ({ clusters, alpha, expected }) => {
      expect(Math.abs(multiplier(METHODOLOGY, clusters, alpha) - expected)).toBeLessThanOrEqual(tolerance)
    },
  )

  test.each(units.ranks)('the ranks of $skill among $voices, counted: $counted', (unit) => {
    const entity = (skill: number, voice: boolean) => ({ eligible: true, voice, skill, skill_interval: null })
    const itself = {
      ...entity(unit.skill, unit.counted),
      skill_interval: { lower: unit.lower, upper: unit.upper, level: 0.95 },
    }
    const voices = rankedVoices(unit.voices.map((skill) => entity(skill, true)))
    const standing = rankIn(voices, itself)
    expect([
      standing.rank,
      standing.rank_interval?.lower,
      standing.rank_interval?.upper,
      standing.percentile,
      standing.percentile_interval?.lower,
      standing.percentile_interval?.upper,
    ]).toEqual(unit.expected)
  })

  testWorlds(vectors)
})
