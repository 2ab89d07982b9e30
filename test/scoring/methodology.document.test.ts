// The numbers in the examples of docs/methodology.md, computed again: pairs and skills by the plain scorer from
// the forecasts shown there.
import { describe, expect, test } from 'vitest'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { alphaOf, multiplier } from '../../pipeline/scoring/skill.ts'
import { factFields } from '../../schemas/entity-facts.ts'
import { metricsIn } from '../../schemas/metrics.ts'
import { textOf } from '../support/fenced-blocks.ts'
import { published } from '../support/plain/rounding.ts'
import type { Gain } from '../support/plain/judged.ts'
import { intervalOf, skillOf } from '../support/plain/skill.ts'
import { scoreWorld } from '../support/plain/world.ts'

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
  const forecasts = tableAfter('### A worked example').map(([name, day, says], row) => {
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
  const scores = scoreWorld({
    as_of_ms: 10 * DAY_MS,
    entities: ids.map((id) => ({
      id,
      kind: id === 'x' ? 'agent' : 'forecaster',
      owner: null,
      registered_at_ms: 0,
    })),
    events: [],
    questions: [
      {
        id: 'q',
        category: null,
        event_id: null,
        opened_at_ms: 0,
        closes_at_ms: 10 * DAY_MS,
        resolved_at_ms: 10 * DAY_MS,
        known_at_ms: null,
        outcome: 1,
      },
    ],
    forecasts,
    prices: [],
    declarations: [],
  })
  const shownIds = ['a', 'b', 'f', 'x']
  const numberOf = (id: string, name: string) => Number(scores.pairs.get(`${id}|q`)![name])

  test('has the descriptions of pairs', () => {
    const names = ['coverage', 'brier', 'voices', 'log_score', 'baseline_score', 'peer_score']
    const expected = shownIds.map((id) => [id, ...names.map((name) => shown(published(numberOf(id, name))))])
    expect(tableAfter('<!-- pairs of the example -->')).toEqual(expected)
  })

  test('has the whole numbers and the skills', () => {
    const expected = shownIds.map((id) => {
      const gainIfOther = numberOf(id, "K'") - numberOf(id, "B'")
      const numbers = [...['B', 'K', 'M', 'X_K'].map((name) => numberOf(id, name)), gainIfOther]
      const { skill, median_skill } = scores.entities.get(id)!
      return [id, ...[...numbers, numberOf(id, 'f_K')].map(grouped), shown(skill!), shown(median_skill!)]
    })
    expect(tableAfter('<!-- gains of the example -->')).toEqual(expected)
    expect([...scores.pairs.values()].every(({ contested }) => contested)).toBe(true)
    expect(scores.voice_rule).toBe('recorded')
  })
})

test('the example of an interval', () => {
  const gains = [
    { unit: 'first', gain: 100_000_000n, otherGain: -81_000_000n },
    { unit: 'second', gain: 60_000_000n, otherGain: -135_000_000n },
  ].map(({ unit, ...one }): Gain => ({
    unit,
    kind: 'independent',
    cluster: unit,
    week: unit,
    reference: 200_000_000n,
    spread: 90_000_000n,
    ...one,
  }))
  const skill = skillOf(gains)
  const { lower, upper } = intervalOf(skill, 0.05)!
  const [middle, error, h] = [skill.skill!, skill.error, multiplier(METHODOLOGY, 2, 0.05)].map((value) =>
    shown(published(value)),
  )
  expect(text).toContain(
    `\`skill_interval\` = ${middle} ± ${h} · ${error} = ${shown(lower)} to ${shown(upper)}`,
  )
  const inUnits = (variance: number) => `${Number((variance / 1e16).toFixed(4))}e16`
  for (const variance of Object.values(skill.variances!)) expect(text).toContain(`= ${inUnits(variance)}`)
})

test('the multipliers of intervals', () => {
  const expected = [1, 10, 100].map((attempt) => [
    `attempt ${attempt}`,
    ...[25, 50, 100, 200].map((clusters) =>
      multiplier(METHODOLOGY, clusters, alphaOf(METHODOLOGY, attempt)).toFixed(2),
    ),
  ])
  expect(tableAfter('<!-- multipliers -->')).toEqual(expected)
})

test('the parameters', () => {
  const told = tableAfter('## 5. What is published').map(([name, value]) => [name, value])
  const held = Object.entries(METHODOLOGY.parameters).map(([name, value]) => [`\`${name}\``, String(value)])
  expect(told).toEqual(held)
})

test('the metrics and facts of a verification are named', () => {
  const section = text.split('## 5. What is published')[1]!
  const named = (name: string) => section.includes(`\`${name.replace(/_interval$/, '')}\``)
  const inWords = ['name', 'owner_id']
  const fields = [...metricsIn('verification', 'agent'), ...Object.keys(factFields('verification', 'agent'))]
  expect(fields.filter((name) => !named(name) && !inWords.includes(name))).toEqual([])
})
