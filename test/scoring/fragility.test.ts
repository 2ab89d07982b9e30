// How many outcomes a shown skill hangs on: by hand, against the plain scorer, and against every smaller set.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sfc32 } from '../../jobs/simulation/random.ts'
import { fragilityOf } from '../../pipeline/scoring/fragility.ts'
import { isAboveZero } from '../../pipeline/scoring/lack-of-skill.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import type { ContestedPairs } from '../../pipeline/scoring/pairs.ts'
import { rounded } from '../../pipeline/scoring/round.ts'
import { intervalOf, skillAgainst, spreadOf } from '../../pipeline/scoring/skill.ts'
import { fragilityPlainly, inOrderOfLoss, provesSkill, turn } from '../support/plain/fragility.ts'
import type { Gain, Gains } from '../support/plain/gains.ts'
import { randomRecord } from '../support/worlds/random-record.ts'

const ALPHA = 0.05

function fragility(pairs: ContestedPairs): number | null {
  const skill = skillAgainst(METHODOLOGY, pairs, pairs.standard)
  const strict = skillAgainst(METHODOLOGY, pairs, pairs.strict)
  return fragilityOf(METHODOLOGY, pairs, ALPHA, { skill, strict })
}

/** A question of a cluster of its own: the errors of the entity and of the others, with either outcome. */
interface Question {
  own: number
  others: number
  ownOther: number
  othersOther: number
}

function recordOf(questions: readonly Question[]): ContestedPairs {
  const nano = (name: keyof Question) =>
    Float64Array.from(questions, (question) => Math.round(question[name] * 1e9))
  const references = { reference: nano('others'), other: nano('othersOther') }
  return {
    own: nano('own'),
    ownOther: nano('ownOther'),
    standard: references,
    strict: references,
    crowd: references,
    cluster: Int32Array.from(questions.keys()),
    clusters: questions.length,
    coverage: 1,
  }
}

const times = (count: number, question: Question) => Array.from({ length: count }, () => question)
/** Gains 0.2, and would have lost 0.2. */
const even = { own: 0.05, others: 0.25, ownOther: 0.45, othersOther: 0.25 }

describe('by hand', () => {
  test('60 gains of 0.2 that could have been −0.2: 0.2 · (60 − 2k) is no more than h · √(60 · 0.2²) = 3.1364 · 1.5492 = 4.859 from k = 18 on', () => {
    expect(fragility(recordOf(times(60, even)))).toBe(18)
  })

  test('ten that could have been −0.7 come first: 12 − 0.9k is above h · √(2.4 + 0.45k) = 3.1364 · 2.1564 = 6.763 for k = 5, and not above 7.083 for k = 6', () => {
    const great = { ...even, ownOther: 0.95 }
    expect(fragility(recordOf([...times(50, even), ...times(10, great)]))).toBe(6)
  })

  test('evidence can give way before the intervals: (30 · 0.25 − 0.2k) / 2.5 is 1 for k = 25 and 0.92 for k = 26', () => {
    const heavy = { own: 0.05, others: 0.25, ownOther: 0, othersOther: 0.05 }
    expect(fragility(recordOf(times(30, heavy)))).toBe(26)
  })

  test('what would gain as much or more with the other outcome is never turned, and a skill that is left then has none', () => {
    const sure = { own: 0.05, others: 0.25, ownOther: 0.05, othersOther: 0.25 }
    expect(fragility(recordOf(times(60, sure)))).toBeNull()
    const less = { ...sure, othersOther: 0.24 }
    expect(fragility(recordOf([...times(60, sure), ...times(3, less)]))).toBeNull()
  })

  test('a record that shows no skill has none', () => {
    expect(fragility(recordOf([]))).toBeNull()
    expect(fragility(recordOf(times(24, even)))).toBeNull()
    expect(fragility(recordOf(times(60, { ...even, own: 0.25, ownOther: 0.25 })))).toBeNull()
  })
})

function gainsOf({
  own,
  ownOther,
  cluster,
  ...against
}: ContestedPairs): Pick<Gains, 'standard' | 'strict'>[] {
  return Array.from(own, (error, row) => {
    const over = ({ reference, other }: ContestedPairs['standard']): Gain => {
      const [gain, otherGain] = [reference[row]! - error, other[row]! - ownOther[row]!]
      return {
        cluster: String(cluster[row]),
        reference: BigInt(reference[row]!),
        otherReference: BigInt(other[row]!),
        gain: BigInt(gain),
        otherGain: BigInt(otherGain),
        spread: BigInt(spreadOf(gain, otherGain)),
      }
    }
    return { standard: over(against.standard), strict: over(against.strict) }
  })
}

const seed = fc.nat(2 ** 31 - 1)
const shape = fc
  .record({
    questions: fc.integer({ min: 24, max: 150 }),
    clustered: fc.constantFrom(1, 0.5, 0.25),
    error: fc.constantFrom(0, 0.1, 0.5),
    othersError: fc.constantFrom(0.8, 1.5, 3),
    raised: fc.constantFrom(0.8, 1, 1.3),
  })
  .map(({ clustered, ...rest }) => ({ ...rest, clusters: Math.ceil(rest.questions * clustered) }))

test('agrees with the plain scorer: as many turned questions take the skill away, and one fewer does not', () => {
  let several = 0
  fc.assert(
    fc.property(seed, shape, (from, given) => {
      const pairs = randomRecord(sfc32(from), given)
      const record = gainsOf(pairs)
      const count = fragility(pairs)
      expect(count).toBe(fragilityPlainly(record, ALPHA))
      if (count === null) return
      if (count > 1) several += 1
      const losers = inOrderOfLoss(record)
      const proves = (turned: number) => {
        const otherwise = new Set(losers.slice(0, turned))
        return provesSkill(
          record.map((pair) => (otherwise.has(pair) ? turn(pair) : pair)),
          ALPHA,
        )
      }
      expect([proves(count - 1), proves(count)]).toEqual([true, false])
    }),
    { numRuns: 300, seed: 20261127 },
  )
  expect(several).toBeGreaterThan(50)
})

/** Whether the skill is gone once these rows have ended otherwise; all sums anew. */
function fallsWith(
  { own, ownOther, standard, strict, ...pairs }: ContestedPairs,
  rows: readonly number[],
): boolean {
  const swapped = (to: Float64Array, from: Float64Array) => {
    const values = to.slice()
    for (const row of rows) values[row] = from[row]!
    return values
  }
  const errors = { ...pairs, own: swapped(own, ownOther), ownOther: swapped(ownOther, own) }
  const [skill, strictly] = [standard, strict].map(({ reference, other }) =>
    skillAgainst(METHODOLOGY, errors, {
      reference: swapped(reference, other),
      other: swapped(other, reference),
    }),
  )
  const isAbove = (given: typeof skill) => {
    const interval = intervalOf(METHODOLOGY, given!, ALPHA)
    return isAboveZero(interval && { ...interval, lower: rounded(interval.lower) })
  }
  return (
    rounded(skill!.evidence) < METHODOLOGY.parameters.least_evidence || !isAbove(skill) || !isAbove(strictly)
  )
}

function isEnough(pairs: ContestedPairs, count: number, rows: readonly number[] = []): boolean {
  if (count === 0) return fallsWith(pairs, rows)
  for (let row = (rows.at(-1) ?? -1) + 1; row <= pairs.own.length - count; row++) {
    if (isEnough(pairs, count - 1, [...rows, row])) return true
  }
  return false
}

test('is no less than the smallest set of outcomes, and in nine records of ten as small', () => {
  const random = sfc32(20261127)
  const records = { least: 0, one: 0, two: 0, more: 0 }
  for (let drawn = 0; drawn < 3000; drawn++) {
    const questions = 30 + Math.floor(11 * random())
    const pairs = randomRecord(random, {
      questions,
      clusters: random() < 0.5 ? questions : 26,
      error: 0.05,
      othersError: 1.4,
      raised: 0.9 + 0.4 * random(),
    })
    const count = fragility(pairs)
    // More would take minutes.
    if (count === null || count > 4) continue
    let least = 1
    while (least < count && !isEnough(pairs, least)) least += 1
    const name = (['least', 'one', 'two'] as const)[count - least] ?? 'more'
    records[name] += 1
  }
  expect(records).toEqual({ least: 638, one: 59, two: 1, more: 0 })
})
