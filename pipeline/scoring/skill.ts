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

export interface Skill {
  skill: number | null
  interval: Interval | null
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

/** Numbers of an entity's contested pairs, in whole 1e-9, with the cluster of each as 0, 1, 2, … */
export interface ClusteredErrors {
  own: Float64Array
  cluster: Int32Array
  clusters: number
}

/**
 * The sums that a skill is made of, over pairs and over the clusters g, with X = reference − own error and Z
 * = reference, in 1e-9.
 */
export interface SkillSums {
  gain: number
  reference: number
  clusters: number
  /** Σ X_g², Σ X_g·Z_g and Σ Z_g², each the double nearest to the whole number. */
  gainSquares: number
  gainTimesReference: number
  referenceSquares: number
}

/**
 * The skill ΣX/(ΣZ + κ), and its interval of ± h·SE, where SE² = G/(G−1) · Σ(X_g − skill·Z_g)² / (ΣZ + κ)²
 * over the clusters g; null with one cluster.
 */
export function skillOf(
  methodology: Methodology,
  { gain, reference, clusters, gainSquares, gainTimesReference, referenceSquares }: SkillSums,
  alpha: number,
): { skill: number; interval: Interval | null } {
  const denominator = reference + shrinkageNano(methodology)
  const skill = gain / denominator
  if (clusters < 2) return { skill, interval: null }
  const residuals = gainSquares - 2 * skill * gainTimesReference + skill * skill * referenceSquares
  const error = Math.sqrt((clusters / (clusters - 1)) * Math.max(0, residuals)) / denominator
  const margin = multiplier(methodology, clusters, alpha) * error
  return { skill, interval: { lower: skill - margin, upper: skill + margin, level: 1 - alpha } }
}

/** The skill of an entity against a reference of each of its contested pairs. Null without a pair. */
export function skillAgainst(
  methodology: Methodology,
  { own, cluster, clusters }: ClusteredErrors,
  reference: Float64Array,
  alpha: number,
): Skill {
  if (own.length === 0) return { skill: null, interval: null }
  const gain = reference.map((z, row) => z - own[row]!)
  const gains = new Float64Array(clusters)
  const references = new Float64Array(clusters)
  cluster.forEach((number, row) => {
    gains[number]! += gain[row]!
    references[number]! += reference[row]!
  })
  const sums = {
    gain: exactSum(gain),
    reference: exactSum(reference),
    clusters,
    gainSquares: exactProductSum(gains, gains),
    gainTimesReference: exactProductSum(gains, references),
    referenceSquares: exactProductSum(references, references),
  }
  return skillOf(methodology, sums, alpha)
}
