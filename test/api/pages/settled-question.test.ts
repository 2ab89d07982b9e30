// The part of a page that says what was forecast: all numbers of the summary, and sentences that hold for any
// of them.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { html } from '../../../api/pages/html.ts'
import { percent } from '../../../api/pages/wording.ts'
import { type Settled, forecastSentence, settledSections } from '../../../api/pages/settled-question.ts'
import { questionSummary } from '../../../pipeline/release/question-summary.ts'
import { Rows } from '../../../pipeline/engine/rows.ts'
import { LAST_COLUMNS } from '../../../pipeline/scoring/last-forecasts.ts'
import { textOf } from '../../support/http/page-text.ts'
import { uuidOf } from '../../support/worlds/world.ts'

const SITE = { environment: 'production', publicUrl: undefined } as const

interface Said {
  ppm: number
  voice: boolean
  isAgent: boolean
}

/** What a release says of a question on which these said something. */
function settledBy(said: readonly Said[], outcome: 0 | 1, course: string | null = null): Settled {
  const rows = new Rows(LAST_COLUMNS)
  for (const [entity, { ppm, voice }] of said.entries()) {
    const { columns, row } = rows
    columns.question[row] = 0
    columns.entity[row] = entity
    columns.ppm[row] = ppm
    columns.coverage[row] = 1e12
    columns.voice[row] = voice ? 1 : 0
    columns.listed[row] = 1
    rows.next()
  }
  const asked = { questionId: uuidOf(1, 0), outcome, course, crowds: 99, surprising: 41 }
  const summary = questionSummary(asked, rows, (entity) => ({
    entityType: said[entity]!.isAgent ? 'agent' : 'forecaster',
    entityId: uuidOf(2, entity),
  }))
  const names = new Map(said.map((_, entity) => [uuidOf(2, entity), `name-${entity}.`]))
  const [from, to] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-02-01T00:00:00Z')]
  return { summary, names, voiceRule: 'recorded', hasAnswers: true, from, to }
}

const ppm = fc.oneof(
  fc.integer({ min: 0, max: 100 }).map((of) => of * 10_000),
  fc.integer({ min: 0, max: 1_000_000 }),
)
const said = fc.array(fc.record({ ppm, voice: fc.boolean(), isAgent: fc.boolean() }), {
  minLength: 1,
  maxLength: 30,
})
const outcomes = fc.constantFrom(0 as const, 1 as const)

test('at least half of those that count said what the sentence says, of even and odd numbers', () => {
  fc.assert(
    fc.property(said, outcomes, (all, outcome) => {
      const counted = all.filter(({ voice }) => voice)
      const text = textOf(html`${forecastSentence(settledBy(all, outcome))}`)
      const found = /at least half said (<?) ?(>?) ?([\d.]+)\s% or (more|less)/.exec(text)
      expect(found === null).toBe(counted.length < 2)
      if (!found) return
      const [, below, above, number, word] = found
      expect(word).toBe(outcome === 1 ? 'more' : 'less')
      // “< 0.1 %” and “> 99.9 %” are numbers between the ends, and 0 and 1 themselves are written as
      // they are.
      const limit = below || above ? (outcome === 1 ? 0 : 100) : Number(number)
      const fits = counted.filter(({ ppm: own }) => (outcome === 1 ? own / 1e4 >= limit : own / 1e4 <= limit))
      expect(2 * fits.length).toBeGreaterThanOrEqual(counted.length)
    }),
  )
})

test('every number of the summary is in the sections', () => {
  fc.assert(
    fc.property(said, outcomes, fc.array(ppm, { minLength: 60, maxLength: 60 }), (all, outcome, course) => {
      const settled = settledBy(all, outcome, course.join(','))
      const { crowd, closest, farthest } = settled.summary
      const text = textOf(html`${forecastSentence(settled)} ${settledSections(SITE, settled)}`)
      const written = (share: number) =>
        percent(share, Number.isInteger(Math.round(share * 1e6) / 1e4) ? 0 : 1)
      const numbers = [...closest, ...farthest].map(({ probability }) => written(probability))
      if (crowd) {
        numbers.push(...[crowd.average, crowd.middle].map(written), ...course.map((at) => written(at / 1e6)))
        numbers.push(...[crowd.average_brier, crowd.middle_brier].map((error) => error.toFixed(3)))
        numbers.push(...crowd.counts.map(String), 'Of 99 questions, 41 took the crowd by more surprise')
      }
      const plain = text.replaceAll('\u00a0', ' ')
      expect(numbers.filter((number) => !plain.includes(number.replaceAll('\u00a0', ' ')))).toEqual([])
      const ids = [...closest, ...farthest].map((end) => ('agent_id' in end ? end.agent_id : end.user_id))
      expect(ids.filter((id) => !text.includes(settled.names.get(id)!))).toEqual([])
    }),
    { numRuns: 40 },
  )
})

test.each([
  [[{ ppm: 650_000, voice: true, isAgent: false }], '1 forecaster answered it, and said 65 % last.'],
  [
    [
      { ppm: 700_000, voice: true, isAgent: false },
      { ppm: 810_000, voice: true, isAgent: false },
    ],
    '2 forecasters answered it; on average they said 75.5 %, and at least half said 81 % or more.',
  ],
  [
    [
      { ppm: 700_000, voice: true, isAgent: false },
      { ppm: 900_000, voice: true, isAgent: true },
      { ppm: 100_000, voice: false, isAgent: true },
    ],
    '1 forecaster and 2 agents answered it. The 2 of them that count, one for each owner, said 80 % on average, and at least half said 90 % or more.',
  ],
  [
    [{ ppm: 100_000, voice: false, isAgent: true }],
    '1 agent answered it, and no forecast that counts here stood at the end.',
  ],
])('the sentence of a question with the outcome yes: %#', (all, expected) => {
  expect(textOf(html`${forecastSentence(settledBy(all, 1))}`).replaceAll('\u00a0', ' ')).toBe(expected)
})
