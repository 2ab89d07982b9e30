// One entity's scores at the boundaries: without anything to average, with one cluster, with as many
// questions as windows need.
import { describe, expect, test } from 'vitest'
import { Rows } from '../../pipeline/engine/rows.ts'
import { type EntityScores, scoreEntity } from '../../pipeline/scoring/entity.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { NO_LEAN } from '../../pipeline/scoring/participant.ts'
import { JOINTS, NO_PAIRS, SCORED_COLUMNS } from '../../pipeline/scoring/pairs.ts'

const CIRCUMSTANCES = {
  voice: true,
  owner_agents: null,
  attempt: null,
  pool: 'a pool',
  pool_size: 9,
  offered_questions: 0,
  answered_share: null,
  isRetired: false,
}

interface Question {
  /** The errors of the entity and of all yardsticks, in 1e-9; no reference: not contested. */
  own: number
  reference?: number
  /** The same had the question ended otherwise. */
  ownOther?: number
  referenceOther?: number
  settled?: 0 | 1
  unit?: number
  cluster?: number
  week?: number
  joint?: number
  priced?: 0 | 1
}

/** Scores questions that are given in order, each covered and judged for half of its life. */
function score(questions: readonly Question[], circumstances = CIRCUMSTANCES): EntityScores {
  const rows = new Rows(SCORED_COLUMNS)
  for (const question of questions) {
    const { columns, row } = rows
    const { own, ownOther = own, reference, referenceOther = reference } = question
    columns.settled[row] = question.settled ?? 1
    columns.settled_ms[row] = row
    columns.outcome[row] = 1
    columns.unit[row] = question.unit ?? row
    columns.cluster[row] = question.cluster ?? row
    columns.week[row] = question.week ?? row
    columns.joint[row] = question.joint ?? JOINTS.lone
    columns.unit_questions[row] = 1
    columns.coverage[row] = 5e11
    columns.brier[row] = own * 1000
    columns.judged[row] = reference === undefined ? 0 : 1
    columns.judged_coverage[row] = reference === undefined ? 0 : 5e11
    columns.priced[row] = question.priced ?? 0
    columns.judged_brier[row] = own
    columns.judged_brier_if_other[row] = ownOther
    for (const yardstick of ['average', 'median', 'market'] as const) {
      columns[`${yardstick}_brier`][row] = reference ?? 0
      columns[`${yardstick}_brier_if_other`][row] = referenceOther ?? 0
    }
    columns.lean[row] = NO_LEAN
    columns.closing_probability[row] = 500_000
    columns.forecasts[row] = 1
    rows.next()
  }
  return scoreEntity(METHODOLOGY, rows, circumstances)
}

const times = (count: number, question: Question) => Array.from({ length: count }, () => question)

test('an entity that took part in nothing has no scores and ten empty bins', () => {
  const { calibration_curve, ...scores } = scoreEntity(METHODOLOGY, NO_PAIRS, CIRCUMSTANCES)
  const { isRetired: _isRetired, ...told } = CIRCUMSTANCES
  expect(scores).toEqual({
    ...told,
    eligible: false,
    skill: null,
    skill_interval: null,
    median_skill: null,
    median_skill_interval: null,
    market_skill: null,
    market_skill_interval: null,
    board_interval: null,
    evidence: 0,
    resolved_questions: 0,
    contested_questions: 0,
    priced_questions: 0,
    pending_questions: 0,
    clusters: 0,
    priced_clusters: 0,
    forecasts: 0,
    witnessed_share: null,
    coverage: null,
    recent: { questions: 0, skill: null, skill_interval: null },
    brier: null,
    log_score: null,
    baseline_score: null,
    peer_score: null,
    calibration: null,
    corp: null,
    expected_calibration_error: null,
    skill_stability: null,
    conviction: null,
    lean: null,
    responsiveness: null,
    updates: 0,
  })
  expect(calibration_curve).toHaveLength(10)
})

describe('skill', () => {
  const ahead = { own: 0, reference: 250_000_000 }

  test('is shrunk by ten imaginary questions, so that ten perfect ones give only one half', () => {
    expect(score(times(10, ahead))).toMatchObject({ skill: 0.5, median_skill: 0.5, evidence: 1 })
  })

  test('has no interval with one cluster', () => {
    const one = score(times(60, { ...ahead, cluster: 7 }))
    expect(one).toMatchObject({ clusters: 1, skill_interval: null, median_skill_interval: null })
    const two = score([...times(59, { ...ahead, cluster: 7 }), { ...ahead, cluster: 3 }])
    expect(two.clusters).toBe(2)
    expect(two.skill_interval).not.toBeNull()
  })

  test('of whoever does as the yardstick is 0, its interval empty', () => {
    const { skill, skill_interval } = score(times(60, { own: 250_000_000, reference: 250_000_000 }))
    expect({ skill, skill_interval }).toEqual({
      skill: 0,
      skill_interval: { lower: 0, upper: 0, level: 0.95 },
    })
  })

  test('counts contested questions only, and the means count all', () => {
    const contested = times(30, { own: 100_000_000, reference: 250_000_000 })
    const scores = score([...contested, ...times(30, { own: 900_000_000 })])
    expect(scores).toMatchObject({
      resolved_questions: 60,
      contested_questions: 30,
      brier: 0.5,
      coverage: 0.5,
    })
    expect(scores.skill).toBe(score(contested).skill)
  })

  test('of the market is null where nothing is priced', () => {
    expect(score(times(30, ahead))).toMatchObject({ market_skill: null, market_skill_interval: null })
    const priced = score([...times(29, ahead), { ...ahead, priced: 1 }])
    expect(priced).toMatchObject({ market_skill: priced.skill, priced_questions: 1, priced_clusters: 1 })
  })

  test('of an owner’s later agents has wider intervals at a higher level', () => {
    const questions = Array.from({ length: 60 }, (_, i) => ({
      own: 100_000_000 + i * 1_000_000,
      reference: 250_000_000,
    }))
    const [first, second, tenth] = [1, 2, 10].map(
      (attempt) => score(questions, { ...CIRCUMSTANCES, attempt, owner_agents: 10 } as never).skill_interval!,
    )
    expect([first!.level, second!.level, tenth!.level]).toEqual([0.95, 1 - 0.1 / 6, 1 - 0.1 / 110])
    expect(first!.lower).toBeGreaterThan(second!.lower)
    expect(second!.lower).toBeGreaterThan(tenth!.lower)
  })

  test('scatters by week where questions of one week go wrong together', () => {
    const questions = (week: (row: number) => number) =>
      Array.from({ length: 60 }, (_, row) => ({ ...ahead, referenceOther: 250_000_000, week: week(row) }))
    const width = (of: readonly Question[]) => {
      const { lower, upper } = score(of).skill_interval!
      return upper - lower
    }
    expect(width(questions((row) => row % 3)) / width(questions((row) => row))).toBeCloseTo(Math.sqrt(20), 6)
  })

  test('of a question that has not closed counts for nothing', () => {
    const settled = times(30, { own: 100_000_000, reference: 250_000_000 })
    const { pending_questions, ...scores } = score([...settled, { own: 900_000_000, settled: 0 }])
    const { pending_questions: none, ...without } = score(settled)
    expect([pending_questions, none]).toEqual([1, 0])
    expect(scores).toEqual(without)
  })

  test('of recent questions is that of the last hundred', () => {
    const { recent } = score([
      ...times(60, ahead),
      ...times(100, { own: 250_000_000, reference: 250_000_000 }),
    ])
    expect(recent).toMatchObject({ questions: 100, skill: 0 })
  })
})

describe('what might have been', () => {
  const lost = { own: 0, reference: 40_000_000, ownOther: 1_000_000_000, referenceOther: 640_000_000 }
  const lowerOf = (questions: readonly Question[]) => score(questions).skill_interval!.lower

  test('widens the interval of many small gains, each against a great loss that has not come', () => {
    expect(score(times(60, lost)).skill).toBeGreaterThan(0.4)
    expect(lowerOf(times(60, lost))).toBeLessThan(lowerOf(times(60, { ...lost, ownOther: 640_000_000 })))
  })

  test('adds small gains against one great loss up by cluster or week, as one bet', () => {
    const together = times(60, { ...lost, cluster: 1 })
    expect(lowerOf([...together, { ...lost, cluster: 2 }])).toBeLessThan(lowerOf(times(61, lost)))
  })

  test('takes a gain against exactly three times the loss for no bet', () => {
    const bet = {
      own: 0,
      reference: 100_000_000,
      ownOther: 400_000_001,
      referenceOther: 100_000_000,
      cluster: 1,
    }
    const none = { ...bet, ownOther: 400_000_000 }
    const width = (of: Question) => -lowerOf([...times(60, of), { ...of, cluster: 2 }])
    expect(width(bet)).toBeGreaterThan(width(none) + 0.01)
  })

  test('of options of which one is yes adds up twice the squares, of ordered ones the square of the sum', () => {
    const one = {
      own: 0,
      reference: 10_000_000,
      ownOther: 20_000_000,
      referenceOther: 0,
      week: 0,
      unit: 1,
      cluster: 1,
    }
    const width = (joint: number) => {
      const { lower, upper } = score([
        ...times(4, { ...one, joint }),
        { own: 0, reference: 0 },
      ]).skill_interval!
      return upper - lower
    }
    // Σf = 4f beside 2·Σf² = 8f²; the gains of all in one cluster are 4·X with f = √2·X.
    expect(width(JOINTS.ordered) / width(JOINTS.exclusive)).toBeCloseTo(Math.sqrt((16 * 2) / (8 * 2)), 6)
  })
})

describe('eligibility and stability', () => {
  const ahead = { own: 0, reference: 250_000_000 }

  test('begin at 25 and at 50 contested questions', () => {
    expect(score([...times(24, ahead), { own: 0 }]).eligible).toBe(false)
    expect(score(times(25, ahead)).eligible).toBe(true)
    expect(score([...times(49, ahead), { own: 0 }]).skill_stability).toBeNull()
    expect(score(times(50, ahead)).skill_stability).toBe(1)
  })

  test('leave whoever has retired without a bar', () => {
    expect(score(times(30, ahead)).board_interval).not.toBeNull()
    expect(score(times(30, ahead), { ...CIRCUMSTANCES, isRetired: true }).board_interval).toBeNull()
  })

  test('a window that is level with the average is not ahead', () => {
    expect(score(times(50, { own: 250_000_000, reference: 250_000_000 })).skill_stability).toBe(0)
  })

  test('windows slide by one question', () => {
    // 25 wins, then 25 losses of the same size: a window is ahead while the majority in it are wins.
    const world = [...times(25, ahead), ...times(25, { own: 500_000_000, reference: 250_000_000 })]
    expect(score(world).skill_stability).toBe(13 / 26)
  })
})
