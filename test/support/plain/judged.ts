// What an entity is judged by on one question: B, K, M and Q, and the same had it ended the other way
// (METHODOLOGY §2), exact until they are rounded.
import { FractionSum, wholeUnits } from './fraction.ts'
import { roundHalfEven, sum } from './rounding.ts'
import type { Asked } from './asked.ts'
import type { Span } from './spans.ts'

export const YARDSTICKS = ['K', 'M', 'Q'] as const
export type Yardstick = (typeof YARDSTICKS)[number]

/** In whole 1e-9. */
export type Errors = Record<'B' | Yardstick, bigint>

/** What stands at an instant, besides who is judged. */
export interface Against {
  /** The probabilities of the others, in ppm. */
  others: readonly number[]
  /** The probabilities of all voices, in ppm. */
  voices: readonly number[]
}

/** A span in which the entity has a forecast standing. */
export interface Held {
  span: Span
  /** In ppm; of the middle of two forecasts perhaps a half. */
  own: number
  against: Against
}

export interface Judged {
  judgedMs: number
  came: Errors
  other: Errors
  /** The greatest number of others at a judged instant. */
  voices: number
  isPriced: boolean
  /** The mean of p − the average of the others; null where never five of them stand. */
  lean: number | null
}

const LEAST_OTHERS = 5

/** Probabilities are summed in halves of a ppm. */
const ONE = 2_000_000

export function judge({ lifeMs, divisor, outcome }: Asked, held: readonly Held[]): Judged {
  const isMeasured = ({ against }: Held) => against.others.length >= LEAST_OTHERS
  const judged = held.filter((one) => one.span.isJudged && (isMeasured(one) || one.span.price !== null))
  const measured = judged.filter(isMeasured)
  const errors = (end: 0 | 1): Errors => {
    const sums = { B: new FractionSum(), K: new FractionSum(), M: new FractionSum(), Q: new FractionSum() }
    const zero = BigInt(end * ONE)
    const half = (ppm: number) => BigInt(2 * ppm) - zero
    for (const one of judged) {
      const { span, own, against } = one
      const add = (to: FractionSum, error: bigint, parts = 1n) =>
        to.add(BigInt(span.spanMs) * error ** 2n, parts ** 2n)
      const average = (): [bigint, bigint] => [
        against.others.map(half).reduce((a, b) => a + b, 0n),
        BigInt(against.others.length),
      ]
      const price = () => half(span.price!)
      add(sums.B, half(own))
      if (isMeasured(one)) {
        add(sums.K, ...average())
        add(sums.M, half(medianOf(against.voices)))
      } else {
        add(sums.K, price())
        add(sums.M, price())
      }
      if (span.price !== null) add(sums.Q, price())
      else add(sums.Q, ...average())
    }
    const nano = (of: FractionSum) => {
      const { over, under } = of.total()
      const pico = wholeUnits(
        { over, under: under * BigInt(lifeMs * divisor) * BigInt(ONE) ** 2n },
        10n ** 12n,
      )
      return wholeUnits({ over: pico, under: 1000n }, 1n)
    }
    return { B: nano(sums.B), K: nano(sums.K), M: nano(sums.M), Q: nano(sums.Q) }
  }
  const leaned = measured.map(({ span, own, against }) => {
    return span.spanMs * (own - sum(against.others) / against.others.length)
  })
  return {
    judgedMs: sum(judged.map(({ span }) => span.spanMs)),
    came: errors(outcome),
    other: errors(outcome === 1 ? 0 : 1),
    voices: Math.max(0, ...judged.map(({ against }) => against.others.length)),
    isPriced: judged.some(({ span }) => span.price !== null),
    lean: measured.length === 0 ? null : sum(leaned) / sum(measured.map(({ span }) => span.spanMs)) / 1e6,
  }
}

/** Of an even number the mean of the two in the middle. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2
}

/** The gain over a yardstick, and how far it would scatter, in whole 1e-9. */
export interface Gain {
  unit: string
  kind: Asked['kind']
  cluster: string
  week: string
  reference: bigint
  /** X. */
  gain: bigint
  /** X′. */
  otherGain: bigint
  /** f. */
  spread: bigint
}

export function gainOver(
  { unit, kind, cluster, week }: Asked,
  { came, other }: Judged,
  over: Yardstick,
): Gain {
  const [gain, otherGain] = [came[over] - came.B, other[over] - other.B]
  const spread = BigInt(roundHalfEven(Math.sqrt(Math.max(0, -Number(gain) * Number(otherGain)))))
  return { unit, kind, cluster, week, reference: came[over], gain, otherGain, spread }
}
