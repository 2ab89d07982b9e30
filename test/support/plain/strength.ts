// The whole numbers of a pair, and the twenty passes over them (METHODOLOGY §3 and §7), a pass as it is
// written there.
import { bigSum, roundHalfEven } from './rounding.ts'
import type { PlainPair } from './question.ts'

/** A scored pair with its whole numbers: B, Y, K and Z in 1e-9. */
export interface WholePair {
  entity: string
  question: string
  cluster: string
  resolvedAtMs: number
  outcome: 0 | 1
  pair: PlainPair
  contested: boolean
  B: bigint
  Y: bigint
  K: bigint
  w: bigint
}

export interface Strengths {
  /** In 1e-6. Every entity that has a pair. */
  of: ReadonlyMap<string, number>
  /** In 1e-6. */
  scale: number
  /** The standard reference Z of each contested pair, in 1e-9. */
  standard: ReadonlyMap<WholePair, bigint>
}

const PASSES = 20
const ONE = 1_000_000
/** Ten imaginary questions with a Brier score of 0.25, in 1e-9. */
export const KAPPA = 2_500_000_000
const MEDIAN_QUESTIONS = 25

/** B, Y, K and w from the whole 1e-12 of a pair. */
export function wholeNumbers({ pico }: PlainPair): Pick<WholePair, 'B' | 'Y' | 'K' | 'w'> {
  const rounded = (x: bigint, unit: bigint): bigint => {
    const [floor, twice] = [x / unit, 2n * (x % unit)]
    return twice > unit || (twice === unit && floor % 2n === 1n) ? floor + 1n : floor
  }
  const w = rounded(pico.coverage, 10n ** 8n)
  return {
    B: rounded(pico.brier, 1000n),
    Y: rounded(pico.reference_brier, 1000n),
    K: rounded(pico.crowd_brier, 1000n),
    w: w < 1n ? 1n : w,
  }
}

/** Z of each contested pair, for a middle field of strength `middle` in 1e-6. */
function standardReferences(
  pairs: readonly WholePair[],
  voices: ReadonlySet<string>,
  strength: ReadonlyMap<string, number>,
  middle: number,
): Map<WholePair, bigint> {
  const fields = Map.groupBy(pairs, ({ question }) => question)
  return new Map(
    pairs
      .filter(({ contested }) => contested)
      .map((pair) => {
        const field = fields.get(pair.question)!.filter(({ entity }) => voices.has(entity))
        const a = (entity: string) => BigInt(strength.get(entity)!)
        const U = bigSum(field.map(({ w }) => w))
        const A = bigSum(field.map(({ entity, w }) => w * a(entity)))
        const v = voices.has(pair.entity) ? pair.w : 0n
        const above = Number((U - v) * BigInt(middle))
        const below = Number(A - v * a(pair.entity))
        return [pair, BigInt(roundHalfEven(Number(pair.Y) * (above / below)))]
      }),
  )
}

export function strengthsPlainly(pairs: readonly WholePair[], voices: ReadonlySet<string>): Strengths {
  const byEntity = Map.groupBy(pairs, ({ entity }) => entity)
  let strength = new Map([...byEntity.keys()].map((entity) => [entity, ONE]))
  let scale = ONE
  for (let pass = 0; pass < PASSES; pass++) {
    const standard = standardReferences(pairs, voices, strength, ONE)
    const sums = new Map(
      [...byEntity].map(([entity, all]) => {
        const contested = all.filter((pair) => pair.contested)
        const B = Number(bigSum(contested.map((pair) => pair.B)))
        const Z = Number(bigSum(contested.map((pair) => standard.get(pair)!)))
        return [entity, { B, Z, count: contested.length }]
      }),
    )
    const ratios = [...sums]
      .filter(([entity, { Z, count }]) => voices.has(entity) && count >= MEDIAN_QUESTIONS && Z > 0)
      .map(([, { B, Z }]) => B / Z)
      .sort((a, b) => a - b)
    scale = ratios.length === 0 ? ONE : roundHalfEven(ONE * ratios[Math.floor((ratios.length - 1) / 2)]!)
    const middle = scale / ONE
    strength = new Map(
      [...sums].map(([entity, { B, Z, count }]) => {
        const a = roundHalfEven(ONE * ((B + KAPPA) / (Z * middle + KAPPA)))
        return [entity, count === 0 ? ONE : Math.min(Math.max(a, 50_000), 10_000_000)]
      }),
    )
  }
  return { of: strength, scale, standard: standardReferences(pairs, voices, strength, scale) }
}
