// The next title, and how many questions it takes if those to come are like those before.
import { describe, expect, test } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { outlookOf } from '../../pipeline/scoring/outlook.ts'
import type { TitleGrounds } from '../../pipeline/scoring/title.ts'

type Grounds = TitleGrounds & { clusters: number }

/** An interval of this half width around a skill, at the level of a first attempt. */
const around = (skill: number, margin: number) => ({
  lower: skill - margin,
  upper: skill + margin,
  level: 0.95,
})

function record(questions: number, given: Partial<Grounds> = {}): Grounds {
  return {
    contested_questions: questions,
    priced_questions: 0,
    clusters: questions / 2,
    evidence: 2,
    coverage: 0.5,
    skill: 0.2,
    skill_interval: around(0.2, 0.1),
    median_skill: 0.2,
    median_skill_interval: around(0.2, 0.1),
    market_skill: null,
    market_skill_interval: null,
    voice_rule: 'recorded',
    ...given,
  }
}
const next = (grounds: Grounds) => outlookOf(METHODOLOGY, grounds)

test('who has no rank needs the questions that a rank takes', () => {
  expect(next(record(20))).toEqual({
    title: 'measured',
    because: 'it has 20 contested questions, fewer than 25',
    questions: 5,
  })
})

test('what only lacks questions needs those', () => {
  expect(next(record(40))).toMatchObject({ title: 'certified', questions: 10 })
  expect(next(record(50))).toBeNull()
})

test('little evidence takes more of the same', () => {
  // Half of the evidence that it takes.
  expect(next(record(60, { evidence: 0.5 }))).toMatchObject({ questions: 60 })
})

describe('an interval with 0 inside', () => {
  test.each(['skill_interval', 'median_skill_interval'])(
    'is above it after so many more clusters: %s',
    (name) => {
      const { questions } = next(record(100, { clusters: 50, [name]: around(0.2, 0.25) }))!
      // By hand: h(50) = 3.18 and h(79) = 3.09, and 0.2 > 0.25 · (h(m)/h(50)) · √(50/m) from m = 74 on.
      expect(questions).toBe(2 * (74 - 50))
    },
  )

  test('leads nowhere without a skill that is large enough, or with little coverage', () => {
    const below = { skill: -0.1, skill_interval: around(-0.1, 0.25) }
    expect(next(record(100, below))).toMatchObject({ questions: null })
    expect(
      next(record(100, { median_skill: 0.01, median_skill_interval: around(0.01, 0.005) })),
    ).toMatchObject({
      questions: null,
    })
    expect(next(record(100, { skill_interval: null }))).toMatchObject({ questions: null })
    expect(next(record(100, { coverage: 0.1 }))).toMatchObject({ questions: null })
  })

  test('takes prices where every agent is a voice', () => {
    expect(next(record(100, { voice_rule: 'everyone' }))).toMatchObject({
      title: 'certified',
      questions: null,
    })
    const priced = { priced_questions: 25, market_skill: 0.2, market_skill_interval: around(0.2, 0.1) }
    expect(next(record(100, { voice_rule: 'everyone', ...priced }))).toMatchObject({ questions: 100 })
  })
})
