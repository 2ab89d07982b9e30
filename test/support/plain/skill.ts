// Skill over a reference, and its interval over clusters of questions (METHODOLOGY §3, Skill).
import { bigSum, roundHalfEven } from './rounding.ts'
import { KAPPA } from './strength.ts'

/** Of one contested pair, in whole 1e-9: what the entity got and what the reference got. */
export interface Compared {
  cluster: string
  own: bigint
  reference: bigint
}

export interface PlainInterval {
  lower: number
  upper: number
  level: number
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

/** Unrounded. Null without a pair; the interval also with a single cluster. */
export function skillPlainly(
  pairs: readonly Compared[],
  alpha: number,
): { skill: number | null; interval: PlainInterval | null } {
  if (pairs.length === 0) return { skill: null, interval: null }
  const clusters = [...Map.groupBy(pairs, ({ cluster }) => cluster).values()].map((members) => {
    const z = bigSum(members.map(({ reference }) => reference))
    return { x: z - bigSum(members.map(({ own }) => own)), z }
  })
  const G = clusters.length
  const denominator = Number(bigSum(clusters.map(({ z }) => z))) + KAPPA
  const skill = Number(bigSum(clusters.map(({ x }) => x))) / denominator
  if (G < 2) return { skill, interval: null }
  const xx = Number(bigSum(clusters.map(({ x }) => x * x)))
  const xz = Number(bigSum(clusters.map(({ x, z }) => x * z)))
  const zz = Number(bigSum(clusters.map(({ z }) => z * z)))
  const V = Math.max(0, xx - 2 * skill * xz + skill * skill * zz)
  const margin = multiplier(G, alpha) * (Math.sqrt((G / (G - 1)) * V) / denominator)
  return { skill, interval: { lower: skill - margin, upper: skill + margin, level: 1 - alpha } }
}
