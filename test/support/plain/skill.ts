// Skill over a reference, its evidence, and its interval over clusters of questions (METHODOLOGY §3, Skill).
import { bigSum, published, roundHalfEven } from './rounding.ts'
import type { Gain } from './gains.ts'
import { KAPPA } from './strength.ts'

export interface PlainInterval {
  lower: number
  upper: number
  level: number
}

/** The three candidates for V. */
export interface PlainVariances {
  around_skill: number
  around_zero: number
  counterfactual: number
}

/** Unrounded. */
export interface PlainSkill {
  /** Null where nothing is contested. */
  skill: number | null
  evidence: number
  clusters: number
  /** SE; null with fewer than two clusters. */
  error: number | null
  /** Empty with fewer than two clusters. */
  variances: PlainVariances | Record<string, never>
}

/** The share of error that the first certificate of an owner's k-th agent may have. */
export function alphaOf(attempt: number | null): number {
  return attempt === null ? 0.05 : 0.1 / (attempt * (attempt + 1))
}

/** h of `clusters` clusters at α: √((1 + 20/G) · ln((G/20 + 1)/α²)), the logarithm rounded to 1e-9. */
export function multiplier(clusters: number, alpha: number): number {
  const logarithm = roundHalfEven(Math.log((clusters / 20 + 1) / (alpha * alpha)) * 1e9) / 1e9
  return Math.sqrt((1 + 20 / clusters) * logarithm)
}

export function skillPlainly(gains: readonly Gain[]): PlainSkill {
  const clusters = [...Map.groupBy(gains, ({ cluster }) => cluster).values()].map((members) => ({
    x: bigSum(members.map(({ gain }) => gain)),
    z: bigSum(members.map(({ reference }) => reference)),
    f: bigSum(members.map(({ spread }) => spread)),
  }))
  const G = clusters.length
  const total = Number(bigSum(clusters.map(({ z }) => z)))
  const nothing = { skill: null, evidence: 0, clusters: 0, error: null, variances: {} }
  if (G === 0) return nothing
  const denominator = total + KAPPA
  const skill = Number(bigSum(clusters.map(({ x }) => x))) / denominator
  const known = { skill, evidence: total / KAPPA, clusters: G }
  if (G < 2) return { ...nothing, ...known }
  const xx = Number(bigSum(clusters.map(({ x }) => x * x)))
  const xz = Number(bigSum(clusters.map(({ x, z }) => x * z)))
  const zz = Number(bigSum(clusters.map(({ z }) => z * z)))
  const variances = {
    around_skill: (G / (G - 1)) * (xx - 2 * skill * xz + skill * skill * zz),
    around_zero: xx,
    counterfactual: Number(bigSum(clusters.map(({ f }) => f * f))),
  }
  const V = Math.max(variances.around_skill, variances.around_zero, variances.counterfactual)
  return { ...known, error: Math.sqrt(V) / denominator, variances }
}

/** skill ± h·SE. */
export function intervalAt(alpha: number, { skill, error, clusters }: PlainSkill): PlainInterval | null {
  if (skill === null || error === null) return null
  const margin = multiplier(clusters, alpha) * error
  return { lower: skill - margin, upper: skill + margin, level: 1 - alpha }
}

export function publishedInterval(interval: PlainInterval | null): PlainInterval | null {
  if (interval === null) return null
  const { lower, upper, level } = interval
  return { lower: published(lower), upper: published(upper), level: published(level) }
}
