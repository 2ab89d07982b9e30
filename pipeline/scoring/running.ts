// The skill after each contested question.
import type { Methodology } from './methodology.ts'
import type { Joint } from './pairs.ts'
import { type GroupedGains, alphaOf, firstGains, groupsOf, intervalOf, skillOf } from './skill.ts'

/** The published numbers of one pair that the running skill needs. */
export interface ErrorPair {
  contested: boolean
  judged_brier: number
  judged_brier_if_other: number
  average_brier: number
  average_brier_if_other: number
  unit: string
  cluster: string
  week: string
  joint: Joint
}

export interface RunningPoint {
  /** How many contested questions were settled. */
  questions: number
  skill: number
  /** Null in the first cluster. */
  interval: { lower: number; upper: number } | null
}

/** The most points that a chart has room for. */
const MOST_POINTS = 240

/**
 * Returns the skill and its interval (METHODOLOGY §3) over the first n contested pairs, for every n. If these
 * are too many for a chart, takes n in equal steps, and the `wanted` ones.
 *
 * @param pairs in the order (settled_at, question_id).
 */
export function runningSkill(
  methodology: Methodology,
  pairs: readonly ErrorPair[],
  attempt: number | null,
  wanted: readonly number[] = [],
): RunningPoint[] {
  const gains = gainsOf(pairs.filter(({ contested }) => contested))
  const alpha = alphaOf(methodology, attempt)
  return countsUpTo(gains.gain.length, wanted).map((questions) => {
    const skill = skillOf(methodology, firstGains(gains, questions))
    return { questions, skill: skill.skill!, interval: intervalOf(methodology, skill, alpha) }
  })
}

/** The gains over the others' average. */
function gainsOf(contested: readonly ErrorPair[]): GroupedGains {
  const values = (valueOf: (pair: ErrorPair) => number) => Float64Array.from(contested, valueOf)
  return {
    gain: values((pair) => pair.average_brier - pair.judged_brier),
    gainIfOther: values((pair) => pair.average_brier_if_other - pair.judged_brier_if_other),
    reference: values((pair) => pair.average_brier),
    ...groupsOf(contested),
  }
}

/** Ascending. */
function countsUpTo(total: number, wanted: readonly number[]): number[] {
  const points = Math.min(total, MOST_POINTS)
  const steps = Array.from({ length: points }, (_, index) => Math.ceil(((index + 1) * total) / points))
  const known = wanted.filter((count) => count >= 1 && count <= total)
  return [...new Set([...steps, ...known])].sort((a, b) => a - b)
}
