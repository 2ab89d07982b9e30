// The orders of the questions of an entity.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { gainOf, inOrder } from '../../../../api/pages/profile/questions.ts'
import type { QuestionScore } from '../../../../api/pages/profile/subject.ts'
import { ENTITY_QUESTION_ORDERS } from '../../../../schemas/requests.ts'

const score = fc
  .record({
    judged_coverage: fc.constantFrom(0.25, 0.5, 0.75),
    judged_brier: fc.constantFrom(0, 10_000_000, 250_000_000),
    average_brier: fc.constantFrom(0, 10_000_000, 100_000_000),
    contested: fc.boolean(),
  })
  .map((given): QuestionScore => ({
    ...given,
    question_id: '',
    title: null,
    category: null,
    outcome: 'yes',
    resolved_at: new Date(0),
    settled_at: null,
    settled: true,
    coverage: 1,
    brier: 0.25,
    closing_probability: 0.5,
  }))
const scores = fc.array(score, { maxLength: 30 })

describe('the order of questions', () => {
  it('keeps every question', () => {
    fc.assert(
      fc.property(scores, fc.constantFrom(...ENTITY_QUESTION_ORDERS), (newest, order) => {
        const ordered = inOrder(newest, order)
        expect(ordered).toHaveLength(newest.length)
        expect(new Set(ordered)).toEqual(new Set(newest))
      }),
    )
  })

  it('begins with the least gain, or the greatest, and ends with questions that are not shared', () => {
    fc.assert(
      fc.property(scores, (newest) => {
        const worst = inOrder(newest, 'worst').map(gainOf)
        const shared = worst.filter((gain) => gain !== null)
        expect(worst).toEqual([...shared.toSorted((a, b) => a - b), ...worst.slice(shared.length)])
        expect(worst.slice(shared.length).every((gain) => gain === null)).toBe(true)
        const best = inOrder(newest, 'best').map(gainOf)
        expect(best.slice(0, shared.length)).toEqual(shared.toReversed())
      }),
    )
  })

  it('begins with what surprised the others most, of the shared ones', () => {
    const of = (average_brier: number, judged_coverage: number, contested = true) =>
      ({ average_brier, judged_coverage, contested }) as QuestionScore
    const [mild, strong, none] = [of(60_000_000, 0.6), of(50_000_000, 0.1), of(250_000_000, 0.5, false)]
    expect(inOrder([mild, none, strong], 'surprising')).toEqual([strong, mild, none])
  })

  it('leaves equal ones newest first', () => {
    const [first, second] = [
      { average_brier: 100_000_000, judged_coverage: 0.5, contested: true },
      { average_brier: 100_000_000, judged_coverage: 0.5, contested: true },
    ]
    const ordered = inOrder([first, second] as QuestionScore[], 'surprising')
    expect(ordered[0]).toBe(first)
  })
})

it('says by how much the average of the others erred more, over the judged time', () => {
  const given = {
    contested: true,
    judged_coverage: 0.5,
    judged_brier: 25_000_000,
    average_brier: 100_000_000,
  } as QuestionScore
  expect(gainOf(given)).toBeCloseTo(0.15)
})
