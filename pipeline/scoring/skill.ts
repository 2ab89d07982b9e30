// Skill, its standard error over clusters of questions, and an interval that may be looked at after every
// release (METHODOLOGY §3).
import { exactProductSum, exactSum } from './exact-sum.ts'
import type { Methodology } from './methodology.ts'
import { NANO, rounded, roundHalfEven } from './round.ts'
import { shrinkageNano } from './strength.ts'

/** An interval whose ends are not rounded. */
export interface Interval {
  lower: number
  upper: number
  level: number
}

/**
 * α, the probability that an interval ever leaves out the truth. The α/2 of an owner's agents add up to the α
 * of a single forecaster, however many agents there are: 2·α/(k·(k + 1)) for the k-th. `attempt` is k; null
 * for an entity without one.
 */
export function alphaOf({ parameters }: Methodology, attempt: number | null): number {
  const alpha = rounded(1 - parameters.interval_level)
  return attempt === null ? alpha : (2 * alpha) / (attempt * (attempt + 1))
}

/**
 * h = √((1 + 20/G)·ln((G/20 + 1)/α²)): how many standard errors an interval reaches to each side after G
 * clusters, so that it holds the truth after every G at once with probability 1 − α, asymptotically. The
 * two-sided normal-mixture boundary: Robbins 1970; Waudby-Smith et al. 2024, arXiv:2103.06476.
 */
export function multiplier({ parameters }: Methodology, clusters: number, alpha: number): number {
  const tightest = parameters.interval_questions
  const logarithm = Math.log((clusters / tightest + 1) / (alpha * alpha))
  return Math.sqrt((1 + tightest / clusters) * (roundHalfEven(logarithm * NANO) / NANO))
}

/**
 * f = ⌊√(max(0, −X·X′))⌉ in whole 1e-9: how far the gain X on a question would scatter if the question could
 * have ended otherwise, where it would have been X′. For an entity without skill π·X + (1 − π)·X′ = 0, and
 * the variance is −X·X′.
 */
export function spreadOf(gain: number, gainIfOther: number): number {
  return roundHalfEven(Math.sqrt(Math.max(0, -gain * gainIfOther)))
}

/**
 * The sums that a skill is made of, over pairs and over the clusters g, with the gain X = reference − own
 * error, the reference Z and the spread f, all in 1e-9.
 */
export interface SkillSums {
  gain: number
  reference: number
  clusters: number
  /** Σ X_g², Σ X_g·Z_g, Σ Z_g² and Σ f_g², each the double nearest to the whole number. */
  gainSquares: number
  gainTimesReference: number
  referenceSquares: number
  spreadSquares: number
}

export interface Skill {
  /** ΣX/(ΣZ + κ); null without a pair. */
  skill: number | null
  /** ΣZ/κ. */
  evidence: number
  /** Null with fewer than two clusters. */
  standardError: number | null
  clusters: number
}

/**
 * SE = √V/(ΣZ + κ), where V is the greatest of three: how the gains scattered around this skill,
 * G/(G−1)·Σ(X_g − skill·Z_g)², how they scattered around no skill, ΣX_g², and how they would have scattered
 * had each question been able to end otherwise, Σf_g².
 */
export function skillOf(methodology: Methodology, sums: SkillSums): Skill & { skill: number } {
  return shrunk(sums, shrinkageNano(methodology))
}

/** The same with κ = `shrinkage` in 1e-9. Without any, the skill is the plain ratio ΣX/ΣZ. */
export function shrunk(sums: SkillSums, shrinkage: number): Skill & { skill: number } {
  const { gain, reference, clusters, gainSquares, gainTimesReference, referenceSquares, spreadSquares } = sums
  const denominator = reference + shrinkage
  const skill = gain / denominator
  const evidence = reference / shrinkage
  if (clusters < 2) return { skill, evidence, standardError: null, clusters }
  const residuals = gainSquares - 2 * skill * gainTimesReference + skill * skill * referenceSquares
  const variance = Math.max((clusters / (clusters - 1)) * residuals, gainSquares, spreadSquares)
  return { skill, evidence, standardError: Math.sqrt(variance) / denominator, clusters }
}

/** skill ± h·SE at the level 1 − α; null with fewer than two clusters. */
export function intervalOf(
  methodology: Methodology,
  { skill, standardError, clusters }: Skill,
  alpha: number,
): Interval | null {
  if (skill === null || standardError === null) return null
  const margin = multiplier(methodology, clusters, alpha) * standardError
  return { lower: skill - margin, upper: skill + margin, level: 1 - alpha }
}

/**
 * Errors of an entity on its contested questions, and as they would have been had each ended otherwise, in
 * whole 1e-9; with the cluster of each as 0, 1, 2, …
 */
export interface ClusteredErrors {
  own: Float64Array
  ownOther: Float64Array
  cluster: Int32Array
  clusters: number
}

/** The references of the errors, in the same order. */
export interface References {
  reference: Float64Array
  other: Float64Array
}

/** X_g, Z_g and f_g of each cluster g. */
export interface ClusterSums {
  gains: Float64Array
  references: Float64Array
  spreads: Float64Array
}

export function clusterSumsOf(
  { own, ownOther, cluster, clusters }: ClusteredErrors,
  { reference, other }: References,
): ClusterSums {
  const gains = new Float64Array(clusters)
  const references = new Float64Array(clusters)
  const spreads = new Float64Array(clusters)
  cluster.forEach((number, row) => {
    const gain = reference[row]! - own[row]!
    gains[number]! += gain
    references[number]! += reference[row]!
    spreads[number]! += spreadOf(gain, other[row]! - ownOther[row]!)
  })
  return { gains, references, spreads }
}

/** The skill of an entity against references of its contested pairs. */
export function skillAgainst(methodology: Methodology, errors: ClusteredErrors, against: References): Skill {
  const { own, clusters } = errors
  if (own.length === 0) return { skill: null, evidence: 0, standardError: null, clusters: 0 }
  const { gains, references, spreads } = clusterSumsOf(errors, against)
  return skillOf(methodology, {
    gain: exactSum(against.reference.map((z, row) => z - own[row]!)),
    reference: exactSum(against.reference),
    clusters,
    gainSquares: exactProductSum(gains, gains),
    gainTimesReference: exactProductSum(gains, references),
    referenceSquares: exactProductSum(references, references),
    spreadSquares: exactProductSum(spreads, spreads),
  })
}
