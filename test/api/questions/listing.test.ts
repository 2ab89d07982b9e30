// The lists of questions by status: the same as by asking each question, at any time, and no more work than a page.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Listing } from '../../../api/questions/listing.ts'
import { byClose } from '../../../api/questions/order.ts'
import { type KnownQuestion, shownAt } from '../../../api/questions/question.ts'
import { QUESTION_STATUSES, type QuestionStatus } from '../../../schemas/requests.ts'
import { START_MS, counting, questionOf } from '../../support/questions.ts'

const FILTERS = [undefined, ...QUESTION_STATUSES]
const at = (ms: number) => new Date(START_MS + ms)

function listed(questions: readonly KnownQuestion[], now: Date): Listing {
  const listing = new Listing()
  listing.change([], [...questions], now)
  return listing
}

/** The ids on all pages of a status. */
function idsOf(listing: Listing, status: QuestionStatus | undefined, now: Date, limit = 3): string[] {
  const ids: string[] = []
  for (let cursor: string | undefined; ;) {
    const { questions, next_cursor } = listing.page({ status, limit, cursor, now })
    ids.push(...questions.map(({ question_id }) => question_id))
    if (next_cursor === null) return ids
    // No page but the last is short, and none is empty but that of an empty list.
    expect(questions).toHaveLength(limit)
    cursor = next_cursor
  }
}

describe('the questions of a status', () => {
  const outcome = fc.constantFrom(null, null, null, 'yes', 'annulled')
  const change = fc.record({
    nowMs: fc.integer({ min: 0, max: 20 }),
    rows: fc.uniqueArray(
      fc.record({
        number: fc.integer({ min: 0, max: 12 }),
        openedAtMs: fc.integer({ min: 0, max: 10 }),
        lastsMs: fc.integer({ min: 1, max: 10 }),
        outcome,
      }),
      { selector: ({ number }) => number, maxLength: 8 },
    ),
  })

  test('are those that say so themselves, whatever changes and however the clock goes', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
        const listing = new Listing()
        const known = new Map<string, KnownQuestion>()
        for (const { nowMs, rows } of changes) {
          const come = rows.map((row) =>
            questionOf(row.number, { ...row, closesAtMs: row.openedAtMs + row.lastsMs }, row.outcome),
          )
          const gone = come.flatMap(({ question_id }) => known.get(question_id) ?? [])
          for (const question of come) known.set(question.question_id, question)
          if (rows.length > 0) listing.change(gone, come, at(nowMs))
          // The instant itself, one before it, and one after it.
          for (const now of [at(nowMs), at(nowMs - 1), at(nowMs + 1)]) {
            for (const status of FILTERS) {
              const expected = [...known.values()]
                .filter((question) => status === undefined || shownAt(question, now).status === status)
                .toSorted(byClose)
              expect(idsOf(listing, status, now)).toEqual(expected.map(({ question_id }) => question_id))
            }
          }
        }
      }),
    )
  })

  test('go on after a cursor of any list, also of a question that has left it', () => {
    const questions = [1, 2, 3, 4].map((number) =>
      questionOf(number, { openedAtMs: 0, closesAtMs: number * 10 }),
    )
    const listing = listed(questions, at(0))
    const first = listing.page({ status: 'open', limit: 2, cursor: undefined, now: at(0) })
    const next = (status: QuestionStatus, ms: number) =>
      listing
        .page({ status, limit: 9, cursor: first.next_cursor!, now: at(ms) })
        .questions.map(({ title }) => title)
    expect(next('open', 0)).toEqual(['Question 3?', 'Question 4?'])
    expect(next('open', 35)).toEqual(['Question 4?'])
    expect(next('closed', 35)).toEqual(['Question 3?'])
    expect(next('closed', 5)).toEqual([])
  })
})

describe('the work for a page', () => {
  /** 20,000 closed questions, as many resolved, and 100 that are open or upcoming. */
  const many = Array.from({ length: 40_100 }, (_, number) => {
    if (number < 20_000) return questionOf(number, { openedAtMs: -2e9, closesAtMs: -1e9 + number })
    if (number < 40_000) return questionOf(number, { openedAtMs: -2e9, closesAtMs: -1e9 + number }, 'yes')
    return questionOf(number, { openedAtMs: number % 2 === 0 ? -1 : 1000, closesAtMs: number * 1000 })
  })

  test('of any status is that of the questions on it', () => {
    const { counted, looks } = counting(many)
    const listing = listed(counted, at(0))
    for (const status of FILTERS) {
      looks()
      const first = listing.page({ status, limit: 20, cursor: undefined, now: at(0) })
      const next = listing.page({ status, limit: 20, cursor: first.next_cursor!, now: at(0) })
      expect([first.questions.length, next.questions.length]).toEqual([20, 20])
      // The 40 that are shown, and binary searches for the cursor and for the first open question.
      expect(looks(), status).toBeLessThan(300)
    }
  })

  test('at the instant when many questions open is one move for all of them, and later none', () => {
    const { counted, looks } = counting(many)
    const listing = listed(counted, at(0))
    const open = (ms: number) => listing.page({ status: 'open', limit: 1, cursor: undefined, now: at(ms) })
    open(0)
    looks()
    open(1000)
    // 50 that open, each with a search near the one before.
    expect(looks()).toBeLessThan(50 * 30)
    expect(idsOf(listing, 'open', at(1000), 1000)).toHaveLength(100)
    looks()
    open(1001)
    expect(looks()).toBeLessThan(100)
  })
})
