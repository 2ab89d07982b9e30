// How a skill came about: what it would have been after each contested question, by the references of the release.
import type { Methodology } from './methodology.ts'
import { NANO, roundHalfEven } from './round.ts'
import { alphaOf, skillAgainst } from './skill.ts'

/** What a release publishes of an entity on one question, as far as the running skill rests on it. */
export interface ErrorPair {
  coverage: number
  brier: number
  /** Coverage times what a middle field would have got, in whole 1e-9; null where the pair is not contested. */
  standard_reference: number | null
  cluster: string
}

export interface RunningPoint {
  /** How many contested questions had resolved. */
  questions: number
  skill: number
  /** Null in the first cluster. */
  interval: { lower: number; upper: number } | null
}

/** More points than a chart has room for are left out. */
const MOST_POINTS = 240

/**
 * The skill and its interval (METHODOLOGY §3) over the first contested pairs, for every number of them, or for some in equal
 * steps and the `wanted` ones. The own error is coverage times the published `brier`, which differs from the integral that the
 * release was scored by in the ninth decimal at most.
 *
 * @param pairs in the order (resolved_at, question_id).
 */
export function runningSkill(
  methodology: Methodology,
  pairs: readonly ErrorPair[],
  attempt: number | null,
  wanted: readonly number[] = [],
): RunningPoint[] {
  const contested = pairs.filter(({ standard_reference: reference }) => reference !== null)
  const own = Float64Array.from(contested, ({ coverage, brier }) => roundHalfEven(coverage * brier * NANO))
  const standard = Float64Array.from(contested, ({ standard_reference: reference }) => reference!)
  const numbers = new Map<string, number>()
  const clustersAt: number[] = []
  const cluster = Int32Array.from(contested, ({ cluster: name }) => {
    const number = numbers.get(name) ?? numbers.size
    numbers.set(name, number)
    clustersAt.push(numbers.size)
    return number
  })
  const alpha = alphaOf(methodology, attempt)
  return countsUpTo(contested.length, wanted).map((questions) => {
    const errors = {
      own: own.subarray(0, questions),
      cluster: cluster.subarray(0, questions),
      clusters: clustersAt[questions - 1]!,
    }
    const { skill, interval } = skillAgainst(methodology, errors, standard.subarray(0, questions), alpha)
    return { questions, skill: skill!, interval }
  })
}

function countsUpTo(total: number, wanted: readonly number[]): number[] {
  const points = Math.min(total, MOST_POINTS)
  const steps = Array.from({ length: points }, (_, index) => Math.ceil(((index + 1) * total) / points))
  const counts = new Set([...steps, ...wanted.filter((count) => count <= total)])
  return [...counts].sort((a, b) => a - b)
}
