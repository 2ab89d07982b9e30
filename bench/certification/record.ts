// The contested pairs of one judged entity, and running sums over them from which its interval is known
// roughly.
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { type ClusteredErrors, multiplier } from '../../pipeline/scoring/skill.ts'
import { shrinkageNano } from '../../pipeline/scoring/strength.ts'

/** In standard errors. */
const SLACK = 0.75

/** Errors in whole 1e-9. `weight` is 0 for an entity that is no voice. */
export interface JudgedPair {
  question: number
  cluster: number
  weight: number
  own: number
  reference: number
  crowd: number
}

export class Record {
  readonly #pairs: JudgedPair[] = []
  readonly #numbers = new Map<number, number>()
  /** Of each cluster by its number here: the sums of X and of Z, with the strengths of the last fit. */
  #x: number[] = []
  #z: number[] = []
  #sums = { x: 0, z: 0, xx: 0, xz: 0, zz: 0 }

  get length(): number {
    return this.#pairs.length
  }

  get clusters(): number {
    return this.#numbers.size
  }

  add(pair: JudgedPair, standard: number): void {
    if (!this.#numbers.has(pair.cluster)) this.#numbers.set(pair.cluster, this.#numbers.size)
    this.#pairs.push(pair)
    this.#take(pair, standard)
  }

  /** The running sums from the beginning, after strengths have changed. */
  restart(standard: Float64Array): void {
    this.#x = []
    this.#z = []
    this.#sums = { x: 0, z: 0, xx: 0, xz: 0, zz: 0 }
    this.#pairs.forEach((pair, i) => this.#take(pair, standard[i]!))
  }

  #take({ cluster, own }: JudgedPair, z: number): void {
    const number = this.#numbers.get(cluster)!
    const x = z - own
    const [oldX, oldZ] = [this.#x[number] ?? 0, this.#z[number] ?? 0]
    const [newX, newZ] = [oldX + x, oldZ + z]
    this.#x[number] = newX
    this.#z[number] = newZ
    const sums = this.#sums
    sums.x += x
    sums.z += z
    sums.xx += newX * newX - oldX * oldX
    sums.xz += newX * newZ - oldX * oldZ
    sums.zz += newZ * newZ - oldZ * oldZ
  }

  /**
   * Whether the interval of the skill may lie above 0 today. Strengths of the last fit and sums in doubles
   * move its lower end by up to about half a standard error.
   */
  isNear(alpha: number): boolean {
    const { x, z, xx, xz, zz } = this.#sums
    const clusters = this.clusters
    if (clusters < METHODOLOGY.parameters.certified_clusters) return false
    const denominator = z + shrinkageNano(METHODOLOGY)
    const skill = x / denominator
    const residuals = Math.max(0, xx - 2 * skill * xz + skill * skill * zz)
    const error = Math.sqrt((clusters / (clusters - 1)) * residuals) / denominator
    return skill > (multiplier(METHODOLOGY, clusters, alpha) - SLACK) * error
  }

  errors(): ClusteredErrors {
    return {
      own: Float64Array.from(this.#pairs, ({ own }) => own),
      cluster: Int32Array.from(this.#pairs, ({ cluster }) => this.#numbers.get(cluster)!),
      clusters: this.clusters,
    }
  }

  crowd(): Float64Array {
    return Float64Array.from(this.#pairs, ({ crowd }) => crowd)
  }

  standard(of: (question: number, reference: number, weight: number) => number): Float64Array {
    return Float64Array.from(this.#pairs, ({ question, reference, weight }) =>
      of(question, reference, weight),
    )
  }
}
