// The numbers in the examples of docs/methodology.md, computed again by the plain scorer from the forecasts
// shown there.
import { describe, expect, test } from 'vitest'
import { textOf } from '../support/fenced-blocks.ts'
import { rankPlainly } from '../support/plain/ranking.ts'
import { published } from '../support/plain/rounding.ts'
import { alphaOf, multiplier, skillPlainly } from '../support/plain/skill.ts'
import { wholeNumbers } from '../support/plain/strength.ts'
import { scoreWorldPlainly } from '../support/plain/world.ts'

const DAY_MS = 86_400_000
const text = textOf('docs/methodology.md')

/** The cells of the first table after a text, without its header. */
function tableAfter(beginning: string): string[][] {
  const [, after] = text.split(beginning)
  const [table] = /(^\|.*\n)+/m.exec(after!)!
  const cells = (line: string) => line.split('|').slice(1, -1)
  return table
    .trim()
    .split('\n')
    .slice(2)
    .map((line) => cells(line).map((cell) => cell.trim()))
}

/** As the document writes a number. */
const shown = (value: number): string => String(value).replace('-', '−')
const grouped = (value: bigint): string => String(value).replaceAll(/\B(?=(\d{3})+$)/g, ' ')

describe('the worked example', () => {
  let who = ''
  const forecasts = tableAfter('## A worked example').map(
    ([name, day, says]): [string, string, number, number] => {
      who = name || who
      return [who, 'q', Number(day) * DAY_MS, Math.round(Number(says) * 1e6)]
    },
  )
  const ids = [...new Set(forecasts.map(([id]) => id))]
  const scores = scoreWorldPlainly({
    entities: ids.map((id) => ({
      id,
      kind: id === 'x' ? 'agent' : 'forecaster',
      owner: null,
      registered_at_ms: 0,
    })),
    questions: [
      {
        id: 'q',
        opened_at_ms: 0,
        closes_at_ms: 10 * DAY_MS,
        resolved_at_ms: 10 * DAY_MS,
        outcome: 1,
        cluster: 'q',
      },
    ],
    forecasts,
  })

  test('has the scores of every pair', () => {
    const expected = ids.map((id) => {
      const pair = scores.pairs.get(`${id}|q`)!
      const columns = [
        pair.coverage,
        pair.brier,
        pair.reference_brier,
        pair.crowd_brier,
        pair.voices,
        pair.log_score,
        pair.baseline_score,
        pair.peer_score,
      ]
      return [id, ...columns.map((value) => shown(published(value)))]
    })
    expect(expected).toHaveLength(7)
    expect(tableAfter('<!-- pairs of the example -->')).toEqual(expected)
  })

  test('has the whole numbers, strengths and skills', () => {
    const expected = ids.map((id) => {
      const pair = scores.pairs.get(`${id}|q`)!
      const { B, Y, K, w } = wholeNumbers(pair)
      const { strength, skill, crowd_skill } = scores.entities.get(id)!
      const whole = [B, Y, K].map(grouped)
      return [
        id,
        ...whole,
        String(w),
        shown(strength),
        grouped(pair.standard_reference!),
        shown(skill!),
        shown(crowd_skill!),
      ]
    })
    expect(tableAfter('<!-- strengths of the example -->')).toEqual(expected)
    expect(scores).toMatchObject({ scale: 1, voice_rule: 'recorded' })
  })
})

test('the example of an interval', () => {
  const { skill, interval } = skillPlainly(
    [
      { cluster: 'first', own: 100_000_000n, reference: 200_000_000n },
      { cluster: 'second', own: 180_000_000n, reference: 200_000_000n },
    ],
    alphaOf(null),
  )
  const [middle, lower, upper] = [skill!, interval!.lower, interval!.upper].map((value) =>
    shown(published(value)),
  )
  const h = shown(published(multiplier(2, 0.05)))
  expect(text).toContain(`\`skill_interval\` = ${middle} ± ${h} · 0.045094 = ${lower} to ${upper}`)
})

test('the example of a rank', () => {
  expect(rankPlainly([-0.1, 0.2, 0.2, 0.3, 0.25], 0.25, { lower: 0.2, upper: 0.3 })).toEqual({
    rank: 2,
    rank_interval: { lower: 1, upper: 4 },
    percentile: 70,
    percentile_interval: { lower: 30, upper: 90 },
  })
})

test('the multipliers of intervals', () => {
  const expected = [1, 2, 10, 100].map((attempt) => [
    `attempt ${attempt}`,
    ...[25, 50, 100, 200].map((clusters) => multiplier(clusters, alphaOf(attempt)).toFixed(2)),
  ])
  expect(tableAfter('<!-- multipliers -->')).toEqual(expected)
})
