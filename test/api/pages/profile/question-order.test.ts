import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { gainOf, inOrder } from '../../../../api/pages/profile/question-order.ts'
import type { QuestionScore } from '../../../../api/pages/profile/subject.ts'
import { ENTITY_QUESTION_ORDERS } from '../../../../schemas/requests.ts'

const score = fc
  .record({
    coverage: fc.constantFrom(0.25, 0.5, 1),
    brier: fc.constantFrom(0, 0.04, 0.25, 1),
    standard_reference: fc.option(fc.constantFrom(0, 100_000_000, 250_000_000)),
    crowd_brier: fc.option(fc.constantFrom(0, 0.1, 0.9)),
    settled: fc.boolean(),
  })
  .map((given): QuestionScore => ({
    ...given,
    question_id: '',
    title: null,
    category: null,
    outcome: 'yes',
    resolved_at: new Date(0),
    settled_at: null,
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

  it('begins with what surprised the others most, of the settled', () => {
    const of = (crowd_brier: number | null, settled = true) => ({ crowd_brier, settled }) as QuestionScore
    const [mild, strong, none, open] = [of(0.1), of(0.9), of(null), of(1, false)]
    expect(inOrder([mild, none, open, strong], 'surprising')).toEqual([strong, mild, none, open])
  })

  it('leaves equal ones newest first', () => {
    const [first, second] = [
      { crowd_brier: 0.2, settled: true },
      { crowd_brier: 0.2, settled: true },
    ]
    const ordered = inOrder([first, second] as QuestionScore[], 'surprising')
    expect(ordered[0]).toBe(first)
  })
})

it('says by how much the middle one of the others erred more, over the time that was covered', () => {
  const given = { standard_reference: 100_000_000, coverage: 0.5, brier: 0.05 } as QuestionScore
  expect(gainOf(given)).toBeCloseTo(0.15)
})
