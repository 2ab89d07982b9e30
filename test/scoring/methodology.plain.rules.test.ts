// The plain scorer of METHODOLOGY 3.0.0 against values worked by hand: pools, clusters, boards, awards and
// the order of rows, of which the small worlds have few.
import { expect, test } from 'vitest'
import { type PlainRecord, badgePlainly, certificationPlainly } from '../support/plain/certification.ts'
import { clusterOf } from '../support/plain/cluster.ts'
import { distinctForecasts } from '../support/plain/forecasts.ts'
import { poolsOf } from '../support/plain/pools.ts'
import { type Ranked, percentilePlainly, rankPlainly } from '../support/plain/ranking.ts'
import { alphaOf, multiplier } from '../support/plain/skill.ts'

test('pools are named by their least voice, and a late voice links them without belonging to one', () => {
  const contested = (question: string, ...entities: string[]) =>
    entities.map((entity) => ({ entity, question, contested: true }))
  const late = (question: string, entity: string) => ({ entity, question, contested: false })
  const voices = new Set(['a', 'b', 'c', 'd', 'late'])
  const apart = [
    ...contested('q', 'b', 'a', 'm', 'n'),
    ...contested('r', 'd', 'c', 'm', 'n'),
    ...contested('s', 'd', 'c', 'm'),
    late('u', 'a'),
  ]
  // m has most pairs in the pool c; n has one in each, so that the least name decides. Nobody has a contested
  // pair on u.
  expect(Object.fromEntries(poolsOf(apart, voices).ofEntity)).toEqual({
    a: 'a',
    b: 'a',
    c: 'c',
    d: 'c',
    m: 'c',
    n: 'a',
  })
  expect(Object.fromEntries(poolsOf([...apart, late('u', 'c')], voices).ofQuestion)).toEqual({
    q: 'a',
    r: 'c',
    s: 'c',
  })
  const linked = poolsOf([...apart, late('q', 'late'), late('r', 'late')], voices)
  expect(Object.fromEntries(linked.ofQuestion)).toEqual({ q: 'a', r: 'a', s: 'a' })
  expect(linked.ofEntity.has('late')).toBe(false)
})

test.each([
  ['2026-11-25', 'x', null, 'week:x|2026-W48'],
  ['2027-01-01', '', null, 'week:|2026-W53'],
  ['2024-12-30', null, '', 'week:|2025-W01'],
  ['2024-12-30', 'x', 'e', 'event:e'],
])('what closes on %s in the category %s with the event %s is in %s', (day, category, event_id, cluster) => {
  expect(clusterOf({ category, event_id, closes_at_ms: Date.parse(`${day}T23:59:59.999Z`) })).toBe(cluster)
})

test.each([
  [1, 25, 3.5],
  [1, 50, 3.18],
  [1, 100, 3.06],
  [1, 200, 3.04],
  [10, 100, 4.35],
  [100, 100, 5.46],
])('METHODOLOGY §3 says h of attempt %i at G = %i: %f', (attempt, clusters, expected) => {
  expect(multiplier(clusters, alphaOf(attempt))).toBeCloseTo(expected, 2)
})

test('ranks go by bars that do not overlap, percentiles by skills within the own interval', () => {
  const bar = (skill: number, half: number): Ranked => {
    const interval = { lower: skill - half, upper: skill + half }
    return { skill, board_interval: interval, skill_interval: interval }
  }
  const [best, good, touching, worst] = [bar(0.75, 0.125), bar(0.5, 0.0625), bar(0.25, 0.1875), bar(-1, 0.5)]
  const field = [best, good, touching, worst]
  // The bar of `touching` ends at 0.4375, where that of `good` begins: they are not told apart.
  expect(rankPlainly(field, touching)).toEqual({ rank: 3, rank_interval: { lower: 2, upper: 3 } })
  expect(rankPlainly(field, good)).toEqual({ rank: 2, rank_interval: { lower: 2, upper: 3 } })
  expect(rankPlainly([...field, { ...good, board_interval: null }], best).rank_interval).toEqual({
    lower: 1,
    upper: 2,
  })
  // One below and itself of four: 100·1.5/4. No skill of another is in [0.0625, 0.4375]: l = u = 3.
  expect(percentilePlainly(field, touching)).toEqual({
    percentile: 37.5,
    percentile_interval: { lower: 37.5, upper: 37.5 },
  })
  // The ends are the skills of `worst` and `good`, which count as within: l = 2, u = 4.
  const wide = { ...touching, skill_interval: { lower: -1, upper: 0.5 } }
  expect(percentilePlainly([best, good, wide, worst], wide).percentile_interval).toEqual({
    lower: 12.5,
    upper: 62.5,
  })
})

const up = { lower: 0.000001, upper: 1 }
const down = { lower: 0, upper: 1 }
const intervals = { skill_interval: up, strict_skill_interval: up, crowd_skill_interval: up }
const best = { n_c: 100, clusters: 25, evidence: 1, crowd_evidence: 1, percentile: 99, ...intervals }

test.each<[string, Partial<PlainRecord>]>([
  ['expert', {}],
  ['certified', { crowd_evidence: 0.999999 }],
  ['certified', { crowd_skill_interval: down }],
  ['certified', { n_c: 99 }],
  ['provisional', { n_c: 49 }],
  ['provisional', { clusters: 24 }],
  ['provisional', { evidence: 0.999999 }],
  ['provisional', { skill_interval: down }],
  ['provisional', { strict_skill_interval: down }],
  ['provisional', { strict_skill_interval: null }],
  ['none', { n_c: 24 }],
])('an agent is %s with %o', (certification, given) => {
  expect(certificationPlainly({ ...best, ...given }, 'recorded')).toBe(certification)
})

test.each<[string, Partial<PlainRecord>]>([
  ['platinum', {}],
  ['gold', { percentile: 98.99 }],
  ['silver', { percentile: 89.99 }],
  ['silver', { clusters: 24 }],
  ['silver', { evidence: 0.999999 }],
  ['silver', { skill_interval: down }],
  ['silver', { strict_skill_interval: down }],
  ['silver', { clusters: 10, percentile: 75 }],
  ['bronze', { clusters: 9 }],
  ['bronze', { percentile: 74.99 }],
  ['none', { percentile: 49.99 }],
  ['none', { percentile: null }],
])('a forecaster has %s with %o', (badge, given) => {
  expect(badgePlainly({ ...best, ...given }, 'recorded')).toBe(badge)
})

test('nothing is above provisional and bronze where everyone is a voice', () => {
  expect(certificationPlainly(best, 'everyone')).toBe('provisional')
  expect(badgePlainly(best, 'everyone')).toBe('bronze')
})

test('of two rows with one id the one recorded first stands; rows of one instant go by their bytes', () => {
  const row = (forecastId: string, recordedAtMs: number) => ({
    forecastId,
    recordedAtMs,
    entity: 'f',
    atMs: 0,
    ppm: recordedAtMs,
    imported: false,
    witnessed: true,
  })
  // In UTF-16 the emoji would come before the tilde.
  const rows = [row('\u{1F600}', 3), row('\uFF5E', 2), row('\uFF5E', 1), row('Z', 4)]
  expect(distinctForecasts(rows).map(({ ppm }) => ppm)).toEqual([4, 1, 3])
})
