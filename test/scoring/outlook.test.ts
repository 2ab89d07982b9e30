// The next title of an agent, and how many questions it takes if those to come are like those before.
import { describe, expect, test } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { outlookOf } from '../../pipeline/scoring/outlook.ts'
import type { CertificationGrounds } from '../../pipeline/scoring/ranking.ts'

/** An interval of this half width around a skill, at the level of a first attempt. */
const around = (skill: number, margin: number) => ({
  lower: skill - margin,
  upper: skill + margin,
  level: 0.95,
})

function agent(questions: number, given: Partial<CertificationGrounds> = {}): CertificationGrounds {
  return {
    contested_questions: questions,
    clusters: questions / 2,
    evidence: 2,
    crowd_evidence: 2,
    skill_interval: around(0.2, 0.1),
    strict_skill_interval: around(0.2, 0.1),
    crowd_skill_interval: around(0.2, 0.1),
    voice_rule: 'recorded',
    ...given,
  }
}
const next = (grounds: CertificationGrounds) => outlookOf(METHODOLOGY, grounds)

test('who has no rank needs the questions that a rank takes', () => {
  expect(next(agent(20))).toEqual({
    title: 'provisional',
    because: 'it has 20 contested questions, fewer than 25',
    questions: 5,
  })
})

test('what only lacks questions needs those', () => {
  expect(next(agent(40))).toMatchObject({ title: 'certified', questions: 10 })
  expect(next(agent(80))).toMatchObject({ title: 'expert', questions: 20 })
  expect(next(agent(100))).toBeNull()
})

test('few clusters and little evidence take more of the same', () => {
  // 25 clusters of five questions each.
  expect(next(agent(60, { clusters: 12 }))).toMatchObject({ title: 'certified', questions: 65 })
  // Half of the evidence that it takes.
  expect(next(agent(60, { evidence: 0.5 }))).toMatchObject({ questions: 60 })
})

describe('an interval with 0 inside', () => {
  test('is above it after so many more clusters, and not after fewer', () => {
    const wide = agent(100, { clusters: 50, skill_interval: around(0.2, 0.25) })
    const { questions } = next(wide)!
    // By hand: h(50) = 3.18 and h(79) = 3.09, and 0.2 > 0.25 · (h(m)/h(50)) · √(50/m) from m = 74 on.
    expect(questions).toBe(2 * (74 - 50))
  })

  test('leads nowhere without a skill above 0, or where every agent is a voice', () => {
    expect(next(agent(100, { skill_interval: around(-0.1, 0.25) }))).toMatchObject({ questions: null })
    expect(next(agent(100, { skill_interval: null }))).toMatchObject({ questions: null })
    expect(next(agent(100, { voice_rule: 'everyone' }))).toMatchObject({
      title: 'certified',
      questions: null,
    })
  })
})
