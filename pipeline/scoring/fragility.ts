// Counts the outcomes that a shown skill hangs on (METHODOLOGY §3, Fragility).
import { wholeProductSum } from './exact-sum.ts'
import { lackOfSkill } from './lack-of-skill.ts'
import type { Methodology } from './methodology.ts'
import type { ContestedPairs } from './pairs.ts'
import { rounded } from './round.ts'
import {
  type ClusterSums,
  type ClusteredErrors,
  type Interval,
  type References,
  type Skill,
  clusterSumsOf,
  intervalOf,
  skillOf,
} from './skill.ts'

/** The skill of a record against the standard references, and against the strict ones. */
interface Shown {
  skill: Skill
  strict: Skill
}

/**
 * How many contested questions have to end otherwise until the record shows no skill above 0, as
 * `lackOfSkill` decides it from published numbers. One question after another is turned, the greatest loss
 * X − X′ first, of equal ones the one that was settled first. X is the strict reference less the own error,
 * X′ the same with the other outcome: where the standard reference is higher, the strict interval gives way
 * first. Questions without a loss are never turned.
 *
 * A whole number from 1 on; the higher it is, the sturdier the record. Null if the record shows no skill
 * above 0 to begin with, or still does after all losses. It is exact, because all sums are whole numbers.
 *
 * The order by losses is simple and not always the best one, so that fewer outcomes may be enough: of 698
 * simulated records of 30 to 40 questions that 4 turned ones or fewer bring down, 59 had a set that was
 * smaller by one, and 1 by two (test/scoring/fragility.test.ts). The number is about this record's sums
 * alone. A turned question changes the errors of the entity and of the others on it; forecasts, times,
 * strengths, clusters, the level and percentiles stay. It does not say how likely the other outcomes were.
 */
export function fragilityOf(
  methodology: Methodology,
  pairs: ContestedPairs,
  alpha: number,
  shown: Shown,
): number | null {
  const shows = ({ skill, strict }: Shown): boolean => {
    const grounds = {
      clusters: pairs.clusters,
      evidence: rounded(skill.evidence),
      skill_interval: publishedForm(intervalOf(methodology, skill, alpha)),
      strict_skill_interval: publishedForm(intervalOf(methodology, strict, alpha)),
    }
    return lackOfSkill(methodology, grounds) === undefined
  }
  if (!shows(shown)) return null
  const standard = new TurnedSums(pairs, pairs.standard)
  const strict = new TurnedSums(pairs, pairs.strict)
  const rows = rowsByLoss(pairs, pairs.strict)
  for (const [before, row] of rows.entries()) {
    standard.turn(row)
    strict.turn(row)
    if (!shows({ skill: standard.skill(methodology), strict: strict.skill(methodology) })) return before + 1
  }
  return null
}

function publishedForm(interval: Interval | null): Interval | null {
  return interval && { ...interval, lower: rounded(interval.lower), upper: rounded(interval.upper) }
}

/** The rows with a loss, the greatest first. */
function rowsByLoss({ own, ownOther }: ClusteredErrors, { reference, other }: References): Int32Array {
  const losses = reference.map((z, row) => z - own[row]! - (other[row]! - ownOther[row]!))
  const rows = Int32Array.from(losses.keys()).filter((row) => losses[row]! > 0)
  return rows.sort((a, b) => losses[b]! - losses[a]! || a - b)
}

/**
 * The sums of a skill while one question after another ends otherwise. Each changes by what the cluster of
 * the question changes: with 10,000 contested questions, of which 923 are turned, that takes 5 ms instead of
 * 1 s (`node bench/fragility.ts`).
 */
class TurnedSums {
  readonly #pairs: ClusteredErrors
  readonly #against: References
  readonly #clusters: ClusterSums
  /** A spread stays as it is where X and X′ change places. */
  readonly #spreadSquares: number
  #gain = 0n
  #reference = 0n
  #gainSquares: bigint
  #gainTimesReference: bigint
  #referenceSquares: bigint

  constructor(pairs: ClusteredErrors, against: References) {
    this.#pairs = pairs
    this.#against = against
    this.#clusters = clusterSumsOf(pairs, against)
    const { gains, references, spreads } = this.#clusters
    for (const gain of gains) this.#gain += BigInt(gain)
    for (const reference of references) this.#reference += BigInt(reference)
    this.#gainSquares = wholeProductSum(gains, gains)
    this.#gainTimesReference = wholeProductSum(gains, references)
    this.#referenceSquares = wholeProductSum(references, references)
    this.#spreadSquares = Number(wholeProductSum(spreads, spreads))
  }

  /** Lets a question end otherwise, once. */
  turn(row: number): void {
    const { own, ownOther, cluster } = this.#pairs
    const { reference, other } = this.#against
    const { gains, references } = this.#clusters
    const g = cluster[row]!
    const [x, z] = [BigInt(gains[g]!), BigInt(references[g]!)]
    references[g]! += other[row]! - reference[row]!
    gains[g]! += other[row]! - ownOther[row]! - (reference[row]! - own[row]!)
    const [turnedX, turnedZ] = [BigInt(gains[g]!), BigInt(references[g]!)]
    this.#gain += turnedX - x
    this.#reference += turnedZ - z
    this.#gainSquares += turnedX * turnedX - x * x
    this.#gainTimesReference += turnedX * turnedZ - x * z
    this.#referenceSquares += turnedZ * turnedZ - z * z
  }

  skill(methodology: Methodology): Skill {
    return skillOf(methodology, {
      gain: Number(this.#gain),
      reference: Number(this.#reference),
      clusters: this.#pairs.clusters,
      gainSquares: Number(this.#gainSquares),
      gainTimesReference: Number(this.#gainTimesReference),
      referenceSquares: Number(this.#referenceSquares),
      spreadSquares: this.#spreadSquares,
    })
  }
}
