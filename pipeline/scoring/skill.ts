// Skill over a yardstick, its standard error, and an interval that may be looked at after every release
// (METHODOLOGY §3).
import { exactSum, wholeProductSum } from './exact-sum.ts'
import type { Methodology } from './methodology.ts'
import { type Joint, type JudgedPairs, JOINTS, type Yardstick, valuesAt } from './pairs.ts'
import { rounded, roundHalfEven } from './round.ts'
import { NANO } from '../../schemas/values.ts'

/** An interval whose ends are not rounded. */
export interface Interval {
  lower: number
  upper: number
  level: number
}

/**
 * α, the probability that an interval ever misses the truth. The k-th agent of an owner gets 2·α/(k·(k + 1))
 * of α, so that all of them together have the α of a single forecaster. `attempt` is k; null for an entity
 * without one.
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
 * f = ⌊√(max(0, −X·X′))⌉ in whole 1e-9: how far the gain on a question would scatter, where X is the gain and
 * X′ the gain had the question ended otherwise. For an entity without skill π·X + (1 − π)·X′ = 0, so the
 * variance is −X·X′.
 */
export function spreadOf(gain: number, gainIfOther: number): number {
  return roundHalfEven(Math.sqrt(Math.max(0, -gain * gainIfOther)))
}

/** The gains of an entity over a yardstick on some questions, in whole 1e-9. */
export interface Gains {
  gain: Float64Array
  /** X′, had the question ended otherwise. */
  gainIfOther: Float64Array
  /** R, the yardstick's error. */
  reference: Float64Array
}

/** Gains, and the groups by which they are added up. */
export interface GroupedGains extends Gains {
  unit: Grouping
  cluster: Grouping
  week: Grouping
  /** One of `JOINTS` for each question. */
  joint: Int32Array
}

/** The group of each question, as 0, 1, 2, … */
export interface Grouping {
  groups: Int32Array
  count: number
}

export interface Skill {
  /** ΣX/(ΣR + κ); null without a question. */
  skill: number | null
  /** ΣR/κ. */
  evidence: number
  standardError: number
  questions: number
  clusters: number
}

/** Returns the gains over a yardstick on the questions of `rows`. */
export function gainsOver({ columns }: JudgedPairs, rows: Int32Array, yardstick: Yardstick): Gains {
  const own = valuesAt(rows, columns.judged_brier)
  const ownIfOther = valuesAt(rows, columns.judged_brier_if_other)
  const reference = valuesAt(rows, columns[`${yardstick}_brier`])
  const referenceIfOther = valuesAt(rows, columns[`${yardstick}_brier_if_other`])
  return {
    gain: reference.map((error, at) => error - own[at]!),
    gainIfOther: referenceIfOther.map((error, at) => error - ownIfOther[at]!),
    reference,
  }
}

/**
 * Returns a function that gives the skill over a yardstick on the questions of `rows`. All yardsticks share
 * the groups.
 */
export function skillsOn(
  methodology: Methodology,
  pairs: JudgedPairs,
  rows: Int32Array,
): (yardstick: Yardstick) => Skill {
  const { unit, cluster, week, joint } = pairs.columns
  const groups = {
    unit: grouped(rows, unit),
    cluster: grouped(rows, cluster),
    week: grouped(rows, week),
    joint: rows.map((row) => joint[row]!),
  }
  return (yardstick) => skillOf(methodology, { ...gainsOver(pairs, rows, yardstick), ...groups })
}

/** Returns the gains on the first questions. Their groups must have the least numbers. */
export function firstGains(
  { gain, gainIfOther, reference, unit, cluster, week, joint }: GroupedGains,
  length: number,
): GroupedGains {
  const first = ({ groups }: Grouping): Grouping => {
    const own = groups.subarray(0, length)
    return { groups: own, count: own.reduce((count, group) => Math.max(count, group + 1), 0) }
  }
  return {
    gain: gain.subarray(0, length),
    gainIfOther: gainIfOther.subarray(0, length),
    reference: reference.subarray(0, length),
    unit: first(unit),
    cluster: first(cluster),
    week: first(week),
    joint: joint.subarray(0, length),
  }
}

/** Returns the groups of questions, one row each. */
export function groupsOf(
  questions: readonly { unit: string; cluster: string; week: string; joint: Joint }[],
): Omit<GroupedGains, keyof Gains> {
  const rows = Int32Array.from(questions.keys())
  return {
    unit: grouped(
      rows,
      questions.map(({ unit }) => unit),
    ),
    cluster: grouped(
      rows,
      questions.map(({ cluster }) => cluster),
    ),
    week: grouped(
      rows,
      questions.map(({ week }) => week),
    ),
    joint: rows.map((row) => JOINTS[questions[row]!.joint]),
  }
}

/** Numbers the groups of `rows` in the order of their first rows. */
function grouped<Name>(rows: Int32Array, column: ArrayLike<Name>): Grouping {
  const numbers = new Map<Name, number>()
  const groups = rows.map((row) => {
    const name = column[row]!
    const known = numbers.get(name)
    if (known !== undefined) return known
    numbers.set(name, numbers.size)
    return numbers.size - 1
  })
  return { groups, count: numbers.size }
}

/** κ in whole 1e-9. */
export function shrinkageNano({ parameters }: Methodology): number {
  return roundHalfEven(parameters.shrinkage_questions * parameters.shrinkage_brier * NANO)
}

export function skillOf(methodology: Methodology, gains: GroupedGains): Skill {
  return skillWith(methodology, gains, shrinkageNano(methodology))
}

/**
 * Returns the skill with κ = `shrinkage` in 1e-9. SE = √V/(ΣR + κ), where V is the greatest of three
 * variances: of the gains by cluster, Σ X_g²; of the gains by week, Σ X_w²; and of the gains if each question
 * could have ended otherwise.
 */
export function skillWith(methodology: Methodology, gains: GroupedGains, shrinkage: number): Skill {
  const { gain, reference, unit, cluster, week } = gains
  const total = exactSum(reference)
  const variance = Math.max(
    Number(squares(summed(gain, cluster))),
    Number(squares(summed(gain, week))),
    Number(otherwise(methodology, gains)),
  )
  return {
    skill: gain.length === 0 ? null : exactSum(gain) / (total + shrinkage),
    evidence: total / shrinkage,
    standardError: Math.sqrt(variance) / (total + shrinkage),
    questions: unit.count,
    clusters: cluster.count,
  }
}

/**
 * Returns Σ_u f_u² + max(Σ_g a_g², Σ_w a_w²). A lone question has f_u = f. If its gain is one-sided, its f
 * goes into the a of its cluster and week instead, because many small gains against one great loss may be one
 * bet. An ordered event has f_u = Σ f. Of options with at most one yes, f_u² is at most 2·Σ f².
 */
function otherwise({ parameters }: Methodology, gains: GroupedGains): bigint {
  const { gain, gainIfOther, unit, cluster, week, joint } = gains
  const spread = gain.map((x, at) => spreadOf(x, gainIfOther[at]!))
  const isOneSided = (at: number): boolean => {
    const least = Math.min(gain[at]!, gainIfOther[at]!)
    const most = Math.max(gain[at]!, gainIfOther[at]!)
    return joint[at] === JOINTS.lone && most > 0 && -least > parameters.one_sided_ratio * most
  }
  const oneSided = spread.map((f, at) => (isOneSided(at) ? f : 0))
  const lone = spread.map((f, at) => (joint[at] === JOINTS.lone && !isOneSided(at) ? f : 0))
  const exclusive = spread.map((f, at) => (joint[at] === JOINTS.exclusive ? f : 0))
  const ordered = summed(
    spread.map((f, at) => (joint[at] === JOINTS.ordered ? f : 0)),
    unit,
  )
  const [byCluster, byWeek] = [squares(summed(oneSided, cluster)), squares(summed(oneSided, week))]
  return (
    squares(lone) + 2n * squares(exclusive) + squares(ordered) + (byCluster > byWeek ? byCluster : byWeek)
  )
}

function summed(values: Float64Array, { groups, count }: Grouping): Float64Array {
  const sums = new Float64Array(count)
  for (let at = 0; at < values.length; at++) sums[groups[at]!]! += values[at]!
  return sums
}

const squares = (values: Float64Array): bigint => wholeProductSum(values, values)

/** skill ± h·SE at the level 1 − α; null with fewer than two clusters. */
export function intervalOf(
  methodology: Methodology,
  { skill, standardError, clusters }: Skill,
  alpha: number,
): Interval | null {
  if (skill === null || clusters < 2) return null
  const margin = multiplier(methodology, clusters, alpha) * standardError
  return { lower: skill - margin, upper: skill + margin, level: 1 - alpha }
}
