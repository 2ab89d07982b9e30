// Scores that Metaculus published at full precision, from the forecasts it published (sources: the case's
// README).
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { fromPico } from '../../pipeline/scoring/round.ts'
import { columnsOf, sweepPairs } from '../support/pairs.ts'
import type { RawForecast } from '../support/plain/forecasts.ts'

const TOLERANCE = 1e-6

function rowsOf(file: string): string[][] {
  const text = readFileSync(new URL(`../vectors/metaculus-q3-2024/${file}`, import.meta.url), 'utf8')
  return text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','))
}

/** Times have milliseconds here and microseconds at Metaculus. `Date.parse` drops the difference. */
const forecasts = rowsOf('forecasts.csv').map(
  ([question, forecaster, at, probability], i): RawForecast & { question: string } => ({
    question: question!,
    forecastId: `${1000 + i}`,
    entity: forecaster!,
    atMs: Date.parse(at!),
    ppm: Math.round(Number(probability) * 1e6),
    recordedAtMs: Date.parse(at!),
    imported: true,
    witnessed: false,
  }),
)

describe.each([
  { question: '25520', opened: '2024-06-20T11:00:00Z', closes: '2024-07-04T11:00:00Z', forecasters: 38 },
  { question: '25970', opened: '2024-07-08T14:30:00Z', closes: '2024-07-11T14:30:00Z', forecasters: 9 },
])('Metaculus aib-analysis scores/pros_score_data.csv, question $question', (expected) => {
  const rows = forecasts.filter(({ question }) => question === expected.question)
  const entities = [...new Set(rows.map(({ entity }) => entity))]
  const closesAtMs = Date.parse(expected.closes)
  const pairs = sweepPairs(
    {
      openedAtMs: Date.parse(expected.opened),
      closesAtMs,
      endsAtMs: closesAtMs,
      outcome: 1,
      divisor: 1,
    },
    columnsOf(rows, entities),
    entities.length,
  )
  const measured = new Map(
    pairs.map(({ entity, baseline_score, peer_score }) => [
      entities[entity]!,
      { baseline: fromPico(baseline_score), peer: fromPico(peer_score) },
    ]),
  )
  const published = rowsOf('scores.csv').filter(([question]) => question === expected.question)

  test('exactly the forecasters that were scored there are scored here', () => {
    expect(published).toHaveLength(expected.forecasters)
    expect([...measured.keys()].sort()).toEqual(published.map(([, forecaster]) => forecaster!).sort())
  })

  test.each(published)('%s %s: baseline %s, peer %s', (_, forecaster, baseline, peer) => {
    const scores = measured.get(forecaster)!
    expect(Math.abs(scores.baseline - Number(baseline))).toBeLessThanOrEqual(TOLERANCE)
    expect(Math.abs(scores.peer - Number(peer))).toBeLessThanOrEqual(TOLERANCE)
  })
})
