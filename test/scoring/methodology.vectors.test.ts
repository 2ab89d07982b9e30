// The worked values of METHODOLOGY 3.0.0 against the scorer: small worlds, each scored whole. The multiplier and
// the percentiles are those of 2.0.0.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { boardsOf, rankIn, tallyOf } from '../../pipeline/scoring/ranking.ts'
import { multiplier } from '../../pipeline/scoring/skill.ts'
import { SMALL_VECTORS, readVectors, testWorlds } from '../support/methodology-vectors.ts'

describe('vectors/methodology-3.0.0.json', () => {
  const vectors = readVectors(SMALL_VECTORS)

  test('its parameters are those of the method', () => {
    expect(METHODOLOGY.parameters).toMatchObject(vectors.parameters)
  })

  testWorlds(vectors)
})

interface Units {
  multiplier: { clusters: number; alpha: number; expected: number }[]
  percentiles: {
    voices: number[]
    skill: number
    lower: number
    upper: number
    /** Whether the entity is one of the voices. */
    counted: boolean
    /** The percentile, and the ends of its interval. */
    expected: number[]
  }[]
}

describe('vectors/units-2.0.0.json', () => {
  const units = JSON.parse(
    readFileSync(new URL('../vectors/units-2.0.0.json', import.meta.url), 'utf8'),
  ) as Units

  test.each(units.multiplier)(
    'the multiplier of $clusters clusters at $alpha',
    ({ clusters, alpha, expected }) => {
      expect(Math.abs(multiplier(METHODOLOGY, clusters, alpha) - expected)).toBeLessThanOrEqual(1e-9)
    },
  )

  test.each(units.percentiles)('the percentiles of $skill among $voices, counted: $counted', (unit) => {
    const entity = (skill: number, voice: boolean) => {
      const scores = { eligible: true, voice, pool: 'p', skill, skill_interval: null, board_interval: null }
      return { isRetired: false, scores }
    }
    const { isRetired, scores } = entity(unit.skill, unit.counted)
    const skill_interval = { lower: unit.lower, upper: unit.upper, level: 0.95 }
    const itself = { isRetired, scores: { ...scores, skill_interval } }
    const voices = unit.voices.map((skill) => entity(skill, true))
    const boards = boardsOf(tallyOf(unit.counted ? voices : [...voices, itself]))
    const { percentile, percentile_interval } = rankIn(boards, itself)
    expect([percentile, percentile_interval?.lower, percentile_interval?.upper]).toEqual(unit.expected)
  })
})
