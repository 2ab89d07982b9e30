// The pairs of one judged entity, and running sums over them from which its intervals are known roughly.
import { Rows } from '../../pipeline/engine/rows.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { type PAIR_COLUMNS, SCORED_COLUMNS } from '../../pipeline/scoring/pairs.ts'
import { multiplier, skillOf, spreadOf } from '../../pipeline/scoring/skill.ts'
import { nanoOf } from '../../pipeline/scoring/strength.ts'
import type { Block } from '../../schemas/columns.ts'
import { PAIR_METRICS, type PairMetricName } from '../../schemas/metrics.ts'

/** A third of the evidence that is needed may be missing before the strengths are fitted. */
const EVIDENT = 2 / 3

const METRICS = Object.keys(PAIR_METRICS) as PairMetricName[]

/** Gives the standard reference of a part of a pair of a question. */
export type Standard = (question: number, part: number, ownWeight: number) => number

/** The sums of a skill, in doubles, as pairs are added. */
class RoughSkill {
  readonly #gains: number[] = []
  readonly #references: number[] = []
  readonly #spreads: number[] = []
  readonly #sums = {
    gain: 0,
    reference: 0,
    gainSquares: 0,
    gainTimesReference: 0,
    referenceSquares: 0,
    spreadSquares: 0,
  }

  add(cluster: number, z: number, own: number, zOther: number, ownOther: number): void {
    const oldX = this.#gains[cluster] ?? 0
    const oldZ = this.#references[cluster] ?? 0
    const oldF = this.#spreads[cluster] ?? 0
    const x = oldX + z - own
    const newZ = oldZ + z
    const f = oldF + spreadOf(z - own, zOther - ownOther)
    this.#gains[cluster] = x
    this.#references[cluster] = newZ
    this.#spreads[cluster] = f
    const sums = this.#sums
    sums.gain += z - own
    sums.reference += z
    sums.gainSquares += x * x - oldX * oldX
    sums.gainTimesReference += x * newZ - oldX * oldZ
    sums.referenceSquares += newZ * newZ - oldZ * oldZ
    sums.spreadSquares += f * f - oldF * oldF
  }

  /** Whether its interval lies above 0, if this many standard errors are forgiven. */
  isAbove(alpha: number, slack: number): boolean {
    const clusters = this.#gains.length
    if (clusters < METHODOLOGY.parameters.certified_clusters) return false
    const { skill, standardError, evidence } = skillOf(METHODOLOGY, { ...this.#sums, clusters })
    return (
      evidence > EVIDENT * METHODOLOGY.parameters.least_evidence &&
      skill > (multiplier(METHODOLOGY, clusters, alpha) - slack) * standardError!
    )
  }
}

export class Record {
  readonly pairs = new Rows(SCORED_COLUMNS)
  readonly #questions: number[] = []
  readonly #clusters = new Map<number, number>()
  #contested = 0
  #standard = new RoughSkill()
  #strict = new RoughSkill()
  #crowd = new RoughSkill()

  /** Takes over a pair that the sweep has written, with the standard reference of the last fit. */
  add(
    { columns }: Pick<Block<typeof PAIR_COLUMNS>, 'columns'>,
    row: number,
    question: { outcome: 0 | 1; cluster: number; isSettled: boolean },
    standard: Standard | undefined,
  ): void {
    const { columns: kept, row: at } = this.pairs
    for (const name of METRICS) kept[name][at] = columns[name][row]!
    kept.entity[at] = columns.entity[row]!
    kept.outcome[at] = question.outcome
    kept.settled[at] = question.isSettled ? 1 : 0
    kept.cluster[at] = question.cluster
    kept.standard[at] = standard === undefined ? -1 : 0
    kept.standard_other[at] = -1
    this.#questions.push(columns.question[row]!)
    if (standard !== undefined) this.#refer(at, standard)
    this.pairs.next()
  }

  /** The standard references and all sums from the beginning, after strengths have changed. */
  restart(standard: Standard): void {
    this.#contested = 0
    this.#standard = new RoughSkill()
    this.#strict = new RoughSkill()
    this.#crowd = new RoughSkill()
    for (let row = 0; row < this.pairs.rowCount; row++) {
      if (this.pairs.columns.standard[row] !== -1) this.#refer(row, standard)
    }
  }

  #refer(row: number, standard: Standard): void {
    const { columns } = this.pairs
    const cluster = columns.cluster[row]!
    if (!this.#clusters.has(cluster)) this.#clusters.set(cluster, this.#clusters.size)
    const number = this.#clusters.get(cluster)!
    const question = this.#questions[row]!
    const ownWeight = columns.own_weight[row]!
    const own = nanoOf(columns.brier_part[row]!)
    const ownOther = nanoOf(columns.brier_other[row]!)
    const y = nanoOf(columns.reference_part[row]!)
    const yOther = nanoOf(columns.reference_other[row]!)
    const z = standard(question, y, ownWeight)
    const zOther = standard(question, yOther, ownWeight)
    columns.standard[row] = z
    columns.standard_other[row] = zOther
    this.#contested += 1
    this.#standard.add(number, z, own, zOther, ownOther)
    this.#strict.add(number, Math.min(z, y), own, Math.min(zOther, yOther), ownOther)
    this.#crowd.add(
      number,
      nanoOf(columns.crowd_part[row]!),
      own,
      nanoOf(columns.crowd_other[row]!),
      ownOther,
    )
  }

  /**
   * Whether a release of today may give a certificate, or that of an expert. `slack` is how far, in standard
   * errors, the strengths may have moved the lower end of an interval since the last fit.
   */
  isNear(alpha: number, wanted: 'certified' | 'expert', slack: number): boolean {
    const { certified_questions, expert_questions } = METHODOLOGY.parameters
    return (
      this.#contested >= (wanted === 'expert' ? expert_questions : certified_questions) &&
      this.#standard.isAbove(alpha, slack) &&
      this.#strict.isAbove(alpha, slack) &&
      (wanted === 'certified' || this.#crowd.isAbove(alpha, slack))
    )
  }
}
