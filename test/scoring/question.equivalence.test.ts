// The sweep against the plain scorer on generated questions, and the invariants of a sweep.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PPM } from '../../pipeline/scoring/logarithm.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import {
  type ForecastColumns,
  QuestionSweep,
  type ResolvedQuestion,
} from '../../pipeline/scoring/question.ts'
import { type Pair, columnsOf, sweepPairs } from '../support/pairs.ts'
import type { RawForecast } from '../support/plain/forecasts.ts'
import { toNumber } from '../support/plain/fraction.ts'
import { scoreQuestionPlainly } from '../support/plain/question.ts'
import { crowdPlainly } from '../support/plain/references.ts'
import type { Measures } from '../support/plain/voices.ts'

const ENTITIES = ['agent:1', 'agent:2', 'agent:3', 'forecaster:1', 'forecaster:2', 'forecaster:3']
const DAY_MS = 86_400_000
const OPENED_AT_MS = Date.UTC(2026, 0, 1)

interface World {
  question: ResolvedQuestion
  rows: RawForecast[]
  /** The entities that others are measured against, and by which of them each is not. */
  measures: Measures
}

/** Instants that many rows share, including the ends of the question. */
function instant({ openedAtMs, closesAtMs, resolvedAtMs }: ResolvedQuestion): fc.Arbitrary<number> {
  const third = openedAtMs + Math.floor((closesAtMs - openedAtMs) / 3)
  const ends = [openedAtMs, closesAtMs, resolvedAtMs, third].flatMap((at) => [at - 1, at, at + 1])
  return fc.oneof(
    fc.constantFrom(...ends),
    fc.integer({ min: openedAtMs - 50, max: closesAtMs + 50 }),
    fc.integer({ min: third, max: third + 5 }),
  )
}

const question: fc.Arbitrary<ResolvedQuestion> = fc
  .record({
    horizonMs: fc.oneof(
      fc.constantFrom(1, 2, 1000, DAY_MS, 30 * 365 * DAY_MS),
      fc.integer({ min: 1, max: 400 * DAY_MS }),
    ),
    resolved: fc.oneof(fc.constantFrom(-5, 0, 1e-9, 1, 1.5), fc.double({ min: 0, max: 1, noNaN: true })),
    outcome: fc.constantFrom<0 | 1>(0, 1),
    isSettled: fc.boolean(),
  })
  .map(({ horizonMs, resolved, outcome, isSettled }) => ({
    openedAtMs: OPENED_AT_MS,
    closesAtMs: OPENED_AT_MS + horizonMs,
    resolvedAtMs: OPENED_AT_MS + Math.ceil(resolved * horizonMs),
    outcome,
    isSettled,
  }))

const ppm = fc.oneof(
  fc.constantFrom(0, 1, 999, 1000, 1001, 500_000, 999_000, 999_001, 999_999, PPM),
  fc.integer({ min: 0, max: PPM }),
)

/** Each entity is a voice, belongs to the owner of one, or has none that is left out. */
const measuring: fc.Arbitrary<Measures> = fc
  .tuple(
    fc.oneof(fc.constant(ENTITIES), fc.subarray(ENTITIES)),
    fc.array(fc.nat(6), { minLength: 6, maxLength: 6 }),
  )
  .map(([voices, owners]) => ({
    rule: 'recorded' as const,
    voices: new Set(voices),
    leftOut: new Map(
      ENTITIES.flatMap((entity, index) => {
        const own = voices.includes(entity) ? entity : voices[owners[index]!]
        return own === undefined ? [] : [[entity, own] as const]
      }),
    ),
  }))

const EVERYONE: Measures = {
  rule: 'everyone',
  voices: new Set(ENTITIES),
  leftOut: new Map(ENTITIES.map((entity) => [entity, entity])),
}

const world: fc.Arbitrary<World> = fc.tuple(question, measuring).chain(([resolved, measures]) =>
  fc
    .array(
      fc.record({
        id: fc.integer({ min: 0, max: 99 }),
        entity: fc.constantFrom(...ENTITIES),
        atMs: instant(resolved),
        ppm: fc.option(ppm, { freq: 6 }),
        recordedAtMs: fc.integer({ min: 0, max: 20 }),
        imported: fc.boolean(),
        witnessed: fc.boolean(),
      }),
      { maxLength: 40 },
    )
    .map((rows) => ({
      question: resolved,
      measures,
      rows: rows.map(({ id, recordedAtMs, ...row }, i) => ({
        ...row,
        forecastId: `${100 + id}`,
        recordedAtMs: recordedAtMs * 100 + i,
      })),
    })),
)

function sweepOf({ voices, leftOut }: Measures): QuestionSweep {
  const own = (name: string) => ENTITIES.indexOf(leftOut.get(name) ?? '')
  return new QuestionSweep(
    METHODOLOGY,
    Int32Array.from(ENTITIES, (name, index) => (voices.has(name) ? index : own(name))),
  )
}

/** An instant at which the question has closed, or has not. */
function asOf({ closesAtMs, isSettled }: ResolvedQuestion): number {
  return isSettled ? closesAtMs : closesAtMs - 1
}

function sweep(
  { question: resolved, rows, measures }: World,
  by = sweepOf(measures),
  columns: ForecastColumns = columnsOf(rows, ENTITIES),
): Map<string, Pair> {
  return new Map(sweepPairs(resolved, columns, by).map((pair) => [ENTITIES[pair.entity]!, pair]))
}

function mapRows({ rows, ...rest }: World, change: (row: RawForecast) => RawForecast): World {
  return { ...rest, rows: rows.map(change) }
}

const RUNS = { numRuns: 1500 }

test('the sweep and the plain scorer agree: integers exactly, scores to 1e-9', () => {
  const covered = {
    early: 0,
    lone: 0,
    tiny: 0,
    none: 0,
    unheard: 0,
    outside: 0,
    everyone: 0,
    contested: 0,
    sibling: 0,
    withdrawn: 0,
  }
  fc.assert(
    fc.property(world, ({ question: resolved, rows, measures }) => {
      const { voices } = measures
      const fast = sweep({ question: resolved, rows, measures })
      const plain = scoreQuestionPlainly(resolved, rows, measures, asOf(resolved))
      expect([...fast.keys()].sort()).toEqual(plain.map(({ entity }) => entity).sort())
      for (const expected of plain) {
        const { coverage, brier, reference_brier, crowd_brier, log_score, flip_flop, pico, other_pico } =
          expected
        const pair = fast.get(expected.entity)!
        expect(pair).toMatchObject({
          forecasts: expected.forecasts,
          imported: expected.imported,
          closing_probability: expected.closing ?? -1,
          witnessed: expected.witnessed ? 1 : 0,
          moved: expected.moved,
          toward: expected.toward,
          voices: expected.voices,
        })
        const scores = {
          coverage,
          brier,
          reference_brier,
          crowd_brier,
          brier_part: Number(pico.brier) / 1e12,
          reference_part: Number(pico.reference_brier) / 1e12,
          crowd_part: Number(pico.crowd_brier) / 1e12,
          brier_other: Number(other_pico.brier) / 1e12,
          reference_other: Number(other_pico.reference_brier) / 1e12,
          crowd_other: Number(other_pico.crowd_brier) / 1e12,
          log_score,
          baseline_score: expected.baseline_score,
          peer_score: expected.peer_score,
          conviction: expected.conviction,
          flip_flop: flip_flop ?? -1e-12,
        }
        for (const [name, value] of Object.entries(scores)) {
          const measured = pair[name as keyof typeof scores]
          expect(Number.isInteger(measured) && !Object.is(measured, -0), name).toBe(true)
          expect(Math.abs(measured / 1e12 - value), name).toBeLessThanOrEqual(1e-9)
        }
        if (coverage < 1e-9) covered.tiny += 1
        if (expected.voices === 0 && plain.length > 1) covered.unheard += 1
        if (expected.voices > 0 && !voices.has(expected.entity)) covered.outside += 1
        if (pair.own_weight > 0 && !voices.has(expected.entity)) covered.sibling += 1
        if (expected.closing === null) covered.withdrawn += 1
        expect(resolved.isSettled && pair.in_time === 1 && pair.voices >= 5).toBe(expected.contested)
        if (expected.voices === ENTITIES.length - 1) covered.everyone += 1
        if (expected.contested) covered.contested += 1
      }
      if (resolved.resolvedAtMs < resolved.closesAtMs) covered.early += 1
      if (plain.length === 1) covered.lone += 1
      if (plain.length === 0 && rows.length > 0) covered.none += 1
    }),
    { ...RUNS, seed: 20260101 },
  )
  for (const [what, times] of Object.entries(covered)) expect(times, what).toBeGreaterThan(10)
})

test('the pair of the crowd is that of the average of the voices, integrated naively', () => {
  const covered = { none: 0, late: 0, interrupted: 0, several: 0 }
  fc.assert(
    fc.property(world, ({ question: resolved, rows, measures }) => {
      const by = sweepOf(measures)
      sweepPairs(resolved, columnsOf(rows, ENTITIES), by)
      const { crowd } = by
      const plain = crowdPlainly(resolved, rows, measures.voices)
      if (!plain) {
        covered.none += 1
        expect(Object.values(crowd)).toEqual([0, 0, 0, 0, 0, 0, 0])
        return
      }
      const horizonMs = resolved.closesAtMs - resolved.openedAtMs
      expect(crowd).toMatchObject({ voices: plain.voices, in_time: plain.inTime ? 1 : 0 })
      const whole = {
        coverage: plain.heldMs / horizonMs,
        reference_part: toNumber(plain.came.reference),
        reference_other: toNumber(plain.other.reference),
        crowd_part: toNumber(plain.came.crowd),
        crowd_other: toNumber(plain.other.crowd),
      }
      for (const [name, value] of Object.entries(whole)) {
        const measured = crowd[name as keyof typeof whole]
        expect(Number.isInteger(measured) && !Object.is(measured, -0), name).toBe(true)
        expect(Math.abs(measured / 1e12 - value), name).toBeLessThanOrEqual(1e-9)
      }
      if (!plain.inTime) covered.late += 1
      if (plain.voices > 2) covered.several += 1
      if (plain.firstMs + plain.heldMs < Math.min(resolved.closesAtMs, resolved.resolvedAtMs))
        covered.interrupted += 1
    }),
    { ...RUNS, seed: 20260102 },
  )
  for (const [what, times] of Object.entries(covered)) expect(times, what).toBeGreaterThan(3)
})

test('1 ms at the end of 30 busy years is scored to 1e-9, and so are entities that took part all along', () => {
  const horizonMs = 30 * 365 * DAY_MS
  const closesAtMs = OPENED_AT_MS + horizonMs
  const resolved = {
    openedAtMs: OPENED_AT_MS,
    closesAtMs,
    resolvedAtMs: closesAtMs,
    outcome: 1 as const,
    isSettled: true,
  }
  const crowd = ENTITIES.slice(1).flatMap((entity, index) =>
    Array.from({ length: 300 }, (_, i) => ({
      forecastId: `${10_000 + index * 300 + i}`,
      entity,
      atMs: OPENED_AT_MS + Math.floor(((i * 5 + index) * horizonMs) / 1500),
      ppm: (i * 7919 * (index + 1) + index) % (PPM + 1),
      recordedAtMs: 0,
      imported: false,
      witnessed: false,
    })),
  )
  const late = {
    forecastId: '9',
    entity: ENTITIES[0]!,
    ppm: 123_457,
    recordedAtMs: 0,
    imported: false,
    witnessed: false,
  }
  const rows = [...crowd, { ...late, atMs: closesAtMs - 1 }]
  const fast = sweep({ question: resolved, rows, measures: EVERYONE })
  const plain = scoreQuestionPlainly(resolved, rows, EVERYONE, closesAtMs)
  expect(plain).toHaveLength(ENTITIES.length)
  for (const expected of plain) {
    for (const name of [
      'brier',
      'reference_brier',
      'crowd_brier',
      'log_score',
      'baseline_score',
      'peer_score',
    ] as const) {
      const difference = Math.abs(fast.get(expected.entity)![name] / 1e12 - expected[name])
      expect(difference, `${name} of ${expected.entity}`).toBeLessThanOrEqual(1e-9)
    }
  }
})

test('peer scores add up to 0 over the entities of a question', () => {
  fc.assert(
    fc.property(world, (given) => {
      const pairs = [...sweep(given).values()]
      const total = pairs.reduce((sum, { peer_score }) => sum + peer_score, 0)
      // Half a unit of 1e-12 for each rounding, and the same again for the doubles before it.
      expect(Math.abs(total)).toBeLessThanOrEqual(2 * pairs.length)
    }),
    RUNS,
  )
})

test('one sweep over many questions gives the bits of a fresh sweep for each', () => {
  fc.assert(
    fc.property(measuring, fc.array(world, { maxLength: 6 }), (measures, worlds) => {
      const reused = sweepOf(measures)
      for (const given of worlds) expect(sweep(given, reused)).toEqual(sweep({ ...given, measures }))
    }),
    { numRuns: 300 },
  )
})

test('rows past `count` are not read', () => {
  fc.assert(
    fc.property(world, world, (given, stale) => {
      const columns = columnsOf(given.rows, ENTITIES)
      const behind = columnsOf(stale.rows, ENTITIES)
      const padded: ForecastColumns = {
        count: columns.count,
        entity: Int32Array.of(...columns.entity, ...behind.entity),
        atMs: Float64Array.of(...columns.atMs, ...behind.atMs),
        ppm: Int32Array.of(...columns.ppm, ...behind.ppm),
        imported: Int32Array.of(...columns.imported, ...behind.imported),
        witnessed: Int32Array.of(...columns.witnessed, ...behind.witnessed),
      }
      expect(sweep(given, undefined, padded)).toEqual(sweep(given))
    }),
    { numRuns: 300 },
  )
})

describe('no bit changes', () => {
  const sameBits = (change: (given: World) => World, back = (pair: Pair): Pair => pair) => {
    fc.assert(
      fc.property(world, (given) => {
        const changed = [...sweep(change(given))].map(([entity, pair]) => [entity, back(pair)] as const)
        expect(new Map(changed)).toEqual(sweep(given))
      }),
      RUNS,
    )
  }

  test('when rows of different entities at the same instant change places', () => {
    // The forecast_id decides the order within an instant. Ids that begin with the entity's place in a
    // permutation keep each entity's own order and change the order of the entities.
    fc.assert(
      fc.property(world, fc.shuffledSubarray(ENTITIES, { minLength: ENTITIES.length }), (given, order) => {
        const ordered = mapRows(given, (row) => ({
          ...row,
          forecastId: `${order.indexOf(row.entity)}${row.forecastId}`,
        }))
        const straight = mapRows(given, (row) => ({
          ...row,
          forecastId: `${ENTITIES.indexOf(row.entity)}${row.forecastId}`,
        }))
        expect(sweep(ordered)).toEqual(sweep(straight))
      }),
      RUNS,
    )
  })

  test('when all times move by the same span', () => {
    const later = (ms: number) => ms + 987_654_321
    sameBits(({ question: resolved, rows, measures }) => ({
      measures,
      question: {
        ...resolved,
        openedAtMs: later(resolved.openedAtMs),
        closesAtMs: later(resolved.closesAtMs),
        resolvedAtMs: later(resolved.resolvedAtMs),
      },
      rows: rows.map((row) => ({ ...row, atMs: later(row.atMs) })),
    }))
  })

  test('when all spans are doubled', () => {
    const doubled = (ms: number) => OPENED_AT_MS + 2 * (ms - OPENED_AT_MS)
    sameBits(({ question: resolved, rows, measures }) => ({
      measures,
      question: {
        ...resolved,
        closesAtMs: doubled(resolved.closesAtMs),
        resolvedAtMs: doubled(resolved.resolvedAtMs),
      },
      rows: rows.map((row) => ({ ...row, atMs: doubled(row.atMs) })),
    }))
  })

  test('when yes and no change places', () => {
    sameBits(
      ({ question: resolved, rows, measures }) => ({
        measures,
        question: { ...resolved, outcome: resolved.outcome === 1 ? 0 : 1 },
        rows: rows.map((row) => ({ ...row, ppm: row.ppm === null ? null : PPM - row.ppm })),
      }),
      (pair) => ({
        ...pair,
        closing_probability: pair.closing_probability < 0 ? -1 : PPM - pair.closing_probability,
      }),
    )
  })

  test('when a forecast is made at or after the effective close', () => {
    sameBits(({ question: resolved, rows, measures }) => {
      const atMs = Math.max(
        Math.min(resolved.closesAtMs, resolved.resolvedAtMs),
        ...rows.map((row) => row.atMs),
      )
      const late = { atMs, ppm: 1, recordedAtMs: 1e6, imported: true, witnessed: false }
      return {
        question: resolved,
        measures,
        rows: [...rows, ...ENTITIES.map((entity, i) => ({ ...late, entity, forecastId: `9${100 + i}` }))],
      }
    })
  })
})

test('a restated forecast changes counts, and scores by no more than rounding', () => {
  fc.assert(
    fc.property(world, (given) => {
      const plain = sweep(given)
      const closeMs = Math.min(given.question.closesAtMs, given.question.resolvedAtMs)
      const standing = [...plain.values()].filter((pair) => pair.closing_probability >= 0)
      const restated = standing.map((pair, i) => ({
        forecastId: `9${100 + i}`,
        entity: ENTITIES[pair.entity]!,
        atMs: closeMs - 1,
        ppm: pair.closing_probability,
        recordedAtMs: 1e6,
        imported: false,
        witnessed: true,
      }))
      const after = sweep({ ...given, rows: [...given.rows, ...restated] })
      for (const pair of standing) {
        const entity = ENTITIES[pair.entity]!
        const changed = after.get(entity)!
        expect(changed.forecasts).toBe(pair.forecasts + 1)
        expect(changed.moved).toBe(pair.moved)
        for (const name of ['coverage', 'brier', 'reference_brier', 'crowd_brier', 'log_score'] as const) {
          expect(Math.abs(changed[name] - pair[name]), name).toBeLessThanOrEqual(2)
        }
      }
    }),
    RUNS,
  )
})

test('a constant forecast of one half has a baseline score of 0 and a Brier score of one quarter', () => {
  fc.assert(
    fc.property(world, (given) => {
      for (const pair of sweep(
        mapRows(given, (row) => ({ ...row, ppm: row.ppm === null ? null : PPM / 2 })),
      ).values()) {
        // −ln 0.5 is rounded to 1e-9, which is 1.4e-7 of a baseline score.
        expect(Math.abs(pair.baseline_score / 1e12)).toBeLessThanOrEqual(1.5e-7)
        expect([pair.brier, pair.reference_brier, pair.crowd_brier]).toEqual([0.25e12, 0.25e12, 0.25e12])
        expect([pair.peer_score, pair.conviction]).toEqual([0, 0])
      }
    }),
    { numRuns: 300 },
  )
})

test('a question with 20,000 entities is scored as the formula says', () => {
  const size = 20_000
  const shares = Int32Array.from({ length: size }, (_, i) => 999_001 + (i % 999))
  const columns: ForecastColumns = {
    count: size,
    entity: Int32Array.from({ length: size }, (_, i) => i),
    atMs: new Float64Array(size),
    ppm: shares,
    imported: new Int32Array(size),
    witnessed: new Int32Array(size),
  }
  const squared = Array.from(shares, (share) => (share / PPM) ** 2)
  const total = squared.reduce((all, value) => all + value, 0)
  const sum = shares.reduce((all, share) => all + share, 0) / PPM
  const resolved = {
    openedAtMs: 0,
    closesAtMs: DAY_MS,
    resolvedAtMs: DAY_MS,
    outcome: 0,
    isSettled: true,
  } as const
  const pairs = sweepPairs(resolved, columns, size)
  expect(pairs).toHaveLength(size)
  for (const pair of pairs) {
    const reference = (total - squared[pair.entity]!) / (size - 1)
    const crowd = ((sum - shares[pair.entity]! / PPM) / (size - 1)) ** 2
    expect(Math.abs(pair.crowd_brier / 1e12 - crowd)).toBeLessThanOrEqual(1e-9)
    expect(Math.abs(pair.reference_brier / 1e12 - reference)).toBeLessThanOrEqual(1e-9)
    // Every forecast is at the floor of the logarithm, so all peer scores are 0.
    expect(Math.abs(pair.peer_score / 1e12)).toBeLessThanOrEqual(1e-9)
  }
})
