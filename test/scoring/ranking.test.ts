// Ranks, percentiles, their intervals, certifications and badges, on both sides of every boundary.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { badgeOf, boardsOf, certificationOf, rankIn, tallyOf } from '../../pipeline/scoring/ranking.ts'
import { badgePlainly, certificationPlainly } from '../support/plain/certification.ts'
import { percentilePlainly, rankPlainly } from '../support/plain/ranking.ts'

interface Entity {
  isRetired: boolean
  eligible: boolean
  voice: boolean
  pool: string | null
  skill: number | null
  skill_interval: { lower: number; upper: number; level: number } | null
  board_interval: { lower: number; upper: number } | null
}

const member = (skill: number, changes: Partial<Entity> = {}): Entity => ({
  isRetired: false,
  eligible: true,
  voice: true,
  pool: 'a',
  skill,
  skill_interval: { lower: skill - 0.1, upper: skill + 0.1, level: 0.95 },
  board_interval: { lower: skill - 0.1, upper: skill + 0.1 },
  ...changes,
})

function rank(entities: readonly Entity[]) {
  const members = entities.map(({ isRetired, ...scores }) => ({ isRetired, scores }))
  const boards = boardsOf(tallyOf(members))
  return members.map((one) => rankIn(boards, one))
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

  test('an entity that is no voice stands on the board, and in the percentiles of nobody else', () => {
    const voices = [0.1, 0.2].map((skill) => member(skill))
    const others = [0.3, 0.2, 0.3].map((skill) => member(skill, { voice: false }))
    const ranks = rank([...voices, ...others])
    expect(ranks.map(({ rank: place, field_size }) => [place, field_size])).toEqual([
      [5, 2],
      [3, 2],
      [1, 3],
      [3, 3],
      [1, 3],
    ])
    expect(ranks.map(({ percentile }) => percentile)).toEqual([25, 75, 83.33, 66.67, 83.33])
  })

  test('nobody is ranked with an entity of another pool', () => {
    const ranks = rank([member(0.1), member(0.5, { pool: 'b' }), member(0.4, { pool: 'b' })])
    expect(ranks.map(({ rank: place, field_size }) => [place, field_size])).toEqual([
      [1, 1],
      [1, 2],
      [2, 2],
    ])
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

  test('a retired entity has no rank, gives its rank to the next one, and stays in the percentiles of others as a voice', () => {
    const board = (changes: Partial<Entity>) => rank([member(0.3), member(0.2, changes), member(0.1)])
    const all = board({})
    expect(all.map(({ rank: place, percentile }) => [place, percentile])).toEqual([
      [1, 83.33],
      [2, 50],
      [3, 16.67],
    ])
    const unranked = { rank: null, rank_interval: null, percentile: null, percentile_interval: null }
    const counted = { field_size: 3, population: 3 }
    const [first, middle, last] = board({ isRetired: true })
    expect(middle).toEqual({ ...unranked, ...counted })
    expect(first).toEqual({ ...all[0], rank: 1, rank_interval: { lower: 1, upper: 2 } })
    expect(last).toEqual({ ...all[2], rank: 2, rank_interval: { lower: 1, upper: 2 } })
    // One that is no voice was in the percentiles of nobody else.
    const [best, other, worst] = board({ isRetired: true, voice: false })
    expect(other).toEqual({ ...unranked, field_size: 2, population: 3 })
    expect([best, worst].map((one) => [one!.rank, one!.percentile])).toEqual([
      [1, 75],
      [2, 25],
    ])
  })

  test('where all have retired nobody is ranked', () => {
    const ranks = rank([member(0.2, { isRetired: true }), member(0.1, { isRetired: true, voice: false })])
    expect(ranks.map(({ rank: place, field_size }) => [place, field_size])).toEqual([
      [null, 1],
      [null, 1],
    ])
  })

  test('an interval whose end is another’s skill holds that one’s percentile', () => {
    const interval = { lower: 0.1, upper: 0.3, level: 0.95 }
    const [, own] = rank([member(0.1), member(0.2, { skill_interval: interval }), member(0.3), member(0.4)])
    expect(own!.percentile_interval).toEqual({ lower: 12.5, upper: 62.5 })
  })

  test('bars that touch are not told apart', () => {
    const bar = (lower: number, upper: number) =>
      member((lower + upper) / 2, { board_interval: { lower, upper } })
    const ranks = rank([bar(0.1, 0.2), bar(0.2, 0.3), bar(0.25, 0.5), bar(0.6, 0.7)])
    expect(ranks.map(({ rank_interval: interval }) => [interval!.lower, interval!.upper])).toEqual([
      [3, 4],
      [2, 4],
      [2, 3],
      [1, 1],
    ])
  })

  test('without an interval every rank and every percentile is possible', () => {
    const none = { skill_interval: null, board_interval: null }
    const [, own] = rank([member(0.1), member(0.2, none), member(0.3)])
    expect(own!.rank_interval).toEqual({ lower: 1, upper: 3 })
    expect(own!.percentile_interval).toEqual({ lower: 16.67, upper: 83.33 })
  })

  test('agrees with counting, and the mean percentile of voices is 50', () => {
    const millionths = fc.integer({ min: -6, max: 6 }).map((n) => n / 1e6 + 0)
    const field = fc.array(
      fc.record({
        isRetired: fc.boolean(),
        eligible: fc.boolean(),
        voice: fc.boolean(),
        pool: fc.boolean(),
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
          const bar = gaps && { lower: end(-gaps.below), upper: end(gaps.above) }
          const skill_interval = bar && { ...bar, level: 0.95 }
          return { ...entity, pool: entity.pool ? 'a' : 'b', skill_interval, board_interval: bar }
        })
        const ranks = rank(entities)
        for (const [i, own] of entities.entries()) {
          if (!own.eligible || own.isRetired) continue
          const eligible = entities.filter((one) => one.eligible && one.pool === own.pool)
          const board = eligible.filter(({ isRetired }) => !isRetired)
          const ranked = eligible.filter((one) => one === own || one.voice)
          expect(ranks[i]).toEqual({
            ...rankPlainly(board, own),
            ...percentilePlainly(ranked, own),
            field_size: ranked.length,
            population: entities.length,
          })
        }
        // That others have retired changes no percentile.
        const active = rank(entities.map((entity) => ({ ...entity, isRetired: false })))
        for (const [i, { isRetired }] of entities.entries()) {
          if (!isRetired) expect(ranks[i]!.percentile).toBe(active[i]!.percentile)
        }
        const percentiles = entities.flatMap(({ voice }, i) => (voice ? (active[i]!.percentile ?? []) : []))
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
        evidence: 1,
        crowd_evidence: 1,
        percentile: 50,
        skill_interval: interval(lower),
        strict_skill_interval: interval(lower),
        crowd_skill_interval: interval(crowd),
      }
      const award = certificationOf(METHODOLOGY, { ...grounds, voice_rule: 'recorded' })
      expect(award.title).toBe(expected)
      expect(award.because).toMatch(/\S/)
      expect(certificationPlainly({ ...grounds, n_c: questions }, 'recorded')).toBe(expected)
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
    { percentile: 75, clusters: 10, lower: null, expected: 'silver' },
    { percentile: 75, clusters: 9, lower: 0.5, expected: 'bronze' },
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
      const grounds = {
        percentile,
        clusters,
        evidence: 1,
        skill_interval: interval(lower),
        strict_skill_interval: interval(lower),
      }
      const award = badgeOf(METHODOLOGY, { ...grounds, voice_rule: 'recorded' })
      expect(award.title).toBe(expected)
      expect(award.because).toMatch(/\S/)
      const record = { ...grounds, n_c: 100, crowd_evidence: 1, crowd_skill_interval: null }
      expect(badgePlainly(record, 'recorded')).toBe(expected)
      const among = badgeOf(METHODOLOGY, { ...grounds, voice_rule: 'everyone' }).title
      expect(among).toBe(expected === 'none' ? 'none' : 'bronze')
    },
  )
})

describe('a title above provisional and silver also takes', () => {
  const agent = {
    contested_questions: 100,
    clusters: 100,
    evidence: 1,
    crowd_evidence: 1,
    skill_interval: interval(0.1),
    strict_skill_interval: interval(0.1),
    crowd_skill_interval: interval(0.1),
    voice_rule: 'recorded' as const,
  }
  const person = { ...agent, percentile: 99 }
  const titles = (changes: Partial<typeof agent>) => [
    certificationOf(METHODOLOGY, { ...agent, ...changes }).title,
    badgeOf(METHODOLOGY, { ...person, ...changes }).title,
  ]

  test.each([
    ['nothing more', {}, ['expert', 'platinum']],
    ['evidence of 1', { evidence: 0.999999 }, ['provisional', 'silver']],
    ['a strict interval above 0', { strict_skill_interval: interval(0) }, ['provisional', 'silver']],
    ['a strict interval', { strict_skill_interval: null }, ['provisional', 'silver']],
    ['for experts crowd evidence of 1', { crowd_evidence: 0.999999 }, ['certified', 'platinum']],
  ] as const)('%s', (_, changes, expected) => {
    expect(titles(changes)).toEqual(expected)
  })
})
