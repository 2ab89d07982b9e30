// The pairs of one judged entity, and running sums over them from which it is known after each question
// whether a release of that day would certify it.
import { Rows } from '../../pipeline/engine/rows.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { JOINTS, type PAIR_COLUMNS, SCORED_COLUMNS } from '../../pipeline/scoring/pairs.ts'
import { multiplier, shrinkageNano, spreadOf } from '../../pipeline/scoring/skill.ts'
import type { Block } from '../../schemas/columns.ts'
import { PAIR_METRICS, type PairMetricName } from '../../schemas/metrics.ts'

const METRICS = Object.keys(PAIR_METRICS) as PairMetricName[]
const { parameters } = METHODOLOGY

/** The rounding that the running sums may have lost. */
const SLACK = 1e-6

/** The sum of the squares of groups' sums, as numbers are added to the groups. */
class Squares {
  readonly #sums = new Map<number, number>()
  total = 0

  add(group: number, value: number): void {
    const before = this.#sums.get(group) ?? 0
    this.#sums.set(group, before + value)
    this.total += value * (2 * before + value)
  }

  get groups(): number {
    return this.#sums.size
  }
}

/** The sums of a skill over lone questions, as they are added. */
class RunningSkill {
  #gain = 0
  #reference = 0
  #spreads = 0
  readonly #byCluster = new Squares()
  readonly #byWeek = new Squares()
  readonly #lostByCluster = new Squares()
  readonly #lostByWeek = new Squares()

  add(cluster: number, week: number, gain: number, gainIfOther: number, reference: number): void {
    this.#gain += gain
    this.#reference += reference
    this.#byCluster.add(cluster, gain)
    this.#byWeek.add(week, gain)
    const spread = spreadOf(gain, gainIfOther)
    const [least, most] = gain < gainIfOther ? [gain, gainIfOther] : [gainIfOther, gain]
    if (most <= 0 || -least <= parameters.one_sided_ratio * most) this.#spreads += spread * spread
    else {
      this.#lostByCluster.add(cluster, spread)
      this.#lostByWeek.add(week, spread)
    }
  }

  /** Whether it is large enough, and its interval above 0. */
  isShown(alpha: number): boolean {
    const below = this.#reference + shrinkageNano(METHODOLOGY)
    const skill = this.#gain / below
    const otherwise = this.#spreads + Math.max(this.#lostByCluster.total, this.#lostByWeek.total)
    const error = Math.sqrt(Math.max(this.#byCluster.total, this.#byWeek.total, otherwise)) / below
    const { groups } = this.#byCluster
    return (
      groups > 1 &&
      this.#reference / shrinkageNano(METHODOLOGY) > parameters.least_evidence - SLACK &&
      skill > parameters.least_skill - SLACK &&
      skill > multiplier(METHODOLOGY, groups, alpha) * error - SLACK
    )
  }
}

export class Record {
  readonly pairs = new Rows(SCORED_COLUMNS)
  #contested = 0
  readonly #average = new RunningSkill()
  readonly #median = new RunningSkill()

  /** Takes over a pair that the sweep has written. */
  add(
    { columns }: Pick<Block<typeof PAIR_COLUMNS>, 'columns'>,
    row: number,
    question: { number: number; outcome: 0 | 1; cluster: number; week: number; isSettled: boolean },
  ): void {
    const { columns: kept, row: at } = this.pairs
    for (const name of METRICS) kept[name][at] = columns[name][row]!
    kept.entity[at] = columns.entity[row]!
    kept.outcome[at] = question.outcome
    kept.settled[at] = question.isSettled ? 1 : 0
    kept.settled_ms[at] = question.number
    kept.unit[at] = question.number
    kept.cluster[at] = question.cluster
    kept.week[at] = question.week
    kept.category[at] = -1
    kept.joint[at] = JOINTS.lone
    kept.unit_questions[at] = 1
    this.pairs.next()
    if (!question.isSettled || columns.judged[row] !== 1) return
    this.#contested += 1
    for (const [skill, yardstick] of [
      [this.#average, 'average'] as const,
      [this.#median, 'median'] as const,
    ]) {
      const reference = columns[`${yardstick}_brier`][row]!
      skill.add(
        question.cluster,
        question.week,
        reference - columns.judged_brier[row]!,
        columns[`${yardstick}_brier_if_other`][row]! - columns.judged_brier_if_other[row]!,
        reference,
      )
    }
  }

  /** Whether a release of today may certify it. */
  isNear(alpha: number): boolean {
    return (
      this.#contested >= parameters.certified_questions &&
      this.#average.isShown(alpha) &&
      this.#median.isShown(alpha)
    )
  }
}
