// The plain scorer of METHODOLOGY 3.0.0 against values worked by hand: withdrawals, siblings, witnesses. A
// calculation stands above its values.
import { describe, expect, test } from 'vitest'
import { attemptsOf } from '../support/plain/voices.ts'
import { type PlainWorld, type PlainWorldScores, scoreWorldPlainly } from '../support/plain/world.ts'

const DAY_MS = 86_400_000

/**
 * `day:probability` or `day:none`, which withdraws, and `:file` where a file brought it; days after opening.
 */
type Said = string

const OWNERS: Record<string, string> = { v: 'acme', s: 'acme' }
const AGENTS = ['n', ...Object.keys(OWNERS)]

/**
 * Questions of ten days that end with yes, by the forecasts on them. Agents are n without an owner, and v and
 * then s of one owner; all others are people. Rows of one instant have their ids in the order of the list.
 */
function scored(questions: Record<string, Record<string, Said>>): PlainWorldScores {
  const forecasts = Object.entries(questions).flatMap(([question, field]) =>
    Object.entries(field).flatMap(([entity, said]) =>
      said.split(' ').map((row) => {
        const [day, p, by] = row.split(':')
        const ppm = p === 'none' ? null : Math.round(Number(p) * 1e6)
        return { entity, question, at_ms: Math.round(Number(day) * DAY_MS), ppm, witnessed: by !== 'file' }
      }),
    ),
  )
  const ids = [...new Set(forecasts.map(({ entity }) => entity))]
  const world: PlainWorld = {
    as_of_ms: 20 * DAY_MS,
    entities: ids.map((id) => ({
      id,
      kind: AGENTS.includes(id) ? 'agent' : 'forecaster',
      owner: OWNERS[id] ?? null,
      registered_at_ms: AGENTS.indexOf(id),
    })),
    questions: Object.keys(questions).map((id) => ({
      id,
      category: null,
      event_id: id,
      opened_at_ms: 0,
      closes_at_ms: 10 * DAY_MS,
      resolved_at_ms: 10 * DAY_MS,
      outcome: 1,
    })),
    forecasts: forecasts.map((row, i) => ({ ...row, forecast_id: String(i).padStart(4, '0') })),
  }
  return scoreWorldPlainly(world)
}

const crowd = (count: number, said: Said): Record<string, Said> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i + 1}`, said]))

describe('a withdrawal', () => {
  test('ends a forecast, and the next one is an update across it', () => {
    const { pairs } = scored({
      q: { f: '0:0.8 4:none 6:0.4', g: '0:0.5' },
    })
    // f says 0.8 on [0, 4) and 0.4 on [6, 10), g 0.5 on [0, 10).
    // B = (4·0.04 + 4·0.36)/10, B′ = (4·0.64 + 4·0.16)/10, Y = K = Y′ = K′ = 8·0.25/10; held 8 days, so that
    // `brier` = 10/8·B. The conviction is (4·0.6 + 4·0.2)/8.
    expect(pairs.get('f|q')).toMatchObject({ held: 8 * DAY_MS, coverage: 0.8, w: 8000, closing: 400_000 })
    expect(pairs.get('f|q')).toMatchObject({ B: 160_000_000, Y: 200_000_000, K: 200_000_000 })
    expect(pairs.get('f|q')).toMatchObject({ "B'": 320_000_000, "Y'": 200_000_000, "K'": 200_000_000 })
    expect(pairs.get('f|q')).toMatchObject({ brier: 0.2, reference_brier: 0.25, conviction: 0.4 })
    expect(pairs.get('f|q')).toMatchObject({ forecasts: 2, updates: 1, moved: 400_000, toward: 0 })
    // g is alone on [4, 6) and compared with itself there: Y = (4·0.04 + 2·0.25 + 4·0.36)/10, and
    // Y′ = (4·0.64 + 2·0.25 + 4·0.16)/10. One voice at a time, so that K = Y.
    expect(pairs.get('g|q')).toMatchObject({ coverage: 1, Y: 210_000_000, K: 210_000_000 })
    expect(pairs.get('g|q')).toMatchObject({ "Y'": 370_000_000, "K'": 370_000_000, voices: 1 })
    // −(ln 0.8 + ln 0.4)/2; 40·(2 + log₂ 0.8 + log₂ 0.4), over ten days; 40·(ln 0.8/0.5 + ln 0.4/0.5), and
    // for g its opposite, because nothing is added while g is alone.
    expect(pairs.get('f|q')!.log_score).toBeCloseTo(0.569717142, 8)
    expect(pairs.get('f|q')!.baseline_score).toBeCloseTo(14.2457524, 6)
    expect(pairs.get('f|q')!.peer_score).toBeCloseTo(9.87440313, 6)
    expect(pairs.get('g|q')!.peer_score).toBeCloseTo(-9.87440313, 6)
  })

  test('before the opening, or in the same millisecond and later by its id, leaves no pair and no voice', () => {
    const { pairs } = scored({
      q: { before: '-2:0.9 -1:none', at: '3:0.9 3:none', after: '3:none 3:0.9' },
    })
    expect([...pairs.keys()]).toEqual(['after|q'])
    expect(pairs.get('after|q')).toMatchObject({ held: 7 * DAY_MS, voices: 0 })
  })

  test('does not change when the first stretch began, which must be by 7.5 of ten days', () => {
    const { pairs } = scored({
      q: {
        ...crowd(5, '0:0.5'),
        inTime: '7.5:0.5',
        late: `${7.5 + 1 / DAY_MS}:0.5`,
        // The first stretch lasts a tenth of a day.
        early: '7:0.5 7.1:none 9:0.5',
        // It lasts 10⁻⁵ of the horizon, a tenth of the least weight.
        blip: '0:0.5 0.0001:none',
        // A stretch begins in the life of the question: here at day 8.
        again: '-2:0.5 -1:none 8:0.5',
      },
    })
    const contested = ['f1', 'inTime', 'late', 'early', 'blip', 'again'].filter(
      (entity) => pairs.get(`${entity}|q`)!.contested,
    )
    expect(contested).toEqual(['f1', 'inTime', 'early', 'blip'])
    expect(pairs.get('early|q')!.coverage).toBeCloseTo(0.11, 12)
    expect(pairs.get('blip|q')!.w).toBe(1)
    // A pair that is not contested is still a voice: 5 + 5 − 1 others for f1.
    expect(pairs.get('f1|q')!.voices).toBe(9)
  })

  test('until c leaves no closing forecast: calibration goes without, the means do not', () => {
    const { entities } = scored({
      q: { f: '0:0.9 5:none' },
      r: { f: '0:0.3' },
    })
    // Convictions 0.8 and 0.4. The one closing forecast is 0.7 sure and leans the wrong way.
    expect(entities.get('f')).toMatchObject({ n: 2, closing_questions: 1 })
    expect(entities.get('f')).toMatchObject({ conviction: 0.6, conviction_gap: 0.7 })
    expect(entities.get('f')!.metrics).toMatchObject({ updates: 0, responsiveness: null })
    // Σ coverage·brier = 0.5·0.01 + 0.49, Σ coverage = 1.5.
    expect(entities.get('f')!.metrics.brier).toBeCloseTo(0.33, 12)
    expect(entities.get('f')!.metrics.calibration!.brier).toBeCloseTo(0.49, 12)
  })
})

describe('siblings', () => {
  const field: Record<string, Said> = { v: '0:0.9', s: '0:0.7', n: '0:0.6' }

  test('are not measured by the voice of their owner', () => {
    const { voice_rule, pairs, entities } = scored({ q: { ...crowd(5, '0:0.5'), ...field } })
    expect(voice_rule).toBe('recorded')
    // Voices are f1 to f5 (error 0.25) and v (0.01). For s and v the five people alone.
    expect(pairs.get('s|q')).toMatchObject({ voices: 5, B: 90_000_000, Y: 250_000_000, K: 250_000_000 })
    expect(pairs.get('v|q')).toMatchObject({ voices: 5, B: 10_000_000, Y: 250_000_000, K: 250_000_000 })
    // For n all six: Y = (5·0.25 + 0.01)/6, K = ((5·0.5 + 0.9)/6 − 1)², Y′ = (5·0.25 + 0.81)/6.
    expect(pairs.get('n|q')).toMatchObject({ voices: 6, Y: 210_000_000, K: 187_777_778, "Y'": 343_333_333 })
    // For f1 the other four and v: Y = (4·0.25 + 0.01)/5.
    expect(pairs.get('f1|q')).toMatchObject({ voices: 5, Y: 202_000_000 })
    // All weights are 1. The five people have one strength a, and v has b: Z of s is Y/a, of n Y·6/(5a + b).
    const [a, b] = [entities.get('f1')!.strength, entities.get('v')!.strength]
    expect(a).toBeGreaterThan(1)
    expect(b).toBeLessThan(1)
    expect(pairs.get('s|q')!.Z).toBe(Math.round(250_000_000 / a))
    expect(pairs.get('v|q')!.Z).toBe(pairs.get('s|q')!.Z)
    expect(pairs.get('n|q')!.Z).toBe(Math.round((210_000_000 * 6) / (5 * a + b)))
    // The peer score knows no voices: 100·8/7·(ln 0.7 − (5·ln 0.5 + ln 0.9 + ln 0.7 + ln 0.6)/8).
    expect(pairs.get('s|q')!.peer_score).toBeCloseTo(22.6456776, 6)
  })

  test('are measured by each other where everyone is a voice', () => {
    const { voice_rule, pairs } = scored({ q: { ...crowd(4, '0:0.5'), ...field } })
    // Recorded would be f1 to f4 and v, one too few. For s: Y = (4·0.25 + 0.01 + 0.16)/6.
    expect(voice_rule).toBe('everyone')
    expect(pairs.get('s|q')).toMatchObject({ voices: 6, Y: 195_000_000 })
  })

  test('are counted in the order in which their first contested questions were settled', () => {
    const agent = (id: string, owner: string | null) => ({
      id,
      kind: 'agent' as const,
      owner,
      registered_at_ms: 0,
    })
    const agents = [agent('v', 'acme'), agent('s', 'acme'), agent('pending', 'acme'), agent('silent', 'acme')]
    const nobodys = [agent('y', null), agent('x', null)]
    const firstSettledMs = new Map([
      ['v', 20],
      ['s', 10],
      ['x', 5],
      ['y', 5],
    ])
    expect([
      ...attemptsOf([...agents, ...nobodys], new Set(['v', 's', 'pending', 'x', 'y']), firstSettledMs),
    ]).toEqual([
      ['v', { owner_agents: 3, attempt: 2 }],
      ['s', { owner_agents: 3, attempt: 1 }],
      ['pending', { owner_agents: 3, attempt: null }],
      ['silent', { owner_agents: 3, attempt: null }],
      ['y', { owner_agents: 2, attempt: 2 }],
      ['x', { owner_agents: 2, attempt: 1 }],
    ])
  })
})

test('a pair is witnessed if all its rows before c are, withdrawals too; rows of files of agents are refused', () => {
  const { pairs, entities } = scored({
    q: { f: '0:0.6 10:0.7:file', n: '0:0.6 5:0.9:file' },
    r: { f: '0:0.6 5:0.7:file', n: '0:0.6:file' },
    s: { f: '0:0.6 5:none:file' },
  })
  const witnessed = ['q', 'r', 's'].filter((question) => pairs.get(`f|${question}`)!.witnessed)
  expect(witnessed).toEqual(['q'])
  expect(entities.get('f')!.witnessed_share).toBe(0.333333)
  expect(pairs.get('n|q')).toMatchObject({ closing: 600_000, witnessed: true })
  expect(pairs.has('n|r')).toBe(false)
})

describe('sixty questions of a field of people', () => {
  const sixty = (field: Record<string, Said>) =>
    scored(Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`q${i}`, field])))

  test('that is always wrong: whoever is right stops at a strength of 0.05', () => {
    const { pools, entities } = sixty({ ...crowd(6, '0:0'), n: '0:1' })
    // (0 + 2.5)/(60 + 2.5) = 0.04
    expect(pools.get('f1')).toMatchObject({ size: 7, scale: 1 })
    expect(entities.get('n')).toMatchObject({ strength: 0.05, evidence: 24 })
  })

  test('that is always right: nobody has a reference, and whoever is wrong stops at 10', () => {
    const { pools, entities } = sixty({ ...crowd(6, '0:1'), n: '0:0' })
    // (60 + 2.5)/(0 + 2.5) = 25
    expect(pools.get('f1')!.scale).toBe(1)
    expect(entities.get('n')).toMatchObject({ strength: 10, evidence: 0, skill: -24 })
  })

  test('of whom the median is perfect: the scale is 0, and nobody is above it', () => {
    const { pools, entities } = sixty({ ...crowd(6, '0:1'), g: '0:0.5' })
    expect(pools.get('f1')!.scale).toBe(0)
    // Z is 0: −60·0.25/2.5.
    expect(entities.get('f1')).toMatchObject({ skill: 0, rank: 1 })
    expect(entities.get('g')).toMatchObject({ skill: -6, rank: 7 })
  })
})
