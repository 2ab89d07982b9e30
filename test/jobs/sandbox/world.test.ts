// The plan of the sandbox's simulation, without a store: when questions are open, and what determines the
// plan.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ROUNDS_AHEAD,
  ROUNDS_AT_ONCE,
  FORECASTERS,
  type SimulatedQuestion,
  type Simulation,
  forecastsOn,
  questionsClosingAt,
  questionsOf,
  questionsWanted,
  roundAt,
} from '../../../jobs/sandbox/world.ts'

const START_MS = Date.UTC(2026, 2, 1, 12)
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const ROUND_MS = 5 * MINUTE_MS
const DEFAULTS = recordOf(5, 10)
/** More questions in a round than the options allow, so that there are enough to count. */
const MANY = recordOf(5, 5000)

function recordOf(roundMinutes: number, questions: number, seed = 1): Simulation {
  return {
    seed,
    started_at: new Date(START_MS).toISOString(),
    round_ms: roundMinutes * MINUTE_MS,
    questions_per_round: questions,
  }
}

const records = fc
  .record({
    roundMinutes: fc.integer({ min: 1, max: 1440 }),
    questions: fc.integer({ min: 1, max: 100 }),
    seed: fc.integer({ min: 1, max: 99_999_999 }),
  })
  .map(({ roundMinutes, questions, seed }) => recordOf(roundMinutes, questions, seed))
const elapsed = fc.integer({ min: 0, max: 400 * 86_400_000 })

/** Those of `questions` that accept forecasts at an instant. */
const openAt = (questions: SimulatedQuestion[], ms: number) =>
  questions.filter(({ openedAt, closesAt }) => openedAt.getTime() <= ms && ms < closesAt.getTime())

describe('the questions of the sandbox', () => {
  test('open and close together, one round at a time, at every minute of three hours of steps', () => {
    const asked = new Map<string, SimulatedQuestion>()
    let steps = 0
    for (let ms = START_MS; ms < START_MS + 3 * HOUR_MS; ms += MINUTE_MS) {
      const fresh = questionsWanted(DEFAULTS, new Date(ms)).filter(({ questionId }) => !asked.has(questionId))
      for (const question of fresh) asked.set(question.questionId, question)
      steps += fresh.length > 0 ? 1 : 0
      const open = openAt([...asked.values()], ms)
      expect(open).toHaveLength(10)
      const opened = ms - ((ms - START_MS) % ROUND_MS)
      for (const { openedAt, closesAt } of open) {
        expect([openedAt.getTime(), closesAt.getTime()]).toEqual([opened, opened + ROUND_MS])
      }
    }
    // Every step that asks adds a data file for ever, so a step asks the questions of a whole hour.
    expect(steps).toBe(3 + 1)
  })

  test('have the chosen number at any instant, even if the next step comes a round later', () => {
    fc.assert(
      fc.property(records, elapsed, fc.double({ min: 0, max: 1, noNaN: true }), (record, elapsedMs, late) => {
        const ms = START_MS + elapsedMs
        const wanted = questionsWanted(record, new Date(ms))
        const nextMs = ms + record.round_ms + Math.floor(late * record.round_ms)
        for (const at of [ms, ms + record.round_ms, nextMs]) {
          expect(openAt(wanted, at)).toHaveLength(record.questions_per_round)
        }
      }),
      { numRuns: 30 },
    )
  })

  test('are whole rounds beginning with the open one, have unique ids and do not change', () => {
    fc.assert(
      fc.property(records, elapsed, (record, elapsedMs) => {
        const now = new Date(START_MS + elapsedMs)
        const wanted = questionsWanted(record, now)
        expect(new Set(wanted.map(({ questionId }) => questionId)).size).toBe(wanted.length)
        const rounds = new Set(wanted.map(({ closesAt }) => roundAt(record, closesAt) - 1))
        expect(Math.min(...rounds)).toBe(roundAt(record, now))
        expect([...rounds].flatMap((round) => questionsOf(record, round))).toEqual(wanted)
        for (const { openedAt, closesAt } of wanted) {
          expect(closesAt.getTime() - openedAt.getTime()).toBe(record.round_ms)
        }
        expect(questionsClosingAt(record, wanted[0]!.closesAt)).toEqual(
          questionsOf(record, roundAt(record, now)),
        )
      }),
      { numRuns: 10 },
    )
  })

  test('are few enough for a step, whatever the options', () => {
    fc.assert(
      fc.property(records, elapsed, (record, elapsedMs) => {
        const wanted = questionsWanted(record, new Date(START_MS + elapsedMs)).length
        expect(wanted).toBeLessThanOrEqual(record.questions_per_round * (ROUNDS_AHEAD + ROUNDS_AT_ONCE))
      }),
      { numRuns: 30 },
    )
  })

  test('begin with the first round, even if it is in the future by the clock', () => {
    const before = new Date(START_MS - HOUR_MS)
    expect(roundAt(DEFAULTS, before)).toBe(0)
    expect(questionsWanted(DEFAULTS, before)).toEqual(questionsWanted(DEFAULTS, new Date(START_MS)))
  })

  test('close at the ends of rounds and at no other time', () => {
    const closesAt = new Date(START_MS + ROUND_MS)
    expect(questionsClosingAt(DEFAULTS, closesAt)).toEqual(questionsOf(DEFAULTS, 0))
    for (const other of [closesAt.getTime() + 1, START_MS, START_MS - ROUND_MS, 0]) {
      expect(questionsClosingAt(DEFAULTS, new Date(other))).toEqual([])
    }
  })

  test('depend on the seed and on the time of seeding', () => {
    const later = { ...DEFAULTS, started_at: '2026-04-01T00:00:00.000Z' }
    const ids = [DEFAULTS, later, recordOf(5, 10, 2)].map((record) => questionsOf(record, 0)[0]!.questionId)
    expect(new Set(ids).size).toBe(3)
  })

  test('are two tosses of each coin, which are one event with the same odds and an outcome each', () => {
    const questions = questionsOf(MANY, 0)
    const coins = [...Map.groupBy(questions, ({ eventId }) => eventId).values()]
    expect(coins).toHaveLength(questions.length / 2)
    let alike = 0
    let expected = 0
    let variance = 0
    for (const [first, second, ...more] of coins) {
      expect(more).toEqual([])
      expect(second!.logOdds).toBe(first!.logOdds)
      const heads = 1 / (1 + Math.exp(-first!.logOdds))
      const both = heads ** 2 + (1 - heads) ** 2
      alike += first!.outcome === second!.outcome ? 1 : 0
      expected += both
      variance += both * (1 - both)
    }
    expect(Math.abs(alike - expected)).toBeLessThan(3 * Math.sqrt(variance))
  })

  test('resolve to yes as often as their titles say', () => {
    const counts = { expected: 0, yes: 0, variance: 0 }
    for (const { title, outcome, category } of questionsOf(MANY, 0)) {
      const percent = /^Simulated question \d+: .* shows heads (\d+) times in 100 /.exec(title)?.[1]
      expect(category).toBe('simulated')
      const probability = Number(percent) / 100
      expect(probability).toBeGreaterThan(0)
      counts.expected += probability
      counts.variance += probability * (1 - probability)
      counts.yes += outcome === 'yes' ? 1 : 0
    }
    expect(Math.abs(counts.yes - counts.expected)).toBeLessThan(3 * Math.sqrt(counts.variance))
  })
})

describe('the forecasters of the sandbox', () => {
  test('forecast twice on each question while it is open, always the same', () => {
    fc.assert(
      fc.property(records, fc.integer({ min: 0, max: 100_000 }), (record, round) => {
        const question = questionsOf(record, round).at(-1)!
        const forecasts = forecastsOn(record, question)
        expect(forecasts).toHaveLength(2 * FORECASTERS.length)
        expect(forecastsOn(record, question)).toEqual(forecasts)
        const openedMs = question.openedAt.getTime()
        for (const [place, { forecastAt }] of forecasts.entries()) {
          const share = (forecastAt.getTime() - openedMs) / record.round_ms
          expect(Math.floor(2 * share)).toBe(place % 2)
        }
      }),
    )
  })

  test('are nearer to the true odds the better they are', () => {
    const errors = FORECASTERS.map(() => 0)
    for (const question of questionsOf(MANY, 0)) {
      const truth = 1 / (1 + Math.exp(-question.logOdds))
      for (const [place, { probability }] of forecastsOn(DEFAULTS, question).entries()) {
        errors[Math.floor(place / 2)]! += (probability - truth) ** 2
      }
    }
    expect(errors).toEqual([...errors].sort((a, b) => a - b))
  })
})
