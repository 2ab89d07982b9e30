// Records of contested pairs without a world around them, drawn from a seed: an entity that reads questions better than
// the eight others on each.
import { type Random, logistic, normal } from '../../../jobs/simulation/random.ts'
import type { ContestedPairs } from '../../../pipeline/scoring/pairs.ts'

export interface RecordShape {
  questions: number
  /** Each has a question at least. */
  clusters: number
  /** How far the entity and the others misread, in log-odds. */
  error: number
  othersError: number
  /** The standard reference in multiples of what the others got. */
  raised: number
}

const OTHERS = 8
const SPREAD_OF_LOG_ODDS = 1.5
const NANO = 1e9

export function randomRecord(
  random: Random,
  { questions, clusters, error, othersError, raised }: RecordShape,
): ContestedPairs {
  const column = () => new Float64Array(questions)
  const [own, ownOther, others, othersOther] = [column(), column(), column(), column()]
  const cluster = new Int32Array(questions)
  for (let row = 0; row < questions; row++) {
    cluster[row] = row < clusters ? row : Math.floor(random() * clusters)
    const logOdds = SPREAD_OF_LOG_ODDS * normal(random)
    const outcome = random() < logistic(logOdds) ? 1 : 0
    const coverage = 0.5 + random() / 2
    const errors = (misread: number) => {
      const distance = Math.abs(logistic(logOdds + misread * normal(random)) - outcome)
      return [distance ** 2, (1 - distance) ** 2] as const
    }
    const whole = (value: number) => Math.floor(NANO * coverage * value)
    const [now, otherwise] = errors(error)
    own[row] = whole(now)
    ownOther[row] = whole(otherwise)
    const field = Array.from({ length: OTHERS }, () => errors(othersError))
    others[row] = whole(field.reduce((sum, [one]) => sum + one, 0) / OTHERS)
    othersOther[row] = whole(field.reduce((sum, [, one]) => sum + one, 0) / OTHERS)
  }
  const least = (a: Float64Array, b: Float64Array) => a.map((value, row) => Math.min(value, b[row]!))
  const standard = {
    reference: others.map((value) => Math.round(value * raised)),
    other: othersOther.map((value) => Math.round(value * raised)),
  }
  return {
    own,
    ownOther,
    standard,
    strict: { reference: least(standard.reference, others), other: least(standard.other, othersOther) },
    crowd: { reference: others, other: othersOther },
    cluster,
    clusters,
    coverage: null,
  }
}
