// The sweep against the plain scorer on generated questions, and the invariants of a sweep.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PPM } from '../../pipeline/scoring/logarithm.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { NO_LEAN } from '../../pipeline/scoring/participant.ts'
import type { PriceColumns } from '../../pipeline/scoring/prices.ts'
import {
  type ForecastColumns,
  QuestionSweep,
  type ResolvedQuestion,
} from '../../pipeline/scoring/question.ts'
import { type Pair, columnsOf, sweepPairs } from '../support/pairs.ts'
import type { Asked } from '../support/plain/asked.ts'
import { type RawForecast, distinctForecasts } from '../support/plain/forecasts.ts'
import { pairsOf } from '../support/plain/pair.ts'
import { type Price, spansOf } from '../support/plain/spans.ts'
import { runs } from '../support/runs.ts'

/** The first seven are voices more often than the others. */
const ENTITIES = Array.from({ length: 10 }, (_, n) => `entity ${n}`)
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const OPENED_AT_MS = Date.UTC(2026, 0, 1)

interface World {
  question: ResolvedQuestion
  rows: RawForecast[]
  prices: Price[]
  /** For each entity its own voice: itself, another one, or none. */
  own: readonly (string | undefined)[]
}

/** Instants that many rows share, including the ends of the question and of what is judged. */
function instant({ openedAtMs, closesAtMs, endsAtMs }: ResolvedQuestion): fc.Arbitrary<number> {
  const third = openedAtMs + Math.floor((closesAtMs - openedAtMs) / 3)
  const judgedUntil = judgedUntilOf({ openedAtMs, closesAtMs, endsAtMs })
  const ends = [openedAtMs, closesAtMs, endsAtMs, judgedUntil, third].flatMap((at) => [at - 1, at, at + 1])
  return fc.oneof(
    fc.constantFrom(...ends),
    fc.integer({ min: openedAtMs - 50, max: closesAtMs + 50 }),
    fc.integer({ min: third, max: third + 5 }),
  )
}

function judgedUntilOf({
  openedAtMs,
  closesAtMs,
  endsAtMs,
}: Pick<ResolvedQuestion, 'openedAtMs' | 'closesAtMs' | 'endsAtMs'>) {
  return Math.min(endsAtMs, closesAtMs - Math.floor((closesAtMs - openedAtMs) / 4))
}

const question: fc.Arbitrary<ResolvedQuestion> = fc
  .record({
    lifeMs: fc.oneof(
      fc.constantFrom(1, 2, 3, 1000, DAY_MS, 30 * 365 * DAY_MS),
      fc.integer({ min: 1, max: 400 * DAY_MS }),
    ),
    ended: fc.oneof(fc.constantFrom(-5, 0, 1e-9, 1, 1.5), fc.double({ min: 0, max: 1, noNaN: true })),
    outcome: fc.constantFrom<0 | 1>(0, 1),
    divisor: fc.constantFrom(1, 1, 1, 2, 7),
  })
  .map(({ lifeMs, ended, outcome, divisor }) => ({
    openedAtMs: OPENED_AT_MS,
    closesAtMs: OPENED_AT_MS + lifeMs,
    endsAtMs: OPENED_AT_MS + Math.min(lifeMs, Math.ceil(ended * lifeMs)),
    outcome,
    divisor,
  }))

const ppm = fc.oneof(
  fc.constantFrom(0, 1, 999, 1000, 1001, 500_000, 999_000, 999_001, 999_999, PPM),
  fc.integer({ min: 0, max: PPM }),
)

const owning = fc.array(
  fc.oneof({ weight: 8, arbitrary: fc.constant(-1) }, fc.integer({ min: -2, max: 9 })),
  {
    minLength: ENTITIES.length,
    maxLength: ENTITIES.length,
  },
)

/** −1: a voice; −2: none of its own; a number: that entity’s voice, if it is one. */
function voicesFrom(drawn: readonly number[]): (string | undefined)[] {
  return drawn.map((own, index) => {
    if (own === -1) return ENTITIES[index]
    return own >= 0 && drawn[own] === -1 ? ENTITIES[own] : undefined
  })
}

const world: fc.Arbitrary<World> = fc.tuple(question, owning).chain(([resolved, drawn]) =>
  fc
    .record({
      rows: fc.array(
        fc.record({
          id: fc.integer({ min: 0, max: 99 }),
          entity: fc.constantFrom(...ENTITIES),
          atMs: instant(resolved),
          ppm: fc.option(ppm, { freq: 6 }),
          recordedAtMs: fc.integer({ min: 0, max: 20 }),
          witnessed: fc.boolean(),
        }),
        { maxLength: 60 },
      ),
      prices: fc.uniqueArray(fc.record({ atMs: instant(resolved), ppm: fc.option(ppm, { freq: 4 }) }), {
        selector: ({ atMs }) => atMs,
        maxLength: 6,
      }),
      isPriced: fc.boolean(),
    })
    .map(({ rows, prices, isPriced }) => ({
      question: resolved,
      own: voicesFrom(drawn),
      prices: isPriced ? prices.toSorted((a, b) => a.atMs - b.atMs) : [],
      rows: rows.map(({ id, recordedAtMs, ...row }, i) => ({
        ...row,
        forecastId: `${100 + id}`,
        recordedAtMs: recordedAtMs * 100 + i,
        imported: false,
      })),
    })),
)

function sweepOf(own: World['own']): QuestionSweep {
  return new QuestionSweep(
    METHODOLOGY,
    Int32Array.from(own, (voice) => (voice === undefined ? -1 : ENTITIES.indexOf(voice))),
  )
}

const pricesOf = (prices: readonly Price[]): PriceColumns => ({
  count: prices.length,
  atMs: Float64Array.from(prices, ({ atMs }) => atMs),
  ppm: Int32Array.from(prices, (price) => price.ppm ?? -1),
})

function sweep(
  { question: resolved, rows, prices, own }: World,
  by = sweepOf(own),
  columns: ForecastColumns = columnsOf(rows, ENTITIES),
): Map<string, Pair> {
  const pairs = sweepPairs(resolved, columns, by, pricesOf(prices))
  return new Map(pairs.map((pair) => [ENTITIES[pair.entity]!, pair]))
}

function plainly({ question: resolved, rows, prices, own }: World) {
  const { openedAtMs, closesAtMs, endsAtMs, outcome, divisor } = resolved
  const asked: Asked = {
    id: 'q',
    category: null,
    outcome,
    openedAtMs,
    lifeMs: closesAtMs - openedAtMs,
    endMs: endsAtMs,
    judgedUntilMs: judgedUntilOf(resolved),
    settledAtMs: closesAtMs,
    isSettled: true,
    unit: 'question:q',
    kind: 'independent',
    unitQuestions: 1,
    cluster: 'question:q',
    week: '2026-W01',
    divisor,
  }
  const isBefore = ({ atMs }: { atMs: number }) => atMs < endsAtMs
  const counted = distinctForecasts(rows).filter(isBefore)
  const spans = endsAtMs <= openedAtMs ? [] : spansOf(asked, counted, prices.filter(isBefore))
  return pairsOf(asked, counted, spans, {
    rule: 'recorded',
    of: new Set(ENTITIES.filter((entity, index) => own[index] === entity)),
    leftOut: (entity) => [entity, own[ENTITIES.indexOf(entity)] ?? entity],
  })
}

function mapRows({ rows, ...rest }: World, change: (row: RawForecast) => RawForecast): World {
  return { ...rest, rows: rows.map(change) }
}

const RUNS = { numRuns: runs(1500) }

test('the sweep and the plain scorer agree: whole numbers exactly, scores to 1e-9', () => {
  const covered = {
    early: 0,
    lone: 0,
    none: 0,
    sibling: 0,
    withdrawn: 0,
    measured: 0,
    priced: 0,
    alone: 0,
    unjudged: 0,
    uncounted: 0,
  }
  fc.assert(
    fc.property(world, (given) => {
      const { question: resolved, rows, own } = given
      const fast = sweep(given)
      const plain = plainly(given)
      expect([...fast.keys()].sort()).toEqual(plain.map(({ entity }) => entity).sort())
      for (const expected of plain) {
        const pair = fast.get(expected.entity)!
        const { came, other, forecasts } = expected
        const moves = forecasts.slice(1).map(({ ppm: to }, i) => to! - forecasts[i]!.ppm!)
        expect(pair).toMatchObject({
          forecasts: forecasts.length,
          first_at: forecasts[0]!.atMs,
          last_at: forecasts.at(-1)!.atMs,
          closing_probability: expected.closing ?? -1,
          witnessed: expected.isWitnessed ? 1 : 0,
          moved: moves.reduce((sum, move) => sum + Math.abs(move), 0),
          judged: expected.judgedMs > 0 ? 1 : 0,
          priced: expected.isPriced ? 1 : 0,
          voices: expected.voices,
        })
        const errors = [
          [pair.judged_brier, came.B],
          [pair.average_brier, came.K],
          [pair.median_brier, came.M],
          [pair.market_brier, came.Q],
          [pair.judged_brier_if_other, other.B],
          [pair.average_brier_if_other, other.K],
          [pair.median_brier_if_other, other.M],
          [pair.market_brier_if_other, other.Q],
        ] as const
        // A tie of the first rounding may fall to the other side in doubles.
        for (const [found, wanted] of errors) expect(Math.abs(found - Number(wanted))).toBeLessThanOrEqual(1)
        const scores = {
          coverage: expected.coverage,
          brier: expected.brier,
          log_score: expected.log_score,
          baseline_score: expected.baseline_score,
          peer_score: expected.peer_score,
          conviction: expected.conviction,
          judged_coverage: expected.judgedMs / (resolved.closesAtMs - resolved.openedAtMs),
          lean: expected.lean ?? NO_LEAN / 1e12,
        }
        for (const [name, value] of Object.entries(scores)) {
          const measured = pair[name as keyof typeof scores]
          expect(Number.isInteger(measured) && !Object.is(measured, -0), name).toBe(true)
          expect(Math.abs(measured / 1e12 - value), name).toBeLessThanOrEqual(1e-9)
        }
        const voice = own[ENTITIES.indexOf(expected.entity)]
        if (voice !== undefined && voice !== expected.entity && fast.has(voice)) covered.sibling += 1
        if (expected.closing === null) covered.withdrawn += 1
        if (expected.voices >= 5) covered.measured += 1
        if (expected.isPriced) covered.priced += 1
        if (expected.isPriced && expected.voices < 5) covered.alone += 1
        if (expected.judgedMs === 0) covered.unjudged += 1
      }
      if (resolved.endsAtMs < resolved.closesAtMs) covered.early += 1
      if (plain.length === 1) covered.lone += 1
      if (plain.length === 0 && rows.length > 0) covered.none += 1
      const counted = plain.reduce((sum, { forecasts }) => sum + forecasts.length, 0)
      if (counted < rows.filter((row) => row.ppm !== null && row.atMs < resolved.endsAtMs).length)
        covered.uncounted += 1
    }),
    { ...RUNS, seed: 20260101 },
  )
  for (const [what, times] of Object.entries(covered)) expect(times, what).toBeGreaterThanOrEqual(runs(11))
})

test('1 ms before the end of judgement of 30 busy years is scored to 1e-9', () => {
  const lifeMs = 30 * 365 * DAY_MS
  const closesAtMs = OPENED_AT_MS + lifeMs
  const resolved = {
    openedAtMs: OPENED_AT_MS,
    closesAtMs,
    endsAtMs: closesAtMs,
    outcome: 1 as const,
    divisor: 1,
  }
  const row = { recordedAtMs: 0, imported: false, witnessed: true }
  const crowd = ENTITIES.slice(1).flatMap((entity, index) =>
    Array.from({ length: 300 }, (_, i) => ({
      ...row,
      forecastId: `${10_000 + index * 300 + i}`,
      entity,
      atMs: OPENED_AT_MS + Math.floor(((i * 9 + index) * lifeMs) / 2700),
      ppm: (i * 7919 * (index + 1) + index) % (PPM + 1),
    })),
  )
  const late = {
    ...row,
    forecastId: '9',
    entity: ENTITIES[0]!,
    ppm: 123_457,
    atMs: judgedUntilOf(resolved) - 1,
  }
  const given = { question: resolved, rows: [...crowd, late], prices: [], own: ENTITIES }
  const fast = sweep(given)
  const plain = plainly(given)
  expect(plain).toHaveLength(ENTITIES.length)
  for (const expected of plain) {
    const pair = fast.get(expected.entity)!
    expect(pair.judged).toBe(1)
    for (const name of ['brier', 'log_score', 'baseline_score', 'peer_score', 'coverage'] as const) {
      expect(
        Math.abs(pair[name] / 1e12 - expected[name]),
        `${name} of ${expected.entity}`,
      ).toBeLessThanOrEqual(1e-9)
    }
    expect(pair.average_brier).toBe(Number(expected.came.K))
    expect(pair.median_brier).toBe(Number(expected.came.M))
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
    fc.property(owning.map(voicesFrom), fc.array(world, { maxLength: 6 }), (own, worlds) => {
      const reused = sweepOf(own)
      for (const given of worlds) expect(sweep(given, reused)).toEqual(sweep({ ...given, own }))
    }),
    { numRuns: runs(300) },
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
        witnessed: Int32Array.of(...columns.witnessed, ...behind.witnessed),
      }
      expect(sweep(given, undefined, padded)).toEqual(sweep(given))
    }),
    { numRuns: runs(300) },
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
        const named = (places: readonly string[]) =>
          mapRows(given, (row) => ({ ...row, forecastId: `${places.indexOf(row.entity)}${row.forecastId}` }))
        expect(sweep(named(order))).toEqual(sweep(named(ENTITIES)))
      }),
      RUNS,
    )
  })

  test('when all times move by the same span', () => {
    const later = (ms: number) => ms + 987_654_321
    const back = (pair: Pair) => ({
      ...pair,
      first_at: pair.first_at - 987_654_321,
      last_at: pair.last_at - 987_654_321,
    })
    sameBits(
      ({ question: resolved, rows, prices, own }) => ({
        own,
        question: {
          ...resolved,
          openedAtMs: later(resolved.openedAtMs),
          closesAtMs: later(resolved.closesAtMs),
          endsAtMs: later(resolved.endsAtMs),
        },
        rows: rows.map((row) => ({ ...row, atMs: later(row.atMs) })),
        prices: prices.map((price) => ({ ...price, atMs: later(price.atMs) })),
      }),
      back,
    )
  })

  test('when yes and no change places', () => {
    const turned = (said: number | null) => (said === null ? null : PPM - said)
    sameBits(
      ({ question: resolved, rows, prices, own }) => ({
        own,
        question: { ...resolved, outcome: resolved.outcome === 1 ? 0 : 1 },
        rows: rows.map((row) => ({ ...row, ppm: turned(row.ppm) })),
        prices: prices.map((price) => ({ ...price, ppm: turned(price.ppm) })),
      }),
      (pair) => ({
        ...pair,
        closing_probability: pair.closing_probability < 0 ? -1 : PPM - pair.closing_probability,
        lean: pair.lean === NO_LEAN ? NO_LEAN : 0 - pair.lean,
      }),
    )
  })

  test('when a forecast is made at or after the effective close', () => {
    sameBits((given) => {
      const atMs = Math.max(given.question.endsAtMs, ...given.rows.map((row) => row.atMs))
      const late = { atMs, ppm: 1, recordedAtMs: 1e6, imported: true, witnessed: false }
      const rows = [
        ...given.rows,
        ...ENTITIES.map((entity, i) => ({ ...late, entity, forecastId: `9${100 + i}` })),
      ]
      return { ...given, rows }
    })
  })

  test('of what is judged when somebody speaks after the end of judgement', () => {
    const judged = ({
      judged_brier,
      average_brier,
      median_brier,
      market_brier,
      judged_coverage,
      voices,
    }: Pair) => [judged_brier, average_brier, median_brier, market_brier, judged_coverage, voices]
    fc.assert(
      fc.property(world, (given) => {
        const atMs = judgedUntilOf(given.question)
        const said = { atMs, ppm: 1, recordedAtMs: 1e6, imported: false, witnessed: true }
        const rows = [
          ...given.rows,
          ...ENTITIES.map((entity, i) => ({ ...said, entity, forecastId: `9${100 + i}` })),
        ]
        const after = sweep({ ...given, rows })
        for (const [entity, pair] of sweep(given)) expect(judged(after.get(entity)!)).toEqual(judged(pair))
      }),
      RUNS,
    )
  })
})

test('whoever copies the average of the others gets K, and nobody gains', () => {
  const rows = ENTITIES.slice(1).map((entity, i) => ({
    forecastId: `${i}`,
    entity,
    atMs: OPENED_AT_MS,
    ppm: 100_000 * (i + 1),
    recordedAtMs: 0,
    imported: false,
    witnessed: true,
  }))
  const copy = { ...rows[0]!, forecastId: '99', entity: ENTITIES[0]!, ppm: 500_000 }
  const resolved = {
    openedAtMs: OPENED_AT_MS,
    closesAtMs: OPENED_AT_MS + DAY_MS,
    endsAtMs: OPENED_AT_MS + DAY_MS,
    outcome: 1 as const,
    divisor: 1,
  }
  const pair = sweep({ question: resolved, rows: [...rows, copy], prices: [], own: ENTITIES }).get(
    ENTITIES[0]!,
  )!
  expect(pair).toMatchObject({ judged_brier: 187_500_000, average_brier: 187_500_000, lean: 0, voices: 9 })
})

test('a question with 20,000 entities is scored as the formula says', () => {
  const size = 20_000
  const shares = Int32Array.from({ length: size }, (_, i) => 999_001 + (i % 999))
  const columns: ForecastColumns = {
    count: size,
    entity: Int32Array.from({ length: size }, (_, i) => i),
    atMs: new Float64Array(size),
    ppm: shares,
    witnessed: new Int32Array(size),
  }
  const sum = shares.reduce((all, share) => all + share, 0) / PPM
  const sorted = shares.toSorted()
  const median = (sorted[size / 2 - 1]! + sorted[size / 2]!) / 2 / PPM
  const resolved = { openedAtMs: 0, closesAtMs: DAY_MS, endsAtMs: DAY_MS, outcome: 0, divisor: 1 } as const
  const pairs = sweepPairs(resolved, columns, size)
  expect(pairs).toHaveLength(size)
  for (const pair of pairs) {
    const average = ((sum - shares[pair.entity]! / PPM) / (size - 1)) ** 2
    expect(Math.abs(pair.average_brier / 1e9 - 0.75 * average)).toBeLessThanOrEqual(1e-9)
    expect(Math.abs(pair.median_brier / 1e9 - 0.75 * median ** 2)).toBeLessThanOrEqual(1e-9)
    // Every forecast is at the floor of the logarithm, so all peer scores are 0.
    expect(Math.abs(pair.peer_score / 1e12)).toBeLessThanOrEqual(1e-9)
  }
})
