// Many changes to an ordered list at once: the same list as by sorting anew, and a look at few of its
// questions.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { byClose, changed, indexAfter } from '../../../api/questions/order.ts'
import { counting, questionOf } from '../../support/worlds/questions.ts'

const sample = (count: number) =>
  Array.from({ length: count }, (_, number) => questionOf(number, { openedAtMs: 0, closesAtMs: number >> 1 }))

describe('a changed list', () => {
  test('is the one that sorting anew gives', () => {
    const close = fc.integer({ min: 0, max: 5 })
    const numbered = fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 30 })
    fc.assert(
      fc.property(numbered, close, fc.array(fc.boolean()), numbered, (numbers, spread, kept, fresh) => {
        const old = numbers.map((number) =>
          questionOf(number, { openedAtMs: 0, closesAtMs: number % (spread + 1) }),
        )
        const gone = old.filter(({ question_id }, index) => {
          const isReplaced = fresh.some((number) => questionOf(number, NEVER).question_id === question_id)
          return isReplaced || kept[index] === false
        })
        const come = fresh.map((number) => questionOf(number, { openedAtMs: 0, closesAtMs: number % 4 }))
        const list = changed(old.toSorted(byClose), gone.toSorted(byClose), come.toSorted(byClose))
        const expected = [...old.filter((question) => !gone.includes(question)), ...come].toSorted(byClose)
        expect(list).toEqual(expected)
        for (const [index, question] of list.entries()) expect(indexAfter(list, question)).toBe(index + 1)
      }),
    )
  })

  test('looks at a few questions for each change, wherever it is', { tags: ['slow'] }, () => {
    const { counted, looks } = counting(sample(100_000))
    const gone = Array.from({ length: 10 }, (_, index) => counted[index * 9_999]!)
    const come = gone.map((question) => ({ ...question, title: 'changed' }))
    looks()
    expect(changed(counted, gone, come)).toHaveLength(100_000)
    // Twice a binary search for each, and not one look for each question.
    expect(looks()).toBeLessThan(20 * 2 * 3 * Math.log2(100_000))
  })

  test('looks at few questions for each of many changes side by side', () => {
    const { counted, looks } = counting(sample(10_000))
    looks()
    expect(changed([], [], counted)).toHaveLength(10_000)
    expect(looks()).toBe(0)
    expect(changed(counted, counted, [])).toEqual([])
    expect(looks()).toBeLessThan(10_000 * 10)
  })
})

const NEVER = { openedAtMs: 0, closesAtMs: 0 }
