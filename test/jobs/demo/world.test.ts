// What the demo shows, at once and after its sandbox has gone on.
import { describe, expect, test } from 'vitest'
import { simulateHistory } from '../../../jobs/sandbox/history.ts'
import { OWNERS, SIMULATED_AGENTS, roundStartsAt } from '../../../jobs/sandbox/simulated-agents.ts'
import {
  FORECASTERS,
  PEOPLE,
  type Simulation,
  questionsOf,
  wholePercent,
} from '../../../jobs/sandbox/world.ts'
import type { RankedEntity } from '../../../pipeline/release/payloads.ts'
import { demoAt, demoWorld, sandboxWorld } from '../../support/worlds/demo-world.ts'
import { type ScoredWorld, scoreWorld } from '../../support/worlds/scored-world.ts'

const AT = '2026-03-01T12:00:00.000Z'
const A_DAY = 288

const titleOf = ({ award }: RankedEntity) => ('certification' in award ? award.certification : award.badge)

describe.each([0, A_DAY])('the world of the demo, %i rounds of its sandbox later,', (sandboxRounds) => {
  const scored: ScoredWorld = scoreWorld(demoWorld(sandboxRounds))
  const agents = scored.entities.filter(({ entityType }) => entityType === 'agent')
  const people = scored.entities.filter(({ entityType }) => entityType === 'forecaster')
  const of = (owner: string | null) => agents.filter(({ facts }) => facts.owner_id === owner)
  const certified = [...agents, ...people].filter((entity) => titleOf(entity) === 'certified')

  test('has every title', () => {
    expect(scored.voiceRule).toBe('recorded')
    expect(new Set(agents.map(titleOf))).toEqual(new Set(['none', 'measured', 'certified']))
    expect(new Set(people.map(titleOf))).toEqual(new Set(['measured', 'certified']))
    expect(of(OWNERS.one).map(titleOf)).toEqual(['certified'])
  })

  test('certifies nobody by a hair', () => {
    expect(certified).toHaveLength(4)
    for (const { metrics } of certified) {
      expect(metrics.skill_interval!.lower).toBeGreaterThan(0.05)
      expect(metrics.median_skill_interval!.lower).toBeGreaterThan(0.05)
    }
  })

  test('has a person who is certified, and people who are not told apart', () => {
    const [first, ...others] = people.sort((a, b) => a.metrics.rank! - b.metrics.rank!)
    expect(first!.entityId).toBe(PEOPLE.at(-1)!.userId)
    expect(titleOf(first!)).toBe('certified')
    expect(others.map(titleOf)).toEqual(others.map(() => 'measured'))
    for (const { metrics } of others) {
      expect(metrics.rank_interval!.lower).toBeLessThan(metrics.rank_interval!.upper)
    }
  })

  test('has an owner of whose four agents one is certified, its first', () => {
    const own = of(OWNERS.several).sort((a, b) => a.metrics.attempt! - b.metrics.attempt!)
    expect(own.map(titleOf)).toEqual(['certified', 'measured', 'measured', 'measured'])
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

  test('has an agent that copies the crowd, and one that says outcomes late: neither is certified', () => {
    const [[copying], [late]] = [of(OWNERS.copying), of(OWNERS.late)]
    for (const agent of [copying!, late!]) {
      expect(titleOf(agent)).toBe('measured')
      expect(agent.metrics.contested_questions).toBeGreaterThanOrEqual(100)
      expect(agent.metrics.skill).toBeLessThan(0)
      expect(agent.metrics.median_skill).toBeLessThan(0)
    }
    // What the late one says in the last quarter makes it the better one in all that titles do not look at.
    expect(late!.metrics.brier!).toBeLessThan(copying!.metrics.brier!)
    expect(late!.metrics.skill).toBe(copying!.metrics.skill)
  })
})

test('an agent that copies the crowd says the average of the forecasts that stand', () => {
  const { resolved, forecasts, submissions } = simulateHistory(demoAt(AT))
  const place = SIMULATED_AGENTS.findIndex(({ owner }) => owner === OWNERS.copying)
  for (const round of [0, 1, 2]) {
    const question = resolved[0]!
    const at = roundStartsAt(question, round)
    const { probability } = submissions.find(
      (each) =>
        each.agent === place && each.questionId === question.questionId && each.at.getTime() === at.getTime(),
    )!
    const before = forecasts.filter(
      (forecast) => forecast.questionId === question.questionId && forecast.forecastAt < at,
    )
    const current = new Map(before.map((forecast) => [forecast.userId, forecast.probability]))
    const sum = [...current.values()].reduce((total, one) => total + one, 0)
    expect(Math.abs(probability - sum / current.size)).toBeLessThanOrEqual(0.005 + 1e-9)
  }
})

test('the same seed gives the same world at any time', () => {
  const worldAt = (at: string) => {
    const { questions, forecasts, submissions } = simulateHistory(demoAt(at))
    // The ids contain the time. The titles do not: they have each question's number and odds.
    const titles = new Map(questions.map(({ questionId, title }) => [questionId, title]))
    const on = ({ questionId, probability }: { questionId: string; probability: number }) => ({
      title: titles.get(questionId),
      probability,
    })
    return {
      submissions: submissions.map((each) => ({ agent: each.agent, ...on(each) })),
      outcomes: questions.map(({ title, outcome }) => ({ title, outcome })),
      forecasts: forecasts.map((each) => ({ userId: each.userId, ...on(each) })),
    }
  }
  expect(worldAt('2026-01-01T00:00:00Z')).toEqual(worldAt('2031-05-05T05:05:05Z'))
})

test('its weeks close in as many weeks of the calendar, the last one at the start, and its rounds ask other questions', () => {
  const demo = demoAt(AT)
  const { questions, resolved } = simulateHistory(demo)
  const closes = [...new Set(questions.map(({ closesAt }) => closesAt.getTime()))]
  expect(closes).toEqual(
    Array.from({ length: 21 }, (_, week) => Date.parse(AT) - (19 - week) * 7 * 86_400_000),
  )
  expect(resolved).toEqual(questions.slice(0, 200))
  const indexes = [...questions, ...questionsOf(demo, 0)].map(({ index }) => index)
  expect(indexes).toEqual(Array.from({ length: 220 }, (_, index) => index))
})

/** What an agent earns that is alone in a sandbox and says the odds in the titles of its questions. */
function titleAlone(seed: number, rounds: number): string {
  const record: Simulation = {
    seed,
    started_at: AT,
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

test(
  'an agent that says the odds in the titles is ranked from three rounds on, and not certified in a week',
  { tags: ['slow'] },
  () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      expect(titleAlone(seed, 2)).toBe('none')
      expect(titleAlone(seed, 3)).toBe('measured')
      expect(titleAlone(seed, 60)).toBe('measured')
    }
  },
)
