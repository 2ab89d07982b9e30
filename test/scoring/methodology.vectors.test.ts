// The worked values of METHODOLOGY 2.0.0 against the scorer: eight worlds, each scored whole.
import { describe, expect, test } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { rankedVoices, standingIn } from '../../pipeline/scoring/ranking.ts'
import { multiplier } from '../../pipeline/scoring/skill.ts'
import { areVectorsThere, vectors } from '../support/methodology-vectors.ts'
import { scoreWorld } from '../support/scored-world.ts'

describe.skipIf(!areVectorsThere)('vectors/methodology-2.0.0.json', () => {
  const { parameters, tolerance, units, worlds } = vectors

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
    const standing = standingIn(voices, itself)
    expect([
      standing.rank,
      standing.rank_interval?.lower,
      standing.rank_interval?.upper,
      standing.percentile,
      standing.percentile_interval?.lower,
      standing.percentile_interval?.upper,
    ]).toEqual(unit.expected)
  })

  describe.each(Object.keys(worlds))('the world %s', (name) => {
    const { world, expected } = worlds[name]!
    const scored = scoreWorld(world)

    test('its voice rule and scale', () => {
      expect([scored.voiceRule, scored.scale]).toEqual([expected.voice_rule, expected.scale])
    })

    test('every pair', () => {
      const off = scored.pairs.flatMap((pair) => {
        const own = expected.pairs[`${pair.entity}|${pair.question}`]
        if (!own) return [`${pair.entity} ${pair.question} is not expected`]
        return Object.entries(own).flatMap(([column, value]) => {
          const got =
            column === 'contested'
              ? pair.standard >= 0
              : column === 'voices'
                ? pair.voices
                : pair[column as 'coverage'] / 1e12
          const isEqual =
            typeof value === 'number' ? Math.abs(Number(got) - value) <= tolerance : got === value
          return isEqual ? [] : [`${pair.entity} ${pair.question} ${column}: ${got}, not ${String(value)}`]
        })
      })
      expect(off).toEqual([])
      expect(scored.pairs).toHaveLength(Object.keys(expected.pairs).length)
    })

    test('every entity', () => {
      const got = scored.entities.map(({ entityId, metrics, award }) => {
        const names = Object.keys(expected.entities[entityId]!)
        const values = { ...metrics, ...award } as Record<string, unknown>
        return [entityId, Object.fromEntries(names.map((column) => [column, values[column]]))]
      })
      expect(Object.fromEntries(got)).toEqual(expected.entities)
    })
  })
})
