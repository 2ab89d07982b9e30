// Skill over a yardstick and its interval (METHODOLOGY §3).
import { bigSum, published, roundHalfEven } from './rounding.ts'
import type { Gain } from './judged.ts'

export interface Interval {
  lower: number
  upper: number
  level: number
}

/** The candidates for V. */
export interface Variances {
  by_cluster: number
  by_week: number
  counterfactual: number
}

/** Unrounded. */
export interface Skill {
  /** Null where nothing is contested. */
  skill: number | null
  /** Σ R/κ. */
  evidence: number
  clusters: number
  units: number
  /** SE. */
  error: number
  /** Null with fewer than two clusters. */
  variances: Variances | null
}

/** κ in 1e-9. */
const KAPPA = 2_500_000_000

/** α of the k-th agent of an owner; of a forecaster and an agent that tried nothing yet 0.05. */
export function alphaOf(attempt: number | null): number {
  return attempt === null ? 0.05 : 0.1 / (attempt * (attempt + 1))
}

/** h of `clusters` clusters at α. */
export function multiplierOf(clusters: number, alpha: number): number {
  const logarithm = roundHalfEven(Math.log((clusters / 20 + 1) / (alpha * alpha)) * 1e9) / 1e9
  return Math.sqrt((1 + 20 / clusters) * logarithm)
}

export function skillOf(gains: readonly Gain[]): Skill {
  const total = Number(bigSum(gains.map(({ reference }) => reference)))
  const gained = Number(bigSum(gains.map(({ gain }) => gain)))
  const clusters = new Set(gains.map(({ cluster }) => cluster)).size
  const variances = {
    by_cluster: Number(
      squares(
        gains,
        ({ cluster }) => cluster,
        ({ gain }) => gain,
      ),
    ),
    by_week: Number(
      squares(
        gains,
        ({ week }) => week,
        ({ gain }) => gain,
      ),
    ),
    counterfactual: Number(counterfactual(gains)),
  }
  return {
    skill: gains.length === 0 ? null : gained / (total + KAPPA),
    evidence: total / KAPPA,
    clusters,
    units: new Set(gains.map(({ unit }) => unit)).size,
    error: Math.sqrt(Math.max(...Object.values(variances))) / (total + KAPPA),
    variances: clusters < 2 ? null : variances,
  }
}

/** The sum over groups of the squared sum of a value. */
function squares(
  gains: readonly Gain[],
  groupOf: (gain: Gain) => string,
  valueOf: (gain: Gain) => bigint,
): bigint {
  const groups = [...Map.groupBy(gains, groupOf).values()]
  return bigSum(groups.map((members) => bigSum(members.map(valueOf)) ** 2n))
}

/** What the gains would scatter had the outcomes been others. */
function counterfactual(gains: readonly Gain[]): bigint {
  const oneSided = gains.filter(isOneSided)
  const units = Map.groupBy(
    gains.filter((gain) => !isOneSided(gain)),
    ({ unit }) => unit,
  )
  const byUnit = [...units.values()].map((members) => {
    const spreads = members.map(({ spread }) => spread)
    const isOneOrNone = ['exclusive', 'at_most_one'].includes(members[0]!.kind)
    return isOneOrNone ? 2n * bigSum(spreads.map((f) => f ** 2n)) : bigSum(spreads) ** 2n
  })
  const lost = ({ spread }: Gain) => spread
  const [byCluster, byWeek] = [
    squares(oneSided, ({ cluster }) => cluster, lost),
    squares(oneSided, ({ week }) => week, lost),
  ]
  return bigSum(byUnit) + (byCluster > byWeek ? byCluster : byWeek)
}

/** Of a question that is a unit by itself: a small gain against one loss over three times as great, or the reverse. */
function isOneSided({ kind, gain, otherGain }: Gain): boolean {
  const [least, most] = gain < otherGain ? [gain, otherGain] : [otherGain, gain]
  return kind === 'independent' && most > 0n && -least > 3n * most
}

/** skill ± h·SE, as published; null with fewer than two clusters. */
export function intervalOf({ skill, error, clusters }: Skill, alpha: number): Interval | null {
  if (skill === null || clusters < 2) return null
  const margin = multiplierOf(clusters, alpha) * error
  return {
    lower: published(skill - margin),
    upper: published(skill + margin),
    level: published(1 - alpha),
  }
}
