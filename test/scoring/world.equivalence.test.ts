// Whole worlds by the service's own steps and by the plain scorer: every pair, every published number, every
// award.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EntityMetrics } from '../../schemas/metrics.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { type PlainWorldScores, scoreWorldPlainly } from '../support/plain/world.ts'
import { type WorldShape, randomWorld } from '../support/worlds/random-world.ts'
import { type ScoredWorld, scoreWorld } from '../support/worlds/scored-world.ts'

function expectSame(fast: ScoredWorld, plain: PlainWorldScores): void {
  expect([fast.voiceRule, fast.scale]).toEqual([plain.voice_rule, plain.scale])
  expect(fast.pairs).toHaveLength(plain.pairs.size)
  for (const pair of fast.pairs) {
    const expected = plain.pairs.get(`${pair.entity}|${pair.question}`)!
    expect(pair.standard).toBe(Number(expected.standard_reference ?? -1))
  }
  expect(fast.entities).toHaveLength(plain.entities.size)
  for (const { entityId, metrics, award } of fast.entities) {
    const { metrics: means, ...published } = plain.entities.get(entityId)!
    expect({ ...metrics, ...award }, entityId).toMatchObject(published)
    for (const [path, value] of figures(means)) {
      const [, measured] = figures(metrics).find(([other]) => other === path)!
      if (typeof value !== 'number') expect(measured, path).toBe(value)
      // Half of the last of six decimals, and what doubles lose in the plain scorer.
      else expect(Math.abs((measured as number) - value), path).toBeLessThanOrEqual(0.50001e-6)
    }
  }
}

/** Every number in `value` with its path. */
function figures(value: unknown, path = ''): [path: string, figure: unknown][] {
  if (value === null || typeof value !== 'object') return [[path, value]]
  return Object.entries(value).flatMap(([name, part]) => figures(part, `${path}/${name}`))
}

const shape: fc.Arbitrary<WorldShape> = fc.record({
  seed: fc.nat(1_000_000),
  people: fc.integer({ min: 0, max: 8 }),
  agents: fc.integer({ min: 0, max: 7 }),
  owners: fc.integer({ min: 0, max: 3 }),
  questions: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 20, max: 70 })),
  noise: fc.constantFrom(0, 0.3, 0.7, 1),
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
      for (const { metrics, award } of fast.entities) {
        if (metrics.attempt !== null && metrics.attempt > 1) count('a later attempt')
        if (metrics.eligible && !metrics.voice) count('ranked without a voice')
        if (metrics.rank_interval && metrics.rank_interval.lower < metrics.rank_interval.upper)
          count('not told apart')
        count('badge' in award ? award.badge : award.certification)
      }
    }),
    { numRuns: 120, seed: 20261122 },
  )
  for (const what of [
    'recorded',
    'everyone',
    'a later attempt',
    'ranked without a voice',
    'not told apart',
    'provisional',
    'certified',
    'bronze',
    'silver',
    'gold',
  ]) {
    expect(covered[what], what).toBeGreaterThan(0)
  }
})

test('strengths stop at 0.05 and at 10, and whoever is always right is certified in a field that never is', () => {
  const fields = { people: 7, agents: 3, owners: 3, questions: 110, noise: 1 }
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
  const forecasts = world.forecasts.map(
    ([entity, question, at, ppm, id]): (typeof world.forecasts)[number] => [
      entity,
      question,
      at,
      entity === best ? (outcomes.get(question) === 1 ? 900_000 : 100_000) : ppm,
      id!,
    ],
  )
  const fast = scoreWorld({ ...world, forecasts })
  expectSame(fast, scoreWorldPlainly({ ...world, forecasts }))
  expect(fast.entities.map(({ award }) => Object.values(award)[0])).toContain('platinum')
})
