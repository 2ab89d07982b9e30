// Whole worlds by the service's own steps and by the plain scorer: every pair, every published number, every
// title.
// @module-tag slow
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ENTITY_METRICS } from '../../schemas/metrics.ts'
import { scoreWorld as scorePlainly } from '../support/plain/world.ts'
import { type WorldShape, randomWorld } from '../support/worlds/random-world.ts'
import { type ScoredWorld, scoreWorld, valuesOf } from '../support/worlds/scored-world.ts'

type PlainScores = ReturnType<typeof scorePlainly>

/** What the plain scorer says in other words, and what the service does not know yet. */
const TOLD_OTHERWISE = [
  'variances',
  'alpha',
  'calibration',
  'declaration',
  'since_declaration',
  'last_forecast_at_ms',
]

function expectSame(fast: ScoredWorld, plain: PlainScores): void {
  expect(fast.voiceRule).toBe(plain.voice_rule)
  expect(fast.pairs).toHaveLength(plain.pairs.size)
  for (const pair of fast.pairs) {
    const name = `${pair.entity}|${pair.question}`
    const wanted = plain.pairs.get(name)!
    const found = valuesOf(pair)
    for (const [column, value] of Object.entries(wanted)) {
      if (typeof value !== 'number' || Number.isInteger(value)) {
        if (FRACTIONS.has(column))
          expect(Math.abs(Number(found[column]) - Number(value)), column).toBeLessThan(1e-9)
        else expect(found[column], `${name} ${column}`).toBe(value)
      } else expect(Math.abs(Number(found[column]) - value), `${name} ${column}`).toBeLessThan(1e-9)
    }
  }
  expect(fast.entities).toHaveLength(plain.entities.size)
  for (const { entityId, entityType, metrics, award } of fast.entities) {
    const {
      id: _id,
      kind,
      voice,
      certification,
      badge,
      ...numbers
    } = plain.entities.get(entityId)! as ReturnType<PlainScores['entities']['get']> & {
      certification?: string
      badge?: string
      id?: string
    }
    expect([entityType, metrics.voice, Object.values(award)[0]]).toEqual([
      kind,
      voice,
      certification ?? badge,
    ])
    for (const [path, value] of figures(numbers)) {
      if (TOLD_OTHERWISE.some((name) => path.startsWith(`/${name}`)) || path === '/isOnBoard') continue
      const measured = figures(metrics).find(([other]) => other === path)
      expect(measured, `${entityId} ${path}`).toBeDefined()
      // Half of the last of six decimals, and what doubles lose in the plain scorer.
      if (typeof value === 'number')
        expect(Math.abs(Number(measured![1]) - value), `${entityId} ${path}`).toBeLessThanOrEqual(1.00001e-6)
      else expect(measured![1], `${entityId} ${path}`).toBe(value)
    }
  }
}

const FRACTIONS = new Set([
  'coverage',
  'brier',
  'log_score',
  'baseline_score',
  'peer_score',
  'judged_coverage',
])

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
  isRich: fc.boolean(),
})

test('boards of every size, owners, ties, events, prices and annulled questions', () => {
  const covered: Record<string, number> = {}
  const count = (what: string, times = 1) => (covered[what] = (covered[what] ?? 0) + times)
  fc.assert(
    fc.property(shape, (given) => {
      const world = randomWorld(given)
      const fast = scoreWorld(world)
      expectSame(fast, scorePlainly(world))
      count(fast.voiceRule)
      if (new Set(fast.entities.map(({ metrics }) => metrics.pool)).size > 3) count('two pools of a kind')
      for (const { category } of fast.references) if (category !== null) count('a reference in a category')
      for (const pair of fast.pairs) {
        if (!pair.asked.isSettled) count('a question that has not closed')
        if (pair.closing_probability < 0) count('withdrawn at the close')
        if (pair.priced === 1) count('a price')
        if (pair.judged === 0) count('nothing judged')
        if (pair.asked.divisor > 2) count('an ordered event')
      }
      for (const { metrics, award } of fast.entities) {
        if (metrics.attempt !== null && metrics.attempt > 1) count('a later attempt')
        if (metrics.rank !== null && !metrics.voice) count('ranked without a voice')
        if (metrics.eligible && metrics.rank === null) count('retired with a title')
        if (metrics.rank_interval && metrics.rank_interval.lower < metrics.rank_interval.upper)
          count('not told apart')
        count(Object.values(award)[0]!)
      }
    }),
    { numRuns: 60, seed: 20261129 },
  )
  for (const what of [
    'recorded',
    'everyone',
    'a later attempt',
    'ranked without a voice',
    'retired with a title',
    'not told apart',
    'none',
    'measured',
    'two pools of a kind',
    'a reference in a category',
    'a question that has not closed',
    'withdrawn at the close',
    'a price',
    'nothing judged',
    'an ordered event',
  ]) {
    expect(covered[what] ?? 0, what).toBeGreaterThan(0)
  }
})

/** Parts of the plain scorer's calibration, and a count of entities. */
const UNDER_OTHER_NAMES = [
  'eligible',
  'corp',
  'calibration_curve',
  'expected_calibration_error',
  'population',
]

test('the plain scorer has every metric of the catalogue', () => {
  const world = randomWorld({ seed: 1, people: 7, agents: 1, owners: 1, questions: 5, noise: 0.3 })
  const [entity] = scorePlainly(world).entities.values()
  const missing = Object.keys(ENTITY_METRICS).filter((name) => !(name in entity!))
  expect(missing).toEqual(UNDER_OTHER_NAMES)
})

test('whoever is always right among people who never are is certified', () => {
  const fields = { people: 7, agents: 3, owners: 3, questions: 170, noise: 1 }
  const titles = (['right', 'wrong'] as const).map((extreme) => {
    const world = randomWorld({ ...fields, seed: 5, extreme })
    const fast = scoreWorld(world)
    expectSame(fast, scorePlainly(world))
    return Object.values(fast.entities.find(({ entityId }) => entityId === 'f000')!.award)[0]
  })
  expect(titles).toEqual(['certified', 'measured'])
})
