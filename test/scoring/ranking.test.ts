// Ranks, their intervals, and percentiles.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { boardsOf, rankIn, tallyOf } from '../../pipeline/scoring/ranking.ts'
import { placeOn } from '../support/plain/board.ts'

interface Entity {
  isRetired: boolean
  eligible: boolean
  pool: string | null
  skill: number | null
  board_interval: { lower: number; upper: number } | null
}

const member = (skill: number, changes: Partial<Entity> = {}): Entity => ({
  isRetired: false,
  eligible: true,
  pool: 'a',
  skill,
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
    expect(ranks.every(({ population }) => population === 5)).toBe(true)
  })

  test('nobody is ranked with an entity of another pool', () => {
    const ranks = rank([member(0.1), member(0.5, { pool: 'b' }), member(0.4, { pool: 'b' })])
    expect(ranks.map(({ rank: place, percentile }) => [place, percentile])).toEqual([
      [1, 50],
      [1, 75],
      [2, 25],
    ])
  })

  test('an entity that is not eligible has no rank and is not counted', () => {
    const ranks = rank([
      member(0.9, { eligible: false }),
      member(0.1),
      member(0, { eligible: false, skill: null }),
    ])
    const unranked = { rank: null, rank_interval: null, percentile: null, population: 3 }
    expect(ranks[0]).toEqual(unranked)
    expect(ranks[1]).toMatchObject({ rank: 1, percentile: 50 })
    expect(ranks[2]).toEqual(unranked)
  })

  test('a retired entity has no rank, and stands on the board of nobody else', () => {
    const board = (changes: Partial<Entity>) => rank([member(0.3), member(0.2, changes), member(0.1)])
    expect(board({}).map(({ rank: place, percentile }) => [place, percentile])).toEqual([
      [1, 83.33],
      [2, 50],
      [3, 16.67],
    ])
    const [first, middle, last] = board({ isRetired: true })
    expect(middle).toEqual({ rank: null, rank_interval: null, percentile: null, population: 3 })
    expect([first, last].map((one) => [one!.rank, one!.percentile])).toEqual([
      [1, 75],
      [2, 25],
    ])
  })

  test('where all have retired nobody is ranked', () => {
    const ranks = rank([member(0.2, { isRetired: true }), member(0.1, { isRetired: true })])
    expect(ranks.map(({ rank: place }) => place)).toEqual([null, null])
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

  test('without an interval every rank is possible', () => {
    const [, own] = rank([member(0.1), member(0.2, { board_interval: null }), member(0.3)])
    expect(own!.rank_interval).toEqual({ lower: 1, upper: 3 })
  })

  test('agrees with counting, and the mean percentile is 50', () => {
    const millionths = fc.integer({ min: -6, max: 6 }).map((n) => n / 1e6 + 0)
    const some = fc.array(
      fc.record({
        isRetired: fc.boolean(),
        eligible: fc.boolean(),
        pool: fc.constantFrom('a', 'b'),
        skill: millionths,
        gaps: fc.option(fc.record({ below: fc.nat(4), above: fc.nat(4) })),
      }),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(some, (given) => {
        const entities = given.map(({ gaps, ...entity }) => {
          const end = (parts: number) => Math.round(entity.skill * 1e6 + parts) / 1e6 + 0
          return { ...entity, board_interval: gaps && { lower: end(-gaps.below), upper: end(gaps.above) } }
        })
        const ranks = rank(entities)
        for (const pool of ['a', 'b']) {
          const places = [...entities.keys()].filter((i) => {
            const { eligible, isRetired, pool: own } = entities[i]!
            return eligible && !isRetired && own === pool
          })
          const board = places.map((i) => entities[i]!)
          for (const i of places) {
            expect(ranks[i]).toEqual({ ...placeOn(board, entities[i]!), population: entities.length })
          }
          const sum = places.reduce((total, i) => total + ranks[i]!.percentile!, 0)
          expect(Math.abs(sum - 50 * places.length)).toBeLessThanOrEqual(0.0051 * places.length)
        }
      }),
      { numRuns: 500 },
    )
  })
})
