// Ranks, percentiles, certifications and badges, on both sides of every boundary.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type EntityScores, scoreEntity } from '../../pipeline/scoring/entity.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { NO_PAIRS } from '../../pipeline/scoring/pairs.ts'
import { badgeOf, certificationOf, rankedSkill, standingIn, tallyOf } from '../../pipeline/scoring/ranking.ts'

/** Ranks entities among each other. */
function rank(entities: readonly Pick<EntityScores, 'eligible' | 'skill'>[]) {
  const skills = entities.map((one) => rankedSkill(one))
  const tally = tallyOf(skills)
  const standings = skills.map((skill) => {
    const { rank: place, percentile, eligible_population, population } = standingIn(tally, skill)
    expect([eligible_population, population]).toEqual([tally.eligible, entities.length])
    return { rank: place, percentile }
  })
  return { eligible: tally.eligible, standings }
}

const withSkill = (skill: number | null, eligible = true) => ({ eligible, skill })

function entity(questions: number, lower: number | null): EntityScores {
  const skill_interval = lower === null ? null : { lower, upper: lower + 0.2, level: 0.95 }
  return {
    ...scoreEntity(METHODOLOGY, NO_PAIRS),
    resolved_questions: questions,
    eligible: questions >= 25,
    skill: 0.1,
    skill_interval,
  }
}

describe('rank', () => {
  test('the greatest skill is first; equal skills share a rank, and the following ranks are skipped', () => {
    const { eligible, standings } = rank([0.1, 0.3, 0.2, 0.3, -0.4].map((skill) => withSkill(skill)))
    expect(eligible).toBe(5)
    expect(standings).toEqual([
      { rank: 4, percentile: 30 },
      { rank: 1, percentile: 80 },
      { rank: 3, percentile: 50 },
      { rank: 1, percentile: 80 },
      { rank: 5, percentile: 10 },
    ])
  })

  test('skills are compared at six decimals', () => {
    const { standings } = rank([0.1234561, 0.1234564, 0.1234566].map((skill) => withSkill(skill)))
    expect(standings.map((standing) => standing.rank)).toEqual([2, 2, 1])
  })

  test('0 and -0 are equal', () => {
    const { standings } = rank([-0, 0, -1e-9].map((skill) => withSkill(skill)))
    for (const standing of standings) expect(standing).toEqual({ rank: 1, percentile: 50 })
  })

  test('an entity that is not eligible has no rank and is not counted', () => {
    const { eligible, standings } = rank([withSkill(0.9, false), withSkill(0.1), withSkill(null, false)])
    expect(eligible).toBe(1)
    expect(standings).toEqual([
      { rank: null, percentile: null },
      { rank: 1, percentile: 50 },
      { rank: null, percentile: null },
    ])
  })

  test('a kind without entities has no standings', () => {
    expect(rank([])).toEqual({ eligible: 0, standings: [] })
  })

  test('percentiles have two decimals', () => {
    const { standings } = rank([0.1, 0.2, 0.3].map((skill) => withSkill(skill)))
    expect(standings.map(({ percentile }) => percentile)).toEqual([16.67, 50, 83.33])
  })

  test('agrees with counting, and the mean percentile is 50', () => {
    const field = fc.array(
      fc.record({
        eligible: fc.boolean(),
        skill: fc.oneof(
          fc.integer({ min: -5, max: 5 }).map((n) => n / 1e6),
          fc.double({ min: -3, max: 1, noNaN: true }),
        ),
      }),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(field, (entities) => {
        const { eligible, standings } = rank(entities)
        const counted = entities.filter((one) => one.eligible).map(({ skill }) => Math.round(skill * 1e6))
        expect(eligible).toBe(counted.length)
        for (const [i, one] of entities.entries()) {
          if (!one.eligible) continue
          const own = Math.round(one.skill * 1e6)
          const lower = counted.filter((other) => other < own).length
          const tied = counted.filter((other) => other === own).length
          expect(standings[i]!.rank).toBe(1 + counted.length - lower - tied)
          const percentile = (100 * (lower + tied / 2)) / counted.length
          expect(Math.abs(standings[i]!.percentile! - percentile)).toBeLessThanOrEqual(0.0050001)
        }
        const percentiles = standings.flatMap(({ percentile }) => percentile ?? [])
        const sum = percentiles.reduce((total, percentile) => total + percentile, 0)
        expect(Math.abs(sum - 50 * eligible)).toBeLessThanOrEqual(0.0051 * eligible)
      }),
    )
  })
})

describe('certification of an agent', () => {
  test.each([
    { questions: 0, lower: null, percentile: null, expected: 'none' },
    { questions: 24, lower: 0.5, percentile: 99, expected: 'none' },
    { questions: 25, lower: 0.5, percentile: 99, expected: 'provisional' },
    { questions: 25, lower: -0.5, percentile: 1, expected: 'provisional' },
    { questions: 49, lower: 0.5, percentile: 99, expected: 'provisional' },
    { questions: 50, lower: 0.5, percentile: 99, expected: 'certified' },
    { questions: 50, lower: 0.000001, percentile: 1, expected: 'certified' },
    { questions: 50, lower: 0, percentile: 99, expected: 'provisional' },
    { questions: 50, lower: -0.000001, percentile: 99, expected: 'provisional' },
    // The bound counts as published, with six decimals rounded half to even.
    { questions: 50, lower: 0.0000005, percentile: 99, expected: 'provisional' },
    { questions: 50, lower: 0.00000051, percentile: 99, expected: 'certified' },
    { questions: 99, lower: 0.5, percentile: 99, expected: 'certified' },
    { questions: 100, lower: 0.5, percentile: 90, expected: 'expert' },
    { questions: 100, lower: 0.5, percentile: 89.99, expected: 'certified' },
    { questions: 100, lower: 0, percentile: 99, expected: 'provisional' },
    { questions: 100, lower: null, percentile: 99, expected: 'provisional' },
    { questions: 100, lower: 0.5, percentile: null, expected: 'certified' },
  ])(
    '$questions questions, lower bound $lower, percentile $percentile: $expected',
    ({ questions, lower, percentile, expected }) => {
      expect(certificationOf(METHODOLOGY, entity(questions, lower), { percentile })).toBe(expected)
    },
  )
})

describe('badge of a forecaster', () => {
  test.each([
    { lower: 0.5, percentile: null, expected: 'none' },
    { lower: 0.5, percentile: 49.99, expected: 'none' },
    { lower: 0.5, percentile: 50, expected: 'bronze' },
    { lower: 0.5, percentile: 74.99, expected: 'bronze' },
    { lower: 0.5, percentile: 75, expected: 'silver' },
    { lower: 0.5, percentile: 89.99, expected: 'silver' },
    { lower: 0.5, percentile: 90, expected: 'gold' },
    { lower: 0.5, percentile: 98.99, expected: 'gold' },
    { lower: 0.5, percentile: 99, expected: 'platinum' },
    { lower: 0, percentile: 100, expected: 'silver' },
    { lower: 0.0000005, percentile: 100, expected: 'silver' },
    { lower: null, percentile: 100, expected: 'silver' },
    { lower: -0.5, percentile: 50, expected: 'bronze' },
    { lower: 0.000001, percentile: 99, expected: 'platinum' },
  ])('lower bound $lower, percentile $percentile: $expected', ({ lower, percentile, expected }) => {
    expect(badgeOf(METHODOLOGY, entity(25, lower), { percentile })).toBe(expected)
  })
})
