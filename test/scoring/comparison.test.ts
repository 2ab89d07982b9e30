// Two entities on the questions that both answered, at the times at which both stood. Expected numbers are
// worked out by hand.
import { expect, test } from 'vitest'
import {
  type ComparedQuestion,
  type SidedForecast,
  compare,
  sharedTime,
} from '../../pipeline/scoring/comparison.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'

/** Open for 1,000 ms, and known at its close. */
const QUESTION = { openedAtMs: 0, closesAtMs: 1000, endsAtMs: 1000, outcome: 1 } as const

const first = (atMs: number, ppm: number): SidedForecast => ({ side: 0, atMs, ppm })
const second = (atMs: number, ppm: number): SidedForecast => ({ side: 1, atMs, ppm })

test('only the time counts in which both stand', () => {
  const forecasts = [first(100, 900_000), second(400, 600_000), first(600, 700_000), second(900, -1)]
  expect(sharedTime(QUESTION, forecasts)).toEqual({
    // From 400 to 900.
    coverage: 500_000_000,
    // (0.1² · 200 + 0.3² · 300) / 1000 and 0.4² · 500 / 1000.
    errors: [29_000_000, 80_000_000],
    // (0.9² · 200 + 0.7² · 300) / 1000 and 0.6² · 500 / 1000.
    errorsOther: [309_000_000, 180_000_000],
  })
})

test('a forecast from before the opening stands from the opening, and one after the outcome counts for nothing', () => {
  const early = [first(-500, 500_000), second(-400, 1_000_000), second(300, 0)]
  const known = { ...QUESTION, endsAtMs: 300 }
  expect(sharedTime(known, early)).toMatchObject({ coverage: 300_000_000, errors: [75_000_000, 0] })
  expect(sharedTime({ ...known, outcome: 0 }, early)).toMatchObject({ errors: [75_000_000, 300_000_000] })
})

test('two that never stand at the same time share nothing', () => {
  expect(sharedTime(QUESTION, [first(0, 500_000), first(400, -1), second(400, 500_000)])).toBeUndefined()
  expect(sharedTime(QUESTION, [first(0, 500_000), second(1000, 500_000)])).toBeUndefined()
  expect(sharedTime(QUESTION, [])).toBeUndefined()
})

const nano = (value: number) => Math.round(value * 1e9)

/** As certain of the other outcome as of this one, so that no spread is greater than the gain. */
function shared(cluster: number, coverage: number, [a, b]: readonly [number, number]): ComparedQuestion {
  const errors = [nano(a * coverage), nano(b * coverage)] as const
  const id = `${cluster}`
  const named = { questionId: id, unit: id, joint: 'lone' as const, unitQuestions: 1, cluster: id, week: id }
  return { ...named, outcome: 1, coverage: nano(coverage), errors, errorsOther: errors }
}

test('the means weigh each question by the time that was shared', () => {
  const found = compare(METHODOLOGY, [shared(7, 1, [0.1, 0.3]), shared(3, 0.5, [0.4, 0.1])])
  expect(found).toMatchObject({ questions: 2, clusters: 2 })
  expect(found.brier![0]).toBeCloseTo(0.2, 12)
  expect(found.brier![1]).toBeCloseTo(0.35 / 1.5, 12)
  expect(found.difference).toBeCloseTo(-0.05 / 1.5, 12)
  // V = ΣX_g² = 0.2² + 0.15² = 0.0625; h = √(11·ln(1.1/0.0025)).
  const margin = (Math.sqrt(0.0625) * Math.sqrt(11 * Math.log(440))) / 1.5
  expect(found.interval!.upper - found.difference!).toBeCloseTo(margin, 9)
  expect(found.difference! - found.interval!.lower).toBeCloseTo(margin, 9)
  expect(found.interval!.level).toBeCloseTo(0.95, 12)
})

test('the two change sides with the sign', () => {
  const questions = [1, 2, 3].map((cluster) => shared(cluster, 1 / cluster, [0.1 * cluster, 0.3]))
  const turned = questions.map(({ errors: [a, b], errorsOther: [c, d], ...rest }) => ({
    ...rest,
    errors: [b, a] as const,
    errorsOther: [d, c] as const,
  }))
  const [one, other] = [compare(METHODOLOGY, questions), compare(METHODOLOGY, turned)]
  expect(other.difference).toBe(-one.difference!)
  expect(other.interval!.lower).toBe(-one.interval!.upper)
})

test('one event gives no interval, and nothing shared gives no number', () => {
  expect(compare(METHODOLOGY, [shared(1, 1, [0, 1]), shared(1, 1, [0, 1])]).interval).toBeNull()
  expect(compare(METHODOLOGY, [])).toEqual({
    questions: 0,
    clusters: 0,
    brier: null,
    difference: null,
    interval: null,
  })
})
