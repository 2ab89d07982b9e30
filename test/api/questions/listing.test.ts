// The lists of questions by status: the same as by asking each question, at any time, and no more work than a
// page.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type DueQuestions, type Filters, Listing } from '../../../api/questions/listing.ts'
import { byClose, byOpening } from '../../../api/questions/order.ts'
import { type KnownQuestion, shownAt } from '../../../api/questions/question.ts'
import { QUESTION_STATUSES, type QuestionStatus } from '../../../schemas/requests.ts'
import { START_MS, counting, questionOf } from '../../support/worlds/questions.ts'
import { uuidOf } from '../../support/worlds/world.ts'

const STATUSES = [undefined, ...QUESTION_STATUSES]
const at = (ms: number) => new Date(START_MS + ms)

function listed(questions: readonly KnownQuestion[], now: Date): Listing {
  const listing = new Listing()
  listing.change([], [...questions], now)
  return listing
}

/** The ids on all pages. */
function idsOf(listing: Listing, filters: Filters, now: Date, limit = 3): string[] {
  const ids: string[] = []
  for (let cursor: string | undefined; ;) {
    const { questions, next_cursor } = listing.page({ ...filters, limit, cursor, now })
    ids.push(...questions.map(({ question_id }) => question_id))
    if (next_cursor === null) return ids
    // No page but the last is short, and none is empty but that of an empty list.
    expect(questions).toHaveLength(limit)
    cursor = next_cursor
  }
}

/** The questions that are due, by asking each. All close within a day and open within a week. */
function dueOf(questions: readonly KnownQuestion[], now: Date, limit: number): DueQuestions {
  const due = (status: QuestionStatus, order: typeof byClose | typeof byOpening) => {
    const all = questions.filter((question) => shownAt(question, now).status === status).toSorted(order)
    return { count: all.length, questions: all.slice(0, limit) }
  }
  return {
    overdue: due('closed', byClose),
    closing: due('open', byClose),
    opening: due('upcoming', byOpening),
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

  test(
    'are those that say so themselves, whatever changes and however the clock goes',
    { tags: ['slow'] },
    () => {
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
              for (const status of STATUSES) {
                const expected = [...known.values()]
                  .filter((question) => status === undefined || shownAt(question, now).status === status)
                  .toSorted(byClose)
                expect(idsOf(listing, { status }, now)).toEqual(
                  expected.map(({ question_id }) => question_id),
                )
              }
              expect(listing.due(now, 2)).toEqual(dueOf([...known.values()], now, 2))
            }
          }
        }),
      )
    },
  )

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

describe('the questions that pass every filter', () => {
  const WORDS = ['will', 'Oslo', 'ÅRSTID', '2026', 'дом', 'x']
  const words = fc.uniqueArray(fc.constantFrom(...WORDS), { maxLength: 4 })
  const category = fc.constantFrom(null, 'sport', 'Sport')
  const row = fc.record({
    number: fc.integer({ min: 0, max: 30 }),
    openedAtMs: fc.integer({ min: 0, max: 10 }),
    lastsMs: fc.integer({ min: 1, max: 5 }),
    outcome: fc.constantFrom(null, null, 'yes'),
    category,
    words,
    between: fc.constantFrom(' ', ', ', '-', '’'),
    source: fc.constantFrom(null, 'one', 'two'),
    event_id: fc.constantFrom(null, 'cup', 'league'),
    updatedAtMs: fc.integer({ min: START_MS, max: START_MS + 15 }),
  })
  const instant = fc.option(
    fc.integer({ min: -1, max: 16 }).map((ms) => START_MS + ms),
    { nil: undefined },
  )
  const isAfter = (ms: number | null, than: number | undefined) =>
    than === undefined || (ms ?? -Infinity) > than
  const filters = fc.record({
    status: fc.constantFrom(...STATUSES),
    category: fc.option(fc.constantFrom('sport', 'Sport', 'other'), { nil: undefined }),
    source: fc.option(fc.constantFrom('one', 'two', 'other'), { nil: undefined }),
    event_id: fc.option(fc.constantFrom('cup', 'league'), { nil: undefined }),
    numbers: fc.option(fc.uniqueArray(fc.integer({ min: 0, max: 30 })), { nil: undefined }),
    closes_before: instant,
    closes_after: instant,
    opened_after: instant,
    resolved_after: instant,
    updated_after: instant,
    q: fc.option(fc.uniqueArray(fc.constantFrom(...WORDS, 'never'), { minLength: 1, maxLength: 3 }), {
      nil: undefined,
    }),
  })

  test('are those that a look at each question finds, after any changes', () => {
    const changes = fc.array(
      fc.uniqueArray(row, { selector: ({ number }) => number, minLength: 1, maxLength: 25 }),
      { minLength: 1, maxLength: 4 },
    )
    fc.assert(
      fc.property(
        changes,
        fc.array(filters, { minLength: 1, maxLength: 5 }),
        fc.nat(16),
        (batches, asked, nowMs) => {
          const listing = new Listing()
          const known = new Map<string, { question: KnownQuestion; words: readonly string[] }>()
          for (const rows of batches) {
            const come = rows.map((of) => {
              const title = `${of.words.join(of.between)}?`
              const times = { openedAtMs: of.openedAtMs, closesAtMs: of.openedAtMs + of.lastsMs }
              const { category: its, source, event_id, updatedAtMs } = of
              return questionOf(of.number, times, of.outcome, {
                title,
                category: its,
                source,
                event_id,
                updatedAtMs,
              })
            })
            listing.change(
              come.flatMap(({ question_id }) => known.get(question_id)?.question ?? []),
              [...come],
              at(0),
            )
            for (const [index, question] of come.entries()) {
              known.set(question.question_id, { question, words: rows[index]!.words })
            }
          }
          const now = at(nowMs)
          for (const { q, numbers, ...rest } of asked) {
            const ids = numbers?.map((number) => uuidOf(4, number))
            const passing = [...known.values()].filter(({ question, words: has }) => {
              if (rest.status !== undefined && shownAt(question, now).status !== rest.status) return false
              if (rest.category !== undefined && question.category !== rest.category) return false
              if (rest.source !== undefined && question.source !== rest.source) return false
              if (rest.event_id !== undefined && question.event_id !== rest.event_id) return false
              if (ids && !ids.includes(question.question_id)) return false
              if (question.closesAtMs >= (rest.closes_before ?? Infinity)) return false
              if (!isAfter(question.closesAtMs, rest.closes_after)) return false
              if (!isAfter(question.openedAtMs, rest.opened_after)) return false
              if (!isAfter(question.resolvedAtMs, rest.resolved_after)) return false
              if (!isAfter(question.updatedAtMs, rest.updated_after)) return false
              return q?.every((word) => has.includes(word)) ?? true
            })
            const expected = passing.map(({ question }) => question).toSorted(byClose)
            const among = ids
              ?.flatMap((questionId) => known.get(questionId)?.question ?? [])
              .toSorted(byClose)
            const found = idsOf(listing, { ...rest, among, q: q?.map((word) => word.toLowerCase()) }, now)
            expect(found).toEqual(expected.map(({ question_id }) => question_id))
          }
        },
      ),
    )
  })

  test('are found by a word that many others have, however they change', () => {
    const listing = new Listing()
    // Long lists: in order, out of order, with outcomes, under other titles, and at other times.
    const first = Array.from({ length: 300 }, (_, number) =>
      questionOf(number, { openedAtMs: 0, closesAtMs: 500 + number }),
    )
    const between = first.map((_, number) =>
      questionOf(1000 + number, { openedAtMs: 0, closesAtMs: 600 + number }),
    )
    const resolved = first.slice(50, 150).map((question) => ({ ...question, outcome: 'no' as const }))
    const renamed = resolved.slice(20, 40).map((question) => ({ ...question, title: 'Other?' }))
    const moved = between
      .slice(0, 10)
      .map((question) => ({ ...question, closesAtMs: question.closesAtMs + 1000 }))
    listing.change([], [...first], at(0))
    listing.change([], [...between], at(0))
    listing.change(first.slice(50, 150), [...resolved], at(0))
    listing.change(resolved.slice(20, 40), [...renamed], at(0))
    listing.change(between.slice(0, 10), [...moved], at(0))
    const all = new Map(
      [...first, ...between, ...resolved, ...renamed, ...moved].map((of) => [of.question_id, of]),
    )
    const expected = [...all.values()].filter(({ title }) => title.startsWith('Question')).toSorted(byClose)
    const { questions } = listing.page({ q: ['question'], limit: 1000, cursor: undefined, now: at(0) })
    expect(questions).toEqual(expected)
    expect(idsOf(listing, { q: ['other'] }, at(0), 1000)).toHaveLength(20)
    expect(idsOf(listing, { q: ['question', '1005'] }, at(0))).toEqual([moved[5]!.question_id])
  })
})

describe('the work for a page', () => {
  /** 20,000 closed questions, as many resolved, and 100 that are open or upcoming. */
  const many = Array.from({ length: 40_100 }, (_, number) => {
    if (number < 20_000) return questionOf(number, { openedAtMs: -2e9, closesAtMs: -1e9 + number })
    if (number < 40_000) return questionOf(number, { openedAtMs: -2e9, closesAtMs: -1e9 + number }, 'yes')
    return questionOf(number, { openedAtMs: number % 2 === 0 ? -1 : 1000, closesAtMs: number * 1000 })
  })

  test('of any status is that of the questions on it', { tags: ['slow'] }, () => {
    const { counted, looks } = counting(many)
    const listing = listed(counted, at(0))
    for (const status of STATUSES) {
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
    expect(idsOf(listing, { status: 'open' }, at(1000), 1000)).toHaveLength(100)
    looks()
    open(1001)
    expect(looks()).toBeLessThan(100)
  })

  /** 60,000 titles with the same 18 words, and every other one with a word that the next one lacks. */
  const common = Array.from({ length: 18 }, (_, nth) => `common${nth}`)
  const alike = Array.from({ length: 60_000 }, (_, number) =>
    questionOf(number, { openedAtMs: -1, closesAtMs: 1 + number }, null, {
      title: [...common, number % 2 === 0 ? 'even' : 'odd', number === 59_000 ? 'single' : ''].join(' '),
      category: number % 3 === 0 ? 'third' : 'others',
    }),
  )
  const hostile: [what: string, filters: Filters, matches: number][] = [
    ['20 words that exclude each other', { q: [...common, 'even', 'odd'] }, 0],
    [
      '20 words of few questions, with every filter',
      {
        q: [...common, 'even'],
        status: 'open',
        category: 'third',
        closes_before: START_MS + 50_000,
        opened_after: START_MS - 2,
      },
      8_334,
    ],
    ['20 words of one question', { q: [...common, 'even', 'single'] }, 1],
    ['openings of which there are none', { opened_after: START_MS, closes_before: START_MS + 59_000 }, 0],
    ['a word that nothing has', { q: [...common, 'never'] }, 0],
  ]
  test.for(hostile)(
    'is bounded for %s, and its cursor goes on to the end',
    { tags: ['slow'] },
    ([, filters, matches]) => {
      const { counted, looks } = counting(alike)
      const listing = listed(counted, at(0))
      let [cursor, found, pages]: [string | undefined, number, number] = [undefined, 0, 0]
      do {
        looks()
        const page = listing.page({ ...filters, limit: 100, cursor, now: at(0) })
        // Some 2,000 searches with up to 25 looks each, of 1,140,000 places in the lists of the words.
        expect(looks()).toBeLessThan(60_000)
        found += page.questions.length
        cursor = page.next_cursor ?? undefined
        pages += 1
      } while (cursor !== undefined && pages < 1_000)
      expect(found).toBe(matches)
      expect(pages).toBeLessThan(250)
    },
  )
})
