// How a skill came about: what it would have been after each contested question, by the references of the
// release.
import type { Methodology } from './methodology.ts'
import { NANO, roundHalfEven } from './round.ts'
import { alphaOf, intervalOf, skillOf } from './skill.ts'

/** The published numbers of an entity on one question that the running skill rests on. */
export interface ErrorPair {
  coverage: number
  brier: number
  /**
   * Coverage times what a middle field would have got, in whole 1e-9; null where the pair is not contested.
   */
  standard_reference: number | null
  /**
   * How far the gain would scatter had the question been able to end otherwise, in whole 1e-9; likewise null.
   */
  spread: number | null
  cluster: string
}

export interface RunningPoint {
  /** How many contested questions were settled. */
  questions: number
  skill: number
  /** Null in the first cluster. */
  interval: { lower: number; upper: number } | null
}

/** More points than a chart has room for are left out. */
const MOST_POINTS = 240

/**
 * The skill and its interval (METHODOLOGY §3) over the first contested pairs, for every number of them, or
 * for some in equal steps and the `wanted` ones. The own error is coverage times the published `brier`, which
 * differs from the integral that the release was scored by in the ninth decimal at most.
 *
 * @param pairs in the order (settled_at, question_id).
 */
export function runningSkill(
  methodology: Methodology,
  pairs: readonly ErrorPair[],
  attempt: number | null,
  wanted: readonly number[] = [],
): RunningPoint[] {
  const contested = pairs.filter(({ standard_reference: reference }) => reference !== null)
  const shown = countsUpTo(contested.length, wanted)
  const alpha = alphaOf(methodology, attempt)
  const sums = new RunningSums()
  return contested.flatMap((pair, index) => {
    sums.add(pair)
    const questions = index + 1
    if (!shown.has(questions)) return []
    const skill = skillOf(methodology, sums.current)
    return { questions, skill: skill.skill, interval: intervalOf(methodology, skill, alpha) }
  })
}

/** Sums of whole numbers to which pairs are added one after another; they may pass 2^53. */
class RunningSums {
  readonly #clusters = new Map<string, { gain: bigint; reference: bigint; spread: bigint }>()
  #gain = 0n
  #reference = 0n
  #gainSquares = 0n
  #products = 0n
  #referenceSquares = 0n
  #spreadSquares = 0n

  add({ coverage, brier, standard_reference, spread: published, cluster: name }: ErrorPair): void {
    const reference = BigInt(standard_reference!)
    const gain = reference - BigInt(roundHalfEven(coverage * brier * NANO))
    const spread = BigInt(published!)
    this.#gain += gain
    this.#reference += reference
    const cluster = this.#clusters.get(name) ?? { gain: 0n, reference: 0n, spread: 0n }
    // (x + d)·(z + e) − x·z
    this.#gainSquares += gain * (2n * cluster.gain + gain)
    this.#products += gain * cluster.reference + reference * (cluster.gain + gain)
    this.#referenceSquares += reference * (2n * cluster.reference + reference)
    this.#spreadSquares += spread * (2n * cluster.spread + spread)
    this.#clusters.set(name, {
      gain: cluster.gain + gain,
      reference: cluster.reference + reference,
      spread: cluster.spread + spread,
    })
  }

  get current() {
    return {
      gain: Number(this.#gain),
      reference: Number(this.#reference),
      clusters: this.#clusters.size,
      gainSquares: Number(this.#gainSquares),
      gainTimesReference: Number(this.#products),
      referenceSquares: Number(this.#referenceSquares),
      spreadSquares: Number(this.#spreadSquares),
    }
  }
}

function countsUpTo(total: number, wanted: readonly number[]): Set<number> {
  const points = Math.min(total, MOST_POINTS)
  const steps = Array.from({ length: points }, (_, index) => Math.ceil(((index + 1) * total) / points))
  return new Set([...steps, ...wanted])
}
