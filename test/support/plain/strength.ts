// The whole numbers of a pair, and the twenty passes over them (METHODOLOGY §3 and §7), a pass as it is
// written there.
import { wholeUnits } from './fraction.ts'
import { bigSum, roundHalfEven } from './rounding.ts'
import type { Pools } from './pools.ts'
import type { Pico, PlainPair } from './question.ts'
import { type Measures, isMeasuredBy } from './voices.ts'

/** In whole 1e-9. */
export interface Nano {
  B: bigint
  Y: bigint
  K: bigint
}

/** A scored pair with its whole numbers. */
export interface WholePair extends Nano {
  entity: string
  question: string
  cluster: string
  outcome: 0 | 1
  contested: boolean
  pair: PlainPair
  w: bigint
  /** B′, Y′ and K′. */
  other: Nano
}

/** The standard reference with the outcome that came, and with the other one: Z and Z′ in 1e-9. */
export interface Standard {
  Z: bigint
  otherZ: bigint
}

export interface Strengths {
  /** In 1e-6. Every entity that has a pair. */
  of: ReadonlyMap<string, number>
  /** In 1e-6, for each pool. */
  scales: ReadonlyMap<string, number>
  /** For each contested pair. */
  standard: ReadonlyMap<WholePair, Standard>
}

const PASSES = 20
const ONE = 1_000_000
/** Ten imaginary questions with a Brier score of 0.25, in 1e-9. */
export const KAPPA = 2_500_000_000
const MEDIAN_QUESTIONS = 25

export function wholeNumbers({ pico, other_pico }: PlainPair): Pick<WholePair, keyof Nano | 'w' | 'other'> {
  const w = wholeUnits({ over: pico.coverage, under: 10n ** 8n }, 1n)
  return { ...nanoOf(pico), w: w < 1n ? 1n : w, other: nanoOf(other_pico) }
}

function nanoOf({ brier, reference_brier, crowd_brier }: Pico): Nano {
  const nano = (pico: bigint) => wholeUnits({ over: pico, under: 1000n }, 1n)
  return { B: nano(brier), Y: nano(reference_brier), K: nano(crowd_brier) }
}

/** For each contested pair, with a middle field of strength `middleOf` its question in 1e-6. */
function standardReferences(
  pairs: readonly WholePair[],
  measures: Measures,
  strength: ReadonlyMap<string, number>,
  middleOf: (question: string) => number,
): Map<WholePair, Standard> {
  const fields = Map.groupBy(pairs, ({ question }) => question)
  return new Map(
    pairs
      .filter(({ contested }) => contested)
      .map((pair) => {
        const { entity, question } = pair
        // Sums over the voices that measure the entity: U − v and A − v·a of the specification.
        const others = fields.get(question)!.filter((other) => isMeasuredBy(measures, entity, other.entity))
        const weight = bigSum(others.map(({ w }) => w))
        const weighted = bigSum(others.map((other) => other.w * BigInt(strength.get(other.entity)!)))
        const factor = Number(weight * BigInt(middleOf(question))) / Number(weighted)
        const standard = (Y: bigint) => BigInt(roundHalfEven(Number(Y) * factor))
        return [pair, { Z: standard(pair.Y), otherZ: standard(pair.other.Y) }]
      }),
  )
}

export function strengthsPlainly(
  pairs: readonly WholePair[],
  measures: Measures,
  { ofQuestion, ofEntity }: Pools,
): Strengths {
  const byEntity = Map.groupBy(pairs, ({ entity }) => entity)
  const names = new Set(ofQuestion.values())
  let strength = new Map([...byEntity.keys()].map((entity) => [entity, ONE]))
  let scales = new Map<string, number>()
  for (let pass = 0; pass < PASSES; pass++) {
    const standard = standardReferences(pairs, measures, strength, () => ONE)
    const sums = [...byEntity].map(([entity, all]) => {
      const contested = all.filter((pair) => pair.contested)
      const B = Number(bigSum(contested.map((pair) => pair.B)))
      const Z = Number(bigSum(contested.map((pair) => standard.get(pair)!.Z)))
      return { entity, B, Z, count: contested.length, pool: ofEntity.get(entity) }
    })
    scales = new Map(
      [...names].map((name) => {
        const ratios = sums
          .filter(({ entity, pool }) => pool === name && measures.voices.has(entity))
          .filter(({ Z, count }) => count >= MEDIAN_QUESTIONS && Z > 0)
          .map(({ B, Z }) => B / Z)
          .sort((a, b) => a - b)
        const median = ratios[Math.floor((ratios.length - 1) / 2)]
        return [name, median === undefined ? ONE : roundHalfEven(ONE * median)]
      }),
    )
    strength = new Map(
      sums.map(({ entity, B, Z, pool }) => {
        if (pool === undefined) return [entity, ONE]
        const a = roundHalfEven(ONE * ((B + KAPPA) / (Z * (scales.get(pool)! / ONE) + KAPPA)))
        return [entity, Math.min(Math.max(a, 50_000), 10_000_000)]
      }),
    )
  }
  const scaleOf = (question: string) => scales.get(ofQuestion.get(question)!)!
  return { of: strength, scales, standard: standardReferences(pairs, measures, strength, scaleOf) }
}
