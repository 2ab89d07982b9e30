// Ranks, percentiles, their intervals, certifications and badges, on both sides of every boundary.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { badgeOf, certificationOf, rankedVoices, rankIn } from '../../pipeline/scoring/ranking.ts'
import { badgePlainly, certificationPlainly, rankPlainly } from '../support/plain/ranking.ts'

interface Entity {
  eligible: boolean
  voice: boolean
  skill: number | null
  skill_interval: { lower: number; upper: number; level: number } | null
}

const member = (skill: number, changes: Partial<Entity> = {}): Entity => ({
  eligible: true,
  voice: true,
  skill,
  skill_interval: { lower: skill - 0.1, upper: skill + 0.1, level: 0.95 },
  ...changes,
})

function rank(entities: readonly Entity[]) {
  const voices = rankedVoices(entities)
  return entities.map((entity) => rankIn(voices, entity))
}

describe('rank', () => {
  test('the greatest skill is first; equal skills share a rank, and the following ranks are skipped', () => {
    const ranks = rank([0.1, 0.3, 0.2, 0.3, -0.4].map((skill) => member(skill)))
    expect(ranks.map(({ rank: place, percentile }) => [place, percentile])).toEqual([
      [4, 30],
      [1, 80],
      [3, 50],
      [1, 80],
      [5, 10],
    ])
    expect(ranks.every(({ field_size, population }) => field_size === 5 && population === 5)).toBe(true)
  })

  test('whoever is no voice is compared with the voices and itself, and changes nobody’s rank', () => {
    const voices = [0.1, 0.2].map((skill) => member(skill))
    const others = [0.3, 0.2, 0.3].map((skill) => member(skill, { voice: false }))
    const ranks = rank([...voices, ...others])
    expect(ranks.map(({ rank: place, field_size }) => [place, field_size])).toEqual([
      [2, 2],
      [1, 2],
      [1, 3],
      [1, 3],
      [1, 3],
    ])
    expect(ranks.map(({ percentile }) => percentile)).toEqual([25, 75, 83.33, 66.67, 83.33])
  })

  test('an entity that is not eligible has no rank and is not counted', () => {
    const ranks = rank([
      member(0.9, { eligible: false }),
      member(0.1),
      member(0, { eligible: false, skill: null }),
    ])
    const unranked = {
      rank: null,
      rank_interval: null,
      percentile: null,
      percentile_interval: null,
      field_size: 1,
      population: 3,
    }
    expect(ranks[0]).toEqual(unranked)
    expect(ranks[1]).toMatchObject({ rank: 1, percentile: 50 })
    expect(ranks[2]).toEqual(unranked)
  })

  test('an interval whose end is another’s skill holds that one’s rank', () => {
    const interval = { lower: 0.1, upper: 0.3, level: 0.95 }
    const [, own] = rank([member(0.1), member(0.2, { skill_interval: interval }), member(0.3), member(0.4)])
    expect(own!.rank_interval).toEqual({ lower: 2, upper: 4 })
    expect(own!.percentile_interval).toEqual({ lower: 12.5, upper: 62.5 })
  })

  test('without an interval of the skill every rank is possible', () => {
    const [, own] = rank([member(0.1), member(0.2, { skill_interval: null }), member(0.3)])
    expect(own!.rank_interval).toEqual({ lower: 1, upper: 3 })
  })

  test('agrees with counting, and the mean percentile of voices is 50', () => {
    const millionths = fc.integer({ min: -6, max: 6 }).map((n) => n / 1e6 + 0)
    const field = fc.array(
      fc.record({
        eligible: fc.boolean(),
        voice: fc.boolean(),
        skill: millionths,
        skill_interval: fc.option(
          fc.tuple(millionths, fc.nat(4), fc.nat(4)).map(([, below, above]) => ({ below, above })),
        ),
      }),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(field, (given) => {
        const entities = given.map(({ skill_interval: gaps, ...entity }) => {
          const end = (parts: number) => Math.round(entity.skill * 1e6 + parts) / 1e6 + 0
          const interval = gaps && { lower: end(-gaps.below), upper: end(gaps.above), level: 0.95 }
          return { ...entity, skill_interval: interval }
        })
        const ranks = rank(entities)
        for (const [i, own] of entities.entries()) {
          if (!own.eligible) continue
          const others = entities.filter((one) => one === own || (one.eligible && one.voice))
          const expected = rankPlainly(
            others.map(({ skill }) => skill),
            own.skill,
            own.skill_interval,
          )
          expect(ranks[i]).toEqual({
            ...expected,
            field_size: others.length,
            population: entities.length,
          })
        }
        const percentiles = entities.flatMap(({ voice }, i) => (voice ? (ranks[i]!.percentile ?? []) : []))
        const sum = percentiles.reduce((total, percentile) => total + percentile, 0)
        expect(Math.abs(sum - 50 * percentiles.length)).toBeLessThanOrEqual(0.0051 * percentiles.length)
      }),
      { numRuns: 500 },
    )
  })
})

const interval = (lower: number | null) => (lower === null ? null : { lower, upper: 1, level: 0.95 })

describe('certification of an agent', () => {
  test.each([
    { questions: 0, clusters: 0, lower: null, crowd: null, expected: 'none' },
    { questions: 24, clusters: 24, lower: 0.5, crowd: 0.5, expected: 'none' },
    { questions: 25, clusters: 25, lower: 0.5, crowd: 0.5, expected: 'provisional' },
    { questions: 25, clusters: 25, lower: -0.5, crowd: -0.5, expected: 'provisional' },
    { questions: 49, clusters: 49, lower: 0.5, crowd: 0.5, expected: 'provisional' },
    { questions: 50, clusters: 24, lower: 0.5, crowd: 0.5, expected: 'provisional' },
    { questions: 50, clusters: 25, lower: 0.5, crowd: 0.5, expected: 'certified' },
    { questions: 50, clusters: 25, lower: 0.000001, crowd: null, expected: 'certified' },
    { questions: 50, clusters: 25, lower: 0, crowd: 0.5, expected: 'provisional' },
    { questions: 50, clusters: 25, lower: -0.000001, crowd: 0.5, expected: 'provisional' },
    { questions: 99, clusters: 99, lower: 0.5, crowd: 0.5, expected: 'certified' },
    { questions: 100, clusters: 25, lower: 0.5, crowd: 0.000001, expected: 'expert' },
    { questions: 100, clusters: 25, lower: 0.5, crowd: 0, expected: 'certified' },
    { questions: 100, clusters: 100, lower: 0, crowd: 0.5, expected: 'provisional' },
    { questions: 100, clusters: 100, lower: null, crowd: null, expected: 'provisional' },
    { questions: 1000, clusters: 24, lower: 0.5, crowd: 0.5, expected: 'provisional' },
  ] as const)(
    '$questions questions of $clusters clusters, lower ends $lower and $crowd: $expected',
    ({ questions, clusters, lower, crowd, expected }) => {
      const grounds = {
        contested_questions: questions,
        clusters,
        skill_interval: interval(lower),
        crowd_skill_interval: interval(crowd),
      }
      const award = certificationOf(METHODOLOGY, { ...grounds, voice_rule: 'recorded' })
      expect(award.title).toBe(expected)
      expect(award.because).toMatch(/\S/)
      expect(certificationPlainly(grounds, 'recorded')).toBe(expected)
      const among = certificationOf(METHODOLOGY, { ...grounds, voice_rule: 'everyone' }).title
      expect(among).toBe(expected === 'none' ? 'none' : 'provisional')
    },
  )
})

describe('badge of a forecaster', () => {
  test.each([
    { percentile: null, clusters: 30, lower: 0.5, expected: 'none' },
    { percentile: 49.99, clusters: 30, lower: 0.5, expected: 'none' },
    { percentile: 50, clusters: 30, lower: -0.5, expected: 'bronze' },
    { percentile: 74.99, clusters: 30, lower: 0.5, expected: 'bronze' },
    { percentile: 75, clusters: 1, lower: null, expected: 'silver' },
    { percentile: 89.99, clusters: 30, lower: 0.5, expected: 'silver' },
    { percentile: 90, clusters: 25, lower: 0.000001, expected: 'gold' },
    { percentile: 90, clusters: 24, lower: 0.5, expected: 'silver' },
    { percentile: 90, clusters: 25, lower: 0, expected: 'silver' },
    { percentile: 98.99, clusters: 25, lower: 0.5, expected: 'gold' },
    { percentile: 99, clusters: 25, lower: 0.000001, expected: 'platinum' },
    { percentile: 99, clusters: 24, lower: 0.5, expected: 'silver' },
    { percentile: 99.5, clusters: 25, lower: null, expected: 'silver' },
  ] as const)(
    'percentile $percentile, $clusters clusters, lower end $lower: $expected',
    ({ percentile, clusters, lower, expected }) => {
      const grounds = { percentile, clusters, skill_interval: interval(lower) }
      const award = badgeOf(METHODOLOGY, { ...grounds, voice_rule: 'recorded' })
      expect(award.title).toBe(expected)
      expect(award.because).toMatch(/\S/)
      expect(badgePlainly(grounds, 'recorded')).toBe(expected)
      const among = badgeOf(METHODOLOGY, { ...grounds, voice_rule: 'everyone' }).title
      expect(among).toBe(expected === 'none' ? 'none' : 'bronze')
    },
  )
})
