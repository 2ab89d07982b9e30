import fc from 'fast-check'
import { expect, it } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { runningSkill } from '../../pipeline/scoring/running.ts'
import { skillByTopic } from '../../pipeline/scoring/topics.ts'

const NEEDED = METHODOLOGY.parameters.eligible_questions

const nano = fc.integer({ min: 0, max: 900_000_000 })
const pair = fc.record({
  contested: fc.nat(9).map((drawn) => drawn > 0),
  judged_brier: nano,
  judged_brier_if_other: nano,
  average_brier: nano,
  average_brier_if_other: nano,
  unit: fc.uuid(),
  joint: fc.constant('lone' as const),
  cluster: fc.integer({ min: 0, max: 9 }).map(String),
  week: fc.constant('2026-W01'),
  category: fc.constantFrom('elections', 'weather', null),
})

it('gives each topic the skill of its contested questions alone, from the number on that a rank takes', () => {
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 120 }), (pairs) => {
      const topics = skillByTopic(METHODOLOGY, pairs)
      const counts = topics.map(({ questions }) => questions)
      expect(counts).toEqual(counts.toSorted((a, b) => b - a))
      for (const { topic, questions, point } of topics) {
        const own = pairs.filter((each) => each.category === topic && each.contested)
        expect(questions).toBe(own.length)
        expect(point).toEqual(
          questions < NEEDED ? undefined : runningSkill(METHODOLOGY, own, null, [questions]).at(-1),
        )
      }
      const contested = pairs.filter((each) => each.contested)
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(contested.length)
    }),
  )
})

it('puts topics with as many questions in the order of their names, and questions without one last', () => {
  const of = (category: string | null) => ({
    contested: true,
    judged_brier: 100_000_000,
    judged_brier_if_other: 100_000_000,
    average_brier: 200_000_000,
    average_brier_if_other: 200_000_000,
    unit: '1',
    joint: 'lone' as const,
    cluster: '1',
    week: '2026-W01',
    category,
  })
  const topics = skillByTopic(METHODOLOGY, [of(null), of('b'), of('a'), of('c'), of('c')])
  expect(topics.map(({ topic }) => topic)).toEqual(['c', 'a', 'b', null])
})
