// The numbers in the examples of docs/methodology.md, computed again by the plain scorer from the forecasts
// shown there.
import { describe, expect, test } from 'vitest'
import { textOf } from '../support/fenced-blocks.ts'
import { published } from '../support/plain/rounding.ts'
import { alphaOf, intervalAt, multiplier, skillPlainly } from '../support/plain/skill.ts'
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
const grouped = (value: number): string => shown(value).replaceAll(/\B(?=(\d{3})+$)/g, ' ')

describe('the worked example', () => {
  let who = ''
  const forecasts = tableAfter('## A worked example').map(([name, day, says], row) => {
    who = name || who
    return {
      entity: who,
      question: 'q',
      at_ms: Number(day) * DAY_MS,
      ppm: Math.round(Number(says) * 1e6),
      forecast_id: String(row).padStart(2, '0'),
      witnessed: true,
    }
  })
  const ids = [...new Set(forecasts.map(({ entity }) => entity))]
  const scores = scoreWorldPlainly({
    as_of_ms: 10 * DAY_MS,
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
        category: null,
        event_id: null,
      },
    ],
    forecasts,
  })
  const shownIds = ['a', 'b', 'f', 'x']

  test('has the scores of pairs', () => {
    const expected = shownIds.map((id) => {
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
    expect(tableAfter('<!-- pairs of the example -->')).toEqual(expected)
  })

  test('has the whole numbers, strengths and skills', () => {
    const expected = shownIds.map((id) => {
      const pair = scores.pairs.get(`${id}|q`)!
      const { strength, skill } = scores.entities.get(id)!
      const numbers = [pair.Z!, pair["X'"]!, pair.f!].map(grouped)
      return [id, grouped(pair.B), grouped(pair.Y), shown(strength), ...numbers, shown(skill!)]
    })
    expect(tableAfter('<!-- strengths of the example -->')).toEqual(expected)
    expect([...scores.pairs.values()].every(({ contested }) => contested)).toBe(true)
    expect(scores.voice_rule).toBe('recorded')
    expect(scores.pools.get('a')!.scale).toBe(1)
  })

  test('has the gain of the other outcome', () => {
    const { X, ...pair } = scores.pairs.get('a|q')!
    for (const number of [pair["B'"], pair["Z'"]!, X!, pair["X'"]!, pair.f!])
      expect(text).toContain(grouped(number))
  })
})

test('the example of an interval', () => {
  const gains = ['first', 'second'].map((cluster, i) => ({
    cluster,
    gain: [100_000_000n, 20_000_000n][i]!,
    reference: 200_000_000n,
    otherGain: 0n,
    otherReference: 0n,
    spread: 90_000_000n,
  }))
  const skill = skillPlainly(gains)
  const interval = intervalAt(alphaOf(null), skill)!
  const [middle, lower, upper, error] = [skill.skill!, interval.lower, interval.upper, skill.error!].map(
    (value) => shown(published(value)),
  )
  const h = shown(published(multiplier(2, 0.05)))
  expect(text).toContain(`\`skill_interval\` = ${middle} ± ${h} · ${error} = ${lower} to ${upper}`)
  const inUnits = (variance: number) => `${Number((variance / 1e16).toFixed(4))}e16`
  for (const variance of Object.values(skill.variances)) expect(text).toContain(`= ${inUnits(variance)}`)
})

test('the multipliers of intervals', () => {
  const expected = [1, 10, 100].map((attempt) => [
    `attempt ${attempt}`,
    ...[25, 50, 100, 200].map((clusters) => multiplier(clusters, alphaOf(attempt)).toFixed(2)),
  ])
  expect(tableAfter('<!-- multipliers -->')).toEqual(expected)
})
