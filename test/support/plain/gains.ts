// The gain of one contested pair over a reference, and how far it would scatter (METHODOLOGY §3, Skill).
import { roundHalfEven } from './rounding.ts'
import type { Standard, WholePair } from './strength.ts'

/** In whole 1e-9. */
export interface Gain {
  cluster: string
  /** The reference's error: Z, min(Z, Y) or K, and the same with the other outcome. */
  reference: bigint
  otherReference: bigint
  /** X and X′. */
  gain: bigint
  otherGain: bigint
  /** f. */
  spread: bigint
}

/** Over the standard reference, over the lesser of that and what the others got, and over the crowd. */
export interface Gains {
  standard: Gain
  strict: Gain
  crowd: Gain
}

export function gainsOf(pair: WholePair, { Z, otherZ }: Standard): Gains {
  const { Y, K, other } = pair
  return {
    standard: gainOver(pair, Z, otherZ),
    strict: gainOver(pair, lesser(Z, Y), lesser(otherZ, other.Y)),
    crowd: gainOver(pair, K, other.K),
  }
}

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)

function gainOver({ cluster, B, other }: WholePair, reference: bigint, otherReference: bigint): Gain {
  const [gain, otherGain] = [reference - B, otherReference - other.B]
  const product = -Number(gain) * Number(otherGain)
  const spread = BigInt(roundHalfEven(Math.sqrt(Math.max(0, product))))
  return { cluster, reference, otherReference, gain, otherGain, spread }
}
