import fc from 'fast-check'
import { expect, it } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { type ErrorPair, runningSkill } from '../../pipeline/scoring/running.ts'
import { multiplierOf } from '../support/plain/skill.ts'

const KAPPA = 2_500_000_000
const nano = fc.integer({ min: 0, max: 900_000_000 })

const pair: fc.Arbitrary<ErrorPair> = fc.record({
  contested: fc.boolean(),
  judged_brier: nano,
  judged_brier_if_other: nano,
  average_brier: nano,
  average_brier_if_other: nano,
  unit: fc.uuid().map((id) => `question:${id}`),
  joint: fc.constant('lone' as const),
  cluster: fc.integer({ min: 0, max: 9 }).map((number) => `event:${number}`),
  week: fc.integer({ min: 0, max: 5 }).map((number) => `2026-W0${number}`),
})

/** METHODOLOGY §3, written down again without a sum that is kept. */
function plainly(pairs: readonly ErrorPair[]) {
  const rows = pairs.map((one) => {
    const x = one.average_brier - one.judged_brier
    const other = one.average_brier_if_other - one.judged_brier_if_other
    const [least, most] = [Math.min(x, other), Math.max(x, other)]
    const f = Math.round(Math.sqrt(Math.max(0, -x * other)))
    return { ...one, x, f, isOneSided: most > 0 && -least > 3 * most }
  })
  const sumOf = (values: number[]) => values.reduce((sum, value) => sum + value, 0)
  const below = sumOf(rows.map(({ average_brier: reference }) => reference)) + KAPPA
  const squares = (by: (row: (typeof rows)[number]) => string, of: (row: (typeof rows)[number]) => number) =>
    sumOf([...Map.groupBy(rows, by).values()].map((group) => sumOf(group.map(of)) ** 2))
  const lost = (row: (typeof rows)[number]) => (row.isOneSided ? row.f : 0)
  const variance = Math.max(
    squares(
      ({ cluster }) => cluster,
      ({ x }) => x,
    ),
    squares(
      ({ week }) => week,
      ({ x }) => x,
    ),
    squares(
      ({ unit }) => unit,
      (row) => row.f - lost(row),
    ) +
      Math.max(
        squares(({ cluster }) => cluster, lost),
        squares(({ week }) => week, lost),
      ),
  )
  const count = new Set(rows.map(({ cluster }) => cluster)).size
  const reach = multiplierOf(count, 0.05)
  return {
    skill: sumOf(rows.map(({ x }) => x)) / below,
    margin: count < 2 ? null : (reach * Math.sqrt(variance)) / below,
  }
}

it('is the skill and the interval of the first contested pairs, for every number of them', () => {
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 60 }), (pairs) => {
      const contested = pairs.filter((one) => one.contested)
      const points = runningSkill(METHODOLOGY, pairs, 1)
      expect(points.map(({ questions }) => questions)).toEqual(contested.map((_, index) => index + 1))
      for (const { questions, skill, interval } of points) {
        const expected = plainly(contested.slice(0, questions))
        expect(skill).toBeCloseTo(expected.skill, 9)
        expect(interval === null).toBe(expected.margin === null)
        if (interval) expect((interval.upper - interval.lower) / 2).toBeCloseTo(expected.margin!, 7)
      }
    }),
  )
})

it('leaves out points of a long record, but neither the last nor a wanted one', () => {
  const one = {
    contested: true,
    judged_brier: 100_000_000,
    judged_brier_if_other: 300_000_000,
    average_brier: 200_000_000,
    average_brier_if_other: 200_000_000,
    week: '2026-W01',
    joint: 'lone' as const,
  }
  const pairs = Array.from({ length: 1001 }, (_, index) => {
    return { ...one, unit: `question:${index}`, cluster: `question:${index}` }
  })
  const counts = runningSkill(METHODOLOGY, pairs, 2, [25, 1001, 5000]).map(({ questions }) => questions)
  expect(counts).toHaveLength(241)
  expect(counts).toContain(25)
  expect(counts.at(-1)).toBe(1001)
})
