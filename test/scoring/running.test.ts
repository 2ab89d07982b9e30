import fc from 'fast-check'
import { expect, it } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { roundHalfEven } from '../../pipeline/scoring/round.ts'
import { type ErrorPair, runningSkill } from '../../pipeline/scoring/running.ts'
import { alphaOf, intervalOf, skillOf } from '../../pipeline/scoring/skill.ts'

const KAPPA = 2_500_000_000

const pair = fc
  .record({
    coverage: fc.integer({ min: 1, max: 100 }).map((hundredths) => hundredths / 100),
    brier: fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000),
    standard_reference: fc.option(fc.integer({ min: 0, max: 900_000_000 })),
    cluster: fc.integer({ min: 0, max: 9 }).map((number) => `week:|${number}`),
    spread: fc.integer({ min: 0, max: 300_000_000 }),
  })
  .map((given): ErrorPair => ({
    ...given,
    spread: given.standard_reference === null ? null : given.spread,
  }))

/** METHODOLOGY §3, written down again without a sum that is kept. */
function plainly(pairs: readonly ErrorPair[]) {
  const rows = pairs.map(({ coverage, brier, standard_reference: z, spread, cluster }) => ({
    f: spread!,
    x: z! - Math.round(coverage * brier * 1e9),
    z: z!,
    cluster,
  }))
  const sumOf = (values: number[]) => values.reduce((sum, value) => sum + value, 0)
  const below = sumOf(rows.map(({ z }) => z)) + KAPPA
  const skill = sumOf(rows.map(({ x }) => x)) / below
  const groups = [...Map.groupBy(rows, ({ cluster }) => cluster).values()]
  const squares = (of: (row: (typeof rows)[number]) => number) =>
    sumOf(groups.map((group) => sumOf(group.map(of)) ** 2))
  const count = groups.length
  const scattered = (count / (count - 1)) * squares(({ x, z }) => x - skill * z)
  const variance = Math.max(
    scattered,
    squares(({ x }) => x),
    squares(({ f }) => f),
  )
  const error = Math.sqrt(variance) / below
  const reach = Math.sqrt((1 + 20 / count) * Math.log((count / 20 + 1) / 0.05 ** 2))
  return { skill, margin: count < 2 ? null : reach * error }
}

it('is the skill and the interval of the first contested pairs, for every number of them', () => {
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 60 }), (pairs) => {
      const contested = pairs.filter(({ standard_reference: reference }) => reference !== null)
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

it('ends, to the bit, where the sums of all pairs do', () => {
  const contested = pair.filter(({ standard_reference: reference }) => reference !== null)
  fc.assert(
    fc.property(fc.array(contested, { minLength: 1, maxLength: 60 }), (pairs) => {
      const rows = pairs.map(({ coverage, brier, standard_reference: z, spread, cluster }) => {
        const gain = BigInt(z! - roundHalfEven(coverage * brier * 1e9))
        return { gain, reference: BigInt(z!), spread: BigInt(spread!), cluster }
      })
      const groups = [...Map.groupBy(rows, ({ cluster }) => cluster).values()]
      type Name = 'gain' | 'reference' | 'spread'
      const sumIn = (group: typeof rows, name: Name) => group.reduce((sum, row) => sum + row[name], 0n)
      const products = (a: Name, b: Name) =>
        Number(groups.reduce((sum, group) => sum + sumIn(group, a) * sumIn(group, b), 0n))
      const whole = skillOf(METHODOLOGY, {
        gain: Number(sumIn(rows, 'gain')),
        reference: Number(sumIn(rows, 'reference')),
        clusters: groups.length,
        gainSquares: products('gain', 'gain'),
        gainTimesReference: products('gain', 'reference'),
        referenceSquares: products('reference', 'reference'),
        spreadSquares: products('spread', 'spread'),
      })
      const interval = intervalOf(METHODOLOGY, whole, alphaOf(METHODOLOGY, 3))
      const last = runningSkill(METHODOLOGY, pairs, 3).at(-1)
      expect(last).toEqual({ questions: pairs.length, skill: whole.skill, interval })
    }),
  )
})

it('leaves out points of a long record, but neither the last nor a wanted one', () => {
  const one = { coverage: 1, brier: 0.1, standard_reference: 200_000_000, spread: 0 }
  const pairs = Array.from({ length: 1001 }, (_, index) => ({ ...one, cluster: `event:${index}` }))
  const counts = runningSkill(METHODOLOGY, pairs, 2, [25, 1001, 5000]).map(({ questions }) => questions)
  expect(counts).toHaveLength(241)
  expect(counts).toContain(25)
  expect(counts.at(-1)).toBe(1001)
})
