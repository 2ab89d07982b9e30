// An entity's scores from integers against the plain scorer over unrounded pairs, and the cases without anything to
// average.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type EntityScores, scoreEntity } from '../../pipeline/scoring/entity.ts'
import { PPM } from '../../pipeline/scoring/logarithm.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { NO_PAIRS, type EntityPairs } from '../../pipeline/scoring/pairs.ts'
import type { ResolvedQuestion } from '../../pipeline/scoring/question.ts'
import { type Pair, entityPairs, newSweep, sweepPairs } from '../support/pairs.ts'
import {
  type PlainQuestion,
  type RawForecast,
  columnsOf,
  scoreEntityPlainly,
  scoreQuestionPlainly,
} from '../support/plain-scorer.ts'

const ENTITIES = ['agent:1', 'agent:2', 'forecaster:1']

interface Asked {
  questionId: string
  question: ResolvedQuestion
  rows: RawForecast[]
}

const asked: fc.Arbitrary<Asked> = fc
  .record({
    questionId: fc.uuid(),
    horizonMs: fc.integer({ min: 100, max: 1000 }),
    // Few values, so that the question_id has ties to break.
    resolvedAtMs: fc.constantFrom(60, 100, 700, 2000),
    outcome: fc.constantFrom<0 | 1>(0, 1),
    rows: fc.array(
      fc.record({
        entity: fc.constantFrom(...ENTITIES),
        atMs: fc.integer({ min: -10, max: 300 }),
        ppm: fc.oneof(
          fc.integer({ min: 0, max: 10 }).map((tenth) => (tenth * PPM) / 10),
          fc.nat(PPM),
        ),
        imported: fc.boolean(),
      }),
      { minLength: 1, maxLength: 8 },
    ),
  })
  .map(({ questionId, horizonMs, resolvedAtMs, outcome, rows }) => ({
    questionId,
    question: { openedAtMs: 0, closesAtMs: horizonMs, resolvedAtMs, outcome },
    rows: rows.map((row, i) => ({ ...row, forecastId: `${100 + i}`, recordedAtMs: i })),
  }))

interface Taken {
  questionId: string
  question: ResolvedQuestion
  pair: Pair
}

/** The engine's columns, in the order (resolved_at, question_id). */
function inOrder(taken: readonly Taken[]): EntityPairs {
  const ordered = taken.toSorted(
    (a, b) => a.question.resolvedAtMs - b.question.resolvedAtMs || (a.questionId < b.questionId ? -1 : 1),
  )
  return entityPairs(ordered.map(({ pair, question }) => ({ ...pair, outcome: question.outcome })))
}

function takenBy(name: string, world: readonly Asked[]): { fast: Taken[]; plain: PlainQuestion[] } {
  const fast: Taken[] = []
  const plain: PlainQuestion[] = []
  const sweep = newSweep(ENTITIES.length)
  for (const { questionId, question, rows } of world) {
    const own = sweepPairs(question, columnsOf(rows, ENTITIES), sweep).find(
      ({ entity }) => ENTITIES[entity] === name,
    )
    if (own) fast.push({ questionId, question, pair: own })
    const { resolvedAtMs, outcome } = question
    const pair = scoreQuestionPlainly(question, rows).find(({ entity }) => entity === name)
    if (pair) plain.push({ questionId, resolvedAtMs, outcome, pair })
  }
  return { fast, plain }
}

function score(world: readonly Asked[], name = ENTITIES[0]!): EntityScores {
  return scoreEntity(METHODOLOGY, inOrder(takenBy(name, world).fast))
}

/** Every number in `value` with its path, so that two results can be compared figure by figure. */
function figures(value: unknown, path = ''): [path: string, figure: unknown][] {
  if (value === null || typeof value !== 'object') return [[path, value]]
  return Object.entries(value).flatMap(([name, part]) => figures(part, `${path}/${name}`))
}

function expectSame(measured: EntityScores, expected: EntityScores): void {
  const wanted = new Map(figures(expected))
  const found = figures(measured)
  expect(found.map(([path]) => path).sort()).toEqual([...wanted.keys()].sort())
  for (const [path, figure] of found) {
    const value = wanted.get(path)
    if (typeof figure === 'number' && typeof value === 'number') {
      expect(Math.abs(figure - value), path).toBeLessThanOrEqual(1e-9)
    } else {
      expect(figure, path).toBe(value)
    }
  }
}

const worlds = fc.oneof(fc.array(asked, { maxLength: 5 }), fc.array(asked, { minLength: 60, maxLength: 110 }))

test('exact sums and the plain scorer agree to 1e-9 in every figure', () => {
  let long = 0
  fc.assert(
    fc.property(worlds, (world) => {
      for (const name of ENTITIES) {
        const { fast, plain } = takenBy(name, world)
        const measured = scoreEntity(METHODOLOGY, inOrder(fast))
        expectSame(measured, scoreEntityPlainly(plain))
        if (measured.skill_stability !== null) long += 1
      }
    }),
    { numRuns: 120, seed: 20260101 },
  )
  expect(long).toBeGreaterThan(20)
})

test('the order in which questions are given changes no bit', () => {
  fc.assert(
    fc.property(
      fc
        .array(asked, { minLength: 1, maxLength: 60 })
        .chain((world) =>
          fc.tuple(
            fc.constant(world),
            fc.shuffledSubarray(world, { minLength: world.length, maxLength: world.length }),
          ),
        ),
      ([world, shuffled]) => {
        expect(score(shuffled)).toEqual(score(world))
      },
    ),
    { numRuns: 60 },
  )
})

test('an entity that took part in nothing has no scores and ten empty bins', () => {
  const { calibration_curve, ...scores } = scoreEntity(METHODOLOGY, NO_PAIRS)
  expect(scores).toEqual({
    resolved_questions: 0,
    forecasts: 0,
    eligible: false,
    imported_share: null,
    coverage_sum: 0,
    brier: null,
    log_score: null,
    baseline_score: null,
    peer_score: null,
    skill: null,
    skill_interval: null,
    calibration: null,
    expected_calibration_error: null,
    skill_stability: null,
    skill_deviation: null,
    windows: 0,
    conviction: null,
    conviction_gap: null,
    responsiveness: null,
    updates: 0,
    updates_per_question: null,
    flip_flop: null,
  })
  expect(calibration_curve).toHaveLength(10)
  expectSame(scoreEntity(METHODOLOGY, NO_PAIRS), scoreEntityPlainly([]))
})

/** `count` questions on which the first entity forecasts `ppm` and the second `others`, each over the whole time. */
function identical(count: number, ppm: number, others: number | null, outcome: 0 | 1 = 1): Asked[] {
  return Array.from({ length: count }, (_, i) => {
    const row = { atMs: 0, recordedAtMs: 0, imported: false }
    const own = { ...row, forecastId: '1', entity: ENTITIES[0]!, ppm }
    return {
      questionId: `${1000 + i}`,
      question: { openedAtMs: 0, closesAtMs: 100, resolvedAtMs: 100, outcome },
      rows: others === null ? [own] : [own, { ...row, forecastId: '2', entity: ENTITIES[1]!, ppm: others }],
    }
  })
}

describe('skill', () => {
  test('is shrunk by ten imaginary questions, so that ten perfect ones give only one half', () => {
    expect(score(identical(10, PPM, null)).skill).toBe(0.5)
  })

  test('of one question has no interval', () => {
    expect(score(identical(1, PPM, null)).skill_interval).toBeNull()
    expect(score(identical(2, PPM, null)).skill_interval).not.toBeNull()
  })

  test('of the house forecast among house forecasts is 0, its interval empty', () => {
    const { skill, skill_interval } = score(identical(60, PPM / 2, PPM / 2))
    expect({ skill, skill_interval }).toEqual({
      skill: 0,
      skill_interval: { lower: 0, upper: 0, level: 0.95 },
    })
  })
})

describe('eligibility and stability', () => {
  test('begin at 25 and at 50 questions', () => {
    expect(score(identical(24, PPM, null)).eligible).toBe(false)
    expect(score(identical(25, PPM, null)).eligible).toBe(true)
    expect(score(identical(49, PPM, null))).toMatchObject({ windows: 0, skill_stability: null })
    expect(score(identical(50, PPM, null))).toMatchObject({
      windows: 26,
      skill_stability: 1,
      skill_deviation: 0,
    })
  })

  test('a window that is level with its peers is not ahead', () => {
    expect(score(identical(50, PPM / 2, PPM / 2)).skill_stability).toBe(0)
  })

  test('windows slide by one question in the order of resolution', () => {
    // 25 wins, then 25 losses of the same size: a window is ahead while the majority in it are wins.
    const world = identical(50, PPM, PPM / 2).map((each, i) => ({
      ...each,
      question: { ...each.question, resolvedAtMs: 100 + i },
      rows: each.rows.map((row) => (i < 25 || row.entity !== ENTITIES[0] ? row : { ...row, ppm: 292_893 })),
    }))
    // On a win x = 0.25; on a loss x = 0.25 − 0.707107² = −0.25 up to the last decimals.
    expect(score(world)).toMatchObject({ windows: 26, skill_stability: 13 / 26 })
    expect(score(world.toReversed())).toEqual(score(world))
  })
})

describe('conviction_gap', () => {
  test.each([
    ['certain and right', PPM, 1, 0],
    ['certain and wrong', 0, 1, 1],
    ['one half counts as half right', PPM / 2, 1, 0],
    ['underconfident', 600_000, 1, -0.4],
  ] as const)('%s', (_, ppm, outcome, expected) => {
    expect(score(identical(30, ppm, null, outcome)).conviction_gap).toBeCloseTo(expected, 15)
  })
})
