// Published worked values of single questions, compared with the sweep and with the plain scorer.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { ResolvedQuestion } from '../../pipeline/scoring/question.ts'
import { fromPico } from '../../pipeline/scoring/round.ts'
import { columnsOf, sweepPairs } from '../support/pairs.ts'
import type { RawForecast } from '../support/plain/forecasts.ts'
import { askedOf } from '../support/plain/asked.ts'
import { pairsOf } from '../support/plain/pair.ts'
import { spansOf } from '../support/plain/spans.ts'

type Score = 'coverage' | 'brier' | 'baseline_score' | 'peer_score'
type Scores = Partial<Record<Score, number>>

interface Vector {
  id: string
  source: string
  question: { opened_at_ms: number; closes_at_ms: number; resolved_at_ms: number; outcome: 0 | 1 }
  forecasts: { entity: string; at_ms: number; probability: number }[]
  expected: Record<string, Scores>
  tolerance: number
  /** Computed by an independent program, to nine decimals. */
  also: Record<string, Scores>
}
const ALSO_TOLERANCE = 1e-8

const vectors = JSON.parse(
  readFileSync(new URL('../vectors/timeline.json', import.meta.url), 'utf8'),
) as Vector[]

type Measured = Record<string, Record<Score, number>>

function bySweep(question: ResolvedQuestion, rows: RawForecast[]): Measured {
  const entities = [...new Set(rows.map(({ entity }) => entity))]
  const pairs = sweepPairs(question, columnsOf(rows, entities), entities.length)
  const measured = pairs.map((pair) => [
    entities[pair.entity]!,
    {
      coverage: fromPico(pair.coverage),
      brier: fromPico(pair.brier),
      baseline_score: fromPico(pair.baseline_score),
      peer_score: fromPico(pair.peer_score),
    },
  ])
  return Object.fromEntries(measured) as Measured
}

/** Everyone is a voice. */
function plainly(question: ResolvedQuestion, rows: RawForecast[]): Measured {
  const { openedAtMs, closesAtMs, endsAtMs, outcome } = question
  const times = {
    opened_at_ms: openedAtMs,
    closes_at_ms: closesAtMs,
    resolved_at_ms: endsAtMs,
    known_at_ms: null,
  }
  const [asked] = askedOf([{ id: 'q', category: null, event_id: null, outcome, ...times }], [], closesAtMs)
  const counted = rows.filter(({ atMs }) => atMs < endsAtMs)
  const voices = {
    rule: 'everyone' as const,
    of: new Set(rows.map(({ entity }) => entity)),
    leftOut: (entity: string) => [entity],
  }
  const pairs = pairsOf(asked!, counted, spansOf(asked!, counted, []), voices)
  return Object.fromEntries(pairs.map((pair) => [pair.entity, pair]))
}

describe.each([
  ['sweep', bySweep],
  ['plain scorer', plainly],
])('%s', (_, score) => {
  test.each(vectors)('$id — $source', ({ question, forecasts, expected, tolerance, also }) => {
    const rows = forecasts.map(({ entity, at_ms, probability }, i): RawForecast => {
      const ppm = Math.round(probability * 1e6)
      const flags = { imported: false, witnessed: true }
      return { forecastId: `${100 + i}`, entity, atMs: at_ms, ppm, recordedAtMs: at_ms, ...flags }
    })
    const measured = score(
      {
        openedAtMs: question.opened_at_ms,
        closesAtMs: question.closes_at_ms,
        endsAtMs: Math.min(question.closes_at_ms, question.resolved_at_ms),
        outcome: question.outcome,
        divisor: 1,
      },
      rows,
    )
    const check = (figures: Record<string, Scores>, within: number) => {
      for (const [entity, scores] of Object.entries(figures)) {
        for (const [name, value] of Object.entries(scores)) {
          const difference = Math.abs(measured[entity]![name as Score] - value)
          expect(difference, `${name} of ${entity}`).toBeLessThanOrEqual(within)
        }
      }
    }
    check(expected, tolerance)
    check(also, ALSO_TOLERANCE)
    expect(Object.keys(measured).sort()).toEqual(Object.keys(also).sort())
  })
})
