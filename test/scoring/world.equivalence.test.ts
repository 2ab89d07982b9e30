// Whole worlds by the service's own steps and by the plain scorer: every pair, every published number, every
// award.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EntityMetrics } from '../../schemas/metrics.ts'
import { REFERENCES } from '../../schemas/references.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { type PlainWorldScores, scoreWorldPlainly } from '../support/plain/world.ts'
import { type WorldShape, randomWorld } from '../support/worlds/random-world.ts'
import { type ScoredWorld, scoreWorld, valuesOf } from '../support/worlds/scored-world.ts'

function expectSame(fast: ScoredWorld, plain: PlainWorldScores): void {
  expect(fast.voiceRule).toBe(plain.voice_rule)
  expect(fast.scales).toEqual(new Map([...plain.pools].map(([pool, { scale }]) => [pool, scale])))
  expect(fast.pairs).toHaveLength(plain.pairs.size)
  for (const pair of fast.pairs) {
    const { settled, settled_at_ms, witnessed, contested, cluster, voices, closing, ...numbers } =
      plain.pairs.get(`${pair.entity}|${pair.question}`)!
    const values = valuesOf(pair)
    expect(values).toMatchObject({ settled, settled_at_ms, witnessed, contested, cluster, voices, closing })
    for (const name of WHOLE) expect(values[name], name).toBe(numbers[name])
  }
  expect(fast.references).toHaveLength(plain.references.length)
  for (const [index, expected] of plain.references.entries()) {
    const measured = fast.references[index]!
    for (const [path, value] of figures(expected)) {
      const [, found] = figures(measured).find(([other]) => other === path)!
      // What the plain scorer integrates in fractions may be another 1e-9.
      if (typeof value === 'number') expect(Math.abs((found as number) - value), path).toBeLessThan(2.5e-6)
      else expect(found, path).toBe(value)
    }
  }
  expect(fast.entities).toHaveLength(plain.entities.size)
  for (const { entityId, entityType, metrics, award } of fast.entities) {
    const { n, n_c, metrics: means, ...scores } = plain.entities.get(entityId)!
    const published = Object.entries(scores).filter(([name]) => name in metrics && !(name in means))
    expect([metrics.resolved_questions, metrics.contested_questions]).toEqual([n, n_c])
    const { certification, badge } = scores
    expect(award, entityId).toEqual(entityType === 'agent' ? { certification } : { badge })
    expect(metrics, entityId).toMatchObject(Object.fromEntries(published))
    for (const [path, value] of figures(means)) {
      const found = figures(metrics).find(([other]) => other === path)
      if (found === undefined) continue
      const [, measured] = found
      if (typeof value !== 'number') expect(measured, path).toBe(value)
      // Half of the last of six decimals, and what doubles lose in the plain scorer.
      else expect(Math.abs((measured as number) - value), path).toBeLessThanOrEqual(0.50001e-6)
    }
  }
}

const WHOLE = [
  'w',
  'B',
  'Y',
  'K',
  "B'",
  "Y'",
  "K'",
  'Z',
  "Z'",
  'X',
  "X'",
  'f',
  'strict_f',
  'crowd_f',
] as const

/** Every number in `value` with its path. */
function figures(value: unknown, path = ''): [path: string, figure: unknown][] {
  if (value === null || typeof value !== 'object') return [[path, value]]
  return Object.entries(value).flatMap(([name, part]) => figures(part, `${path}/${name}`))
}

const shape: fc.Arbitrary<WorldShape> = fc.record({
  seed: fc.nat(1_000_000),
  people: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 6, max: 12 })),
  agents: fc.integer({ min: 0, max: 6 }),
  owners: fc.integer({ min: 0, max: 3 }),
  questions: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 30, max: 160 })),
  noise: fc.constantFrom(0, 0.3, 0.7, 1),
  circles: fc.constantFrom(1, 1, 1, 2),
})

test('fields of every size, owners, ties, events and annulled questions', () => {
  const covered: Record<string, number> = {}
  const count = (what: string, times = 1) => (covered[what] = (covered[what] ?? 0) + times)
  fc.assert(
    fc.property(shape, (given) => {
      const world = randomWorld(given)
      const fast = scoreWorld(world)
      expectSame(fast, scoreWorldPlainly(world))
      count(fast.voiceRule)
      if (fast.scales.size > 1) count('two pools')
      for (const { category } of fast.references) if (category !== null) count('a reference in a category')
      for (const pair of fast.pairs) {
        if (!pair.isSettled) count('a question that has not closed')
        if (pair.closing_probability < 0) count('withdrawn at the close')
        if (pair.own_weight > 0 && pair.voices > 0) count('an own voice')
      }
      for (const { metrics, award } of fast.entities) {
        if (metrics.attempt !== null && metrics.attempt > 1) count('a later attempt')
        if (metrics.rank !== null && !metrics.voice) count('ranked without a voice')
        if (metrics.eligible && metrics.rank === null) count('retired with a title')
        if (metrics.rank_interval && metrics.rank_interval.lower < metrics.rank_interval.upper)
          count('not told apart')
        if (metrics.fragility !== null && metrics.fragility > 1) count('a skill on several outcomes')
        count('badge' in award ? award.badge : award.certification)
      }
    }),
    { numRuns: 60, seed: 20261122 },
  )
  for (const what of [
    'recorded',
    'everyone',
    'a later attempt',
    'ranked without a voice',
    'retired with a title',
    'not told apart',
    'provisional',
    'certified',
    'bronze',
    'silver',
    'gold',
    'two pools',
    'a reference in a category',
    'a question that has not closed',
    'withdrawn at the close',
    'an own voice',
    'a skill on several outcomes',
  ]) {
    expect(covered[what] ?? 0, what).toBeGreaterThan(0)
  }
})

test('two pools that never met have references of their own', () => {
  const world = randomWorld({
    seed: 3,
    people: 14,
    agents: 0,
    owners: 0,
    questions: 120,
    noise: 0.7,
    circles: 2,
  })
  const fast = scoreWorld(world)
  expectSame(fast, scoreWorldPlainly(world))
  const whole = fast.references.filter(({ category }) => category === null)
  expect(whole.map(({ pool, reference }) => `${pool} ${reference}`)).toEqual(
    ['f000', 'f001'].flatMap((pool) => REFERENCES.map((reference) => `${pool} ${reference}`)),
  )
})

test('strengths stop at 0.05 and at 10, and whoever is always right is certified in a field that never is', () => {
  const fields = { people: 7, agents: 3, owners: 3, questions: 170, noise: 1 }
  const strengths: EntityMetrics['strength'][] = []
  for (const extreme of ['right', 'wrong'] as const) {
    const world = randomWorld({ ...fields, seed: 5, extreme })
    const fast = scoreWorld(world)
    expectSame(fast, scoreWorldPlainly(world))
    strengths.push(...fast.entities.map(({ metrics }) => metrics.strength))
  }
  const { strength_least, strength_most } = METHODOLOGY.parameters
  expect(Math.min(...strengths)).toBe(strength_least)
  expect(Math.max(...strengths)).toBe(strength_most)
})

test('fifty people and more than two hundred questions: platinum', () => {
  const world = randomWorld({
    seed: 11,
    people: 50,
    agents: 1,
    owners: 1,
    questions: 220,
    noise: 0.7,
    extreme: undefined,
  })
  const best = world.entities[0]!.id
  const outcomes = new Map(world.questions.map(({ id, outcome }) => [id, outcome]))
  const forecasts = world.forecasts.map((row) =>
    row.entity === best ? { ...row, ppm: outcomes.get(row.question) === 1 ? 900_000 : 100_000 } : row,
  )
  const fast = scoreWorld({ ...world, forecasts })
  expectSame(fast, scoreWorldPlainly({ ...world, forecasts }))
  expect(fast.entities.map(({ award }) => Object.values(award)[0])).toContain('platinum')
})
