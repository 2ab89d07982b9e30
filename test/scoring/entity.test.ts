// One entity's scores at the boundaries: without anything to average, with one cluster, with as many
// questions as windows need.
import { describe, expect, test } from 'vitest'
import { Rows } from '../../pipeline/engine/rows.ts'
import { type EntityScores, scoreEntity } from '../../pipeline/scoring/entity.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { NO_PAIRS, SCORED_COLUMNS } from '../../pipeline/scoring/pairs.ts'
import { metricsPlainly } from '../support/plain/entity.ts'

const CIRCUMSTANCES = {
  strength: 1_000_000,
  voice: true,
  owner_agents: null,
  attempt: null,
  pool: 'a pool',
  pool_size: 9,
}

interface Question {
  /**
   * Coverage times Brier score of the entity and of the standard reference, in 1e-9; no reference: not
   * contested.
   */
  own: number
  standard?: number
  /** The same had the question ended otherwise. */
  ownOther?: number
  standardOther?: number
  settled?: 0 | 1
  cluster?: number
  ppm?: number
  outcome?: 0 | 1
}

/** Scores questions that are given in order, each covered whole. */
function score(questions: readonly Question[], circumstances = CIRCUMSTANCES): EntityScores {
  const rows = new Rows(SCORED_COLUMNS)
  for (const question of questions) {
    const { columns, row } = rows
    const { own, standard = -1, cluster = row, ppm = 500_000, outcome = 1 } = question
    columns.settled[row] = question.settled ?? 1
    columns.standard_other[row] = question.standardOther ?? standard
    columns.brier_other[row] = (question.ownOther ?? own) * 1000
    columns.reference_part[row] = Math.max(0, standard) * 1000
    columns.reference_other[row] = Math.max(0, question.standardOther ?? standard) * 1000
    columns.crowd_other[row] = Math.max(0, question.standardOther ?? standard) * 1000
    columns.outcome[row] = outcome
    columns.cluster[row] = cluster
    columns.standard[row] = standard
    columns.coverage[row] = 1e12
    columns.brier_part[row] = own * 1000
    columns.crowd_part[row] = Math.max(0, standard) * 1000
    columns.closing_probability[row] = ppm
    columns.forecasts[row] = 1
    columns.flip_flop[row] = -1
    rows.next()
  }
  return scoreEntity(METHODOLOGY, rows, circumstances)
}

const times = (count: number, question: Question) => Array.from({ length: count }, () => question)

test('an entity that took part in nothing has no scores and ten empty bins', () => {
  const { calibration_curve, ...scores } = scoreEntity(METHODOLOGY, NO_PAIRS, CIRCUMSTANCES)
  const { calibration_curve: plainCurve, closing_questions, ...plain } = metricsPlainly([])
  expect(closing_questions).toBe(0)
  expect(scores).toEqual({
    ...plain,
    eligible: false,
    strength: 1,
    voice: true,
    owner_agents: null,
    attempt: null,
    pool: 'a pool',
    pool_size: 9,
    contested_questions: 0,
    pending_questions: 0,
    clusters: 0,
    skill: null,
    skill_interval: null,
    board_interval: null,
    strict_skill_interval: null,
    evidence: 0,
    fragility: null,
    crowd_skill: null,
    crowd_skill_interval: null,
    crowd_evidence: 0,
  })
  expect(calibration_curve).toHaveLength(10)
  expect(calibration_curve).toEqual(plainCurve)
})

describe('skill', () => {
  test('is shrunk by ten imaginary questions, so that ten perfect ones give only one half', () => {
    expect(score(times(10, { own: 0, standard: 250_000_000 })).skill).toBe(0.5)
  })

  test('has no interval with one cluster', () => {
    const question = { own: 0, standard: 250_000_000 }
    const one = score(times(60, { ...question, cluster: 7 }))
    expect(one).toMatchObject({ clusters: 1, skill_interval: null, crowd_skill_interval: null })
    const two = score([...times(59, { ...question, cluster: 7 }), { ...question, cluster: 3 }])
    expect(two.clusters).toBe(2)
    expect(two.skill_interval).not.toBeNull()
    expect(two.crowd_skill_interval).not.toBeNull()
  })

  test('of whoever does as the reference is 0, its interval empty', () => {
    const { skill, skill_interval } = score(times(60, { own: 250_000_000, standard: 250_000_000 }))
    expect({ skill, skill_interval }).toEqual({
      skill: 0,
      skill_interval: { lower: 0, upper: 0, level: 0.95 },
    })
  })

  test('counts contested questions only, and the means count all', () => {
    const contested = times(30, { own: 100_000_000, standard: 250_000_000 })
    const alone = times(30, { own: 900_000_000 })
    const scores = score([...contested, ...alone])
    expect(scores).toMatchObject({ resolved_questions: 60, contested_questions: 30, brier: 0.5 })
    expect(scores.skill).toBe(score(contested).skill)
  })

  test('of an owner’s later agents has wider intervals at a higher level', () => {
    const questions = Array.from({ length: 60 }, (_, i) => ({
      own: 100_000_000 + i * 1_000_000,
      standard: 250_000_000,
    }))
    const [first, second, tenth] = [1, 2, 10].map(
      (attempt) => score(questions, { ...CIRCUMSTANCES, attempt, owner_agents: 10 } as never).skill_interval!,
    )
    expect([first!.level, second!.level, tenth!.level]).toEqual([0.95, 1 - 0.1 / 6, 1 - 0.1 / 110])
    expect(first!.lower).toBeGreaterThan(second!.lower)
    expect(second!.lower).toBeGreaterThan(tenth!.lower)
  })
})

describe('what might have been', () => {
  const pennies = { own: 0, standard: 40_000_000, ownOther: 1_000_000_000, standardOther: 640_000_000 }

  test('widens the interval of many small gains, each against a great loss that has not come', () => {
    const { skill, skill_interval } = score(times(60, pennies))
    expect(skill).toBeGreaterThan(0.4)
    expect(skill_interval!.lower).toBeLessThan(0)
    const sure = score(times(60, { ...pennies, ownOther: 0, standardOther: 40_000_000 }))
    expect(sure.skill).toBe(skill)
    expect(sure.skill_interval!.lower).toBeGreaterThan(0)
  })

  test('evidence is the weight of the record in multiples of the imaginary questions', () => {
    expect(score(times(10, { own: 0, standard: 250_000_000 })).evidence).toBe(1)
  })

  test('the strict interval holds no reference above what the others got', () => {
    const raised = { own: 200_000_000, standard: 250_000_000 }
    const scores = score(times(60, raised))
    expect(scores.strict_skill_interval).toEqual(scores.skill_interval)
  })

  test('a question that has not closed counts for nothing but itself', () => {
    const open = { own: 900_000_000, settled: 0 } as const
    const settled = times(30, { own: 100_000_000, standard: 250_000_000 })
    const { pending_questions, ...scores } = score([...settled, open])
    const { pending_questions: none, ...without } = score(settled)
    expect([pending_questions, none]).toEqual([1, 0])
    expect(scores).toEqual(without)
  })
})

describe('eligibility and stability', () => {
  const ahead = { own: 0, standard: 250_000_000 }

  test('begin at 25 and at 50 contested questions', () => {
    expect(score([...times(24, ahead), { own: 0 }]).eligible).toBe(false)
    expect(score(times(25, ahead)).eligible).toBe(true)
    expect(score([...times(49, ahead), { own: 0 }])).toMatchObject({ windows: 0, skill_stability: null })
    expect(score(times(50, ahead))).toMatchObject({ windows: 26, skill_stability: 1, skill_deviation: 0 })
  })

  test('a window that is level with the reference is not ahead, and one without error of its own or the reference is 0', () => {
    expect(score(times(50, { own: 250_000_000, standard: 250_000_000 })).skill_stability).toBe(0)
    expect(score(times(50, { own: 0, standard: 0 }))).toMatchObject({
      skill_stability: 0,
      skill_deviation: 0,
    })
  })

  test('windows slide by one question', () => {
    // 25 wins, then 25 losses of the same size: a window is ahead while the majority in it are wins.
    const world = [...times(25, ahead), ...times(25, { own: 500_000_000, standard: 250_000_000 })]
    expect(score(world)).toMatchObject({ windows: 26, skill_stability: 13 / 26 })
  })
})

describe('conviction_gap', () => {
  test.each([
    ['certain and right', 1_000_000, 1, 0],
    ['certain and wrong', 0, 1, 1],
    ['one half counts as half right', 500_000, 1, 0],
    ['underconfident', 600_000, 1, -0.4],
  ] as const)('%s', (_, ppm, outcome, expected) => {
    expect(score(times(30, { own: 0, ppm, outcome })).conviction_gap).toBeCloseTo(expected, 15)
  })
})
