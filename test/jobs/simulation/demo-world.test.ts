// What the demo shows: however long its requests take, and while its sandbox goes on.
import { describe, expect, test } from 'vitest'
import { OWNERS, simulateAgents } from '../../../jobs/simulation/demo-agents.ts'
import { simulateLive } from '../../../jobs/simulation/demo-world.ts'
import { FORECASTERS, type Simulation, questionsOf, wholePercent } from '../../../jobs/simulation/world.ts'
import type { RankedEntity } from '../../../pipeline/release/payloads.ts'
import { type DemoTimes, demoWorld, sandboxWorld } from '../../support/worlds/demo-world.ts'
import { type ScoredWorld, scoreWorld } from '../../support/worlds/scored-world.ts'

const OPENS_AT = new Date('2026-03-01T12:00:00Z')
const A_DAY = 288

const titleOf = ({ award }: RankedEntity) => ('certification' in award ? award.certification : award.badge)

describe.each<DemoTimes>([
  { leadMs: 300, roundsMs: [400, 400, 400], sandboxRounds: 0 },
  { leadMs: 300, roundsMs: [400, 400, 400], sandboxRounds: A_DAY },
  { leadMs: 8_000, roundsMs: [9_000, 500, 4_000], sandboxRounds: 0 },
  { leadMs: 8_000, roundsMs: [500, 3_000, 12_000], sandboxRounds: 0 },
  { leadMs: 300, roundsMs: [12_000, 12_000, 300], sandboxRounds: 0 },
])(
  'the world of the demo, rounds of $roundsMs ms after $leadMs ms, $sandboxRounds rounds later,',
  (given) => {
    const scored: ScoredWorld = scoreWorld(demoWorld(given))
    const agents = scored.entities.filter(({ entityType }) => entityType === 'agent')
    const people = scored.entities.filter(({ entityType }) => entityType === 'forecaster')
    const of = (owner: string | null) => agents.filter(({ ownerId }) => ownerId === owner)

    test('has every certification, and every badge that its number of people allows', () => {
      expect(scored.voiceRule).toBe('recorded')
      expect(new Set(agents.map(titleOf))).toEqual(new Set(['none', 'provisional', 'certified', 'expert']))
      expect(new Set(people.map(titleOf))).toEqual(new Set(['none', 'bronze', 'silver', 'gold']))
      expect(of(OWNERS.one).map(titleOf)).toEqual(['expert'])
    })

    test('has people who are not told apart, and people who are', () => {
      const holds = ({ metrics: { rank_interval: ranks } }: RankedEntity, { metrics }: RankedEntity) =>
        ranks!.lower <= metrics.rank! && metrics.rank! <= ranks!.upper
      const pairs = people.flatMap((one, place) =>
        people.slice(place + 1).map((other) => [one, other] as const),
      )
      const told = pairs.filter(([one, other]) => !(holds(one, other) && holds(other, one)))
      expect(told.length).toBeGreaterThan(0)
      expect(told.length).toBeLessThan(pairs.length)
    })

    test('has an owner of whose four agents one is certified, its first', () => {
      const own = of(OWNERS.several).sort((a, b) => a.metrics.attempt! - b.metrics.attempt!)
      expect(own.map(titleOf)).toEqual(['certified', 'provisional', 'provisional', 'provisional'])
      expect(own.map(({ metrics }) => metrics.voice)).toEqual([true, false, false, false])
      expect(own.map(({ metrics }) => metrics.owner_agents)).toEqual([4, 4, 4, 4])
    })

    test('has six agents without an owner, judged more and more strictly, one of them certified', () => {
      const own = of(null).sort((a, b) => a.metrics.attempt! - b.metrics.attempt!)
      expect(own.map(({ metrics }) => metrics.attempt)).toEqual([1, 2, 3, 4, 5, 6])
      expect(own.map(({ metrics }) => metrics.voice)).toEqual(Array(6).fill(false))
      expect(own.filter((agent) => titleOf(agent) === 'certified')).toHaveLength(1)
      const levels = own.map(({ metrics }) => metrics.skill_interval!.level)
      expect(levels).toEqual(levels.toSorted((a, b) => a - b))
    })

    test('has an agent that copies the crowd: better than the middle, and not better than the crowd', () => {
      const [copying] = of(OWNERS.copying)
      expect(titleOf(copying!)).toBe('certified')
      expect(copying!.metrics.contested_questions).toBeGreaterThanOrEqual(100)
      expect(copying!.metrics.crowd_skill_interval!.lower).toBeLessThanOrEqual(0)
    })
  },
)

test('an agent that copies the crowd says the average of the forecasts that stand', () => {
  const live = simulateLive(OPENS_AT, 6_000)
  const copying = simulateAgents(live).find(({ owner }) => owner === OWNERS.copying)!
  const [first, second] = copying.rounds
  expect(first).toEqual([])
  const { questionId, probability } = second![0]!
  const made = live.forecasts.filter((forecast) => forecast.questionId === questionId)
  const early = made.filter(({ forecastAt }) => forecastAt.getTime() < OPENS_AT.getTime() + 2_000)
  expect(new Set(early.map(({ userId }) => userId)).size).toBe(early.length)
  const sum = early.reduce((total, forecast) => total + forecast.probability, 0)
  expect(probability).toBeCloseTo(sum / early.length, 1)
})

/** What an agent earns that is alone in a sandbox and says the odds in the titles of its questions. */
function certificationAlone(seed: number, rounds: number): string {
  const record: Simulation = {
    seed,
    started_at: OPENS_AT.toISOString(),
    round_ms: 300_000,
    questions_per_round: 10,
  }
  const world = sandboxWorld(record, rounds)
  const asked = Array.from({ length: rounds }, (_, round) => questionsOf(record, round)).flat()
  const agent = { id: 'agent', kind: 'agent' as const, owner: null, registered_at_ms: 0 }
  const said = asked.map(({ questionId, openedAt, logOdds }) => ({
    entity: agent.id,
    question: questionId,
    at_ms: openedAt.getTime(),
    ppm: Math.round(1e6 * wholePercent(logOdds)),
    forecast_id: questionId,
    witnessed: true,
  }))
  const { voiceRule, entities } = scoreWorld({
    ...world,
    entities: [...world.entities, agent],
    forecasts: [...world.forecasts, ...said],
  })
  expect(voiceRule).toBe('recorded')
  const people = entities.filter(({ entityType }) => entityType === 'forecaster')
  expect(people.map(({ metrics }) => metrics.contested_questions)).toEqual(
    FORECASTERS.map(() => asked.length),
  )
  return titleOf(entities.find(({ entityId }) => entityId === agent.id)!)
}

test('an agent that says the odds in the titles is certified as often as docs/sandbox.md says', () => {
  const seeds = Array.from({ length: 40 }, (_, index) => index + 1)
  const share = (rounds: number) => {
    const earned = seeds.map((seed) => certificationAlone(seed, rounds))
    return earned.filter((title) => title === 'certified' || title === 'expert').length / seeds.length
  }
  // Of 200 seeds 8.5 %, 63 % and 85.5 %.
  expect(share(5)).toBeLessThan(0.25)
  expect(share(10)).toBeGreaterThan(0.4)
  expect(share(10)).toBeLessThan(0.8)
  expect(share(15)).toBeGreaterThan(0.7)
})
