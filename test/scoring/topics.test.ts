import fc from 'fast-check'
import { expect, it } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { runningSkill } from '../../pipeline/scoring/running.ts'
import { skillByTopic } from '../../pipeline/scoring/topics.ts'

const NEEDED = METHODOLOGY.parameters.eligible_questions

const pair = fc.record({
  coverage: fc.constant(1),
  brier: fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000),
  standard_reference: fc.option(fc.integer({ min: 0, max: 900_000_000 }), { freq: 9 }),
  cluster: fc.integer({ min: 0, max: 9 }).map(String),
  spread: fc.constant(100_000_000),
  category: fc.constantFrom('elections', 'weather', null),
})

it('gives each topic the skill of its contested questions alone, from the number on that a rank takes', () => {
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 120 }), (pairs) => {
      const topics = skillByTopic(METHODOLOGY, pairs)
      const counts = topics.map(({ questions }) => questions)
      expect(counts).toEqual(counts.toSorted((a, b) => b - a))
      for (const { topic, questions, point } of topics) {
        const own = pairs.filter((each) => each.category === topic && each.standard_reference !== null)
        expect(questions).toBe(own.length)
        expect(point).toEqual(
          questions < NEEDED ? undefined : runningSkill(METHODOLOGY, own, null, [questions]).at(-1),
        )
      }
      const contested = pairs.filter(({ standard_reference: reference }) => reference !== null)
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(contested.length)
    }),
  )
})

it('puts topics with as many questions in the order of their names, and questions without one last', () => {
  const of = (category: string | null) => ({
    coverage: 1,
    brier: 0.1,
    standard_reference: 200_000_000,
    cluster: '1',
    spread: 0,
    category,
  })
  const topics = skillByTopic(METHODOLOGY, [of(null), of('b'), of('a'), of('c'), of('c')])
  expect(topics.map(({ topic }) => topic)).toEqual(['c', 'a', 'b', null])
})
