// How many outcomes have to be different until a record proves no skill (METHODOLOGY §3, Fragility).
import { isProven } from './certification.ts'
import type { Gain, Gains } from './gains.ts'
import { published } from './rounding.ts'
import { intervalAt, publishedInterval, skillPlainly } from './skill.ts'

type Turnable = Pick<Gains, 'standard' | 'strict'>

/** `record` has the contested pairs in the order in which they were settled. */
export function fragilityPlainly(record: readonly Turnable[], alpha: number): number | null {
  const losers = inOrderOfLoss(record)
  if (!provesSkill(record, alpha)) return null
  for (let count = 1; count <= losers.length; count++) {
    const turned = new Set(losers.slice(0, count))
    const otherwise = record.map((pair) => (turned.has(pair) ? turn(pair) : pair))
    if (!provesSkill(otherwise, alpha)) return count
  }
  return null
}

export function provesSkill(record: readonly Turnable[], alpha: number): boolean {
  const skill = skillPlainly(record.map(({ standard }) => standard))
  const strict = skillPlainly(record.map((pair) => pair.strict))
  return isProven({
    clusters: skill.clusters,
    evidence: published(skill.evidence),
    skill_interval: publishedInterval(intervalAt(alpha, skill)),
    strict_skill_interval: publishedInterval(intervalAt(alpha, strict)),
  })
}

/** The pairs with a loss, the greatest first; of equal ones the first. */
export function inOrderOfLoss(record: readonly Turnable[]): Turnable[] {
  return record.filter((pair) => lossOf(pair) > 0n).toSorted((a, b) => Number(lossOf(b) - lossOf(a)))
}

const lossOf = ({ strict }: Turnable): bigint => strict.gain - strict.otherGain

/** The pair with the other outcome. */
export function turn({ standard, strict }: Turnable): Turnable {
  return { standard: turnOver(standard), strict: turnOver(strict) }
}

function turnOver({ reference, otherReference, gain, otherGain, ...same }: Gain): Gain {
  return {
    ...same,
    reference: otherReference,
    otherReference: reference,
    gain: otherGain,
    otherGain: gain,
  }
}
