// Strengths: how much error an entity makes where the middle entity makes 1, fitted to all pairs at once so
// that nobody gains by the choice of questions (METHODOLOGY §3). Iterative proportional fitting of error =
// strength · difficulty.
import type { Block, ColumnKinds } from '../../schemas/columns.ts'
import type { Methodology } from './methodology.ts'
import { type Pools, poolsOf } from './pools.ts'
import { type Voices, isVoice } from './voices.ts'
import { NANO, PICO, roundHalfEven } from './round.ts'

/** A strength of one. Strengths are whole numbers of 1e-6. */
export const UNIT = 1_000_000

/**
 * The columns that strengths are fitted to: of each pair its question, its entity, the weight w of its
 * coverage, that of its own voice, the parts B and Y in whole 1e-9, and 1 if it is contested.
 */
export const FITTED_COLUMNS = {
  question: 'int32',
  entity: 'int32',
  weight: 'int32',
  own_weight: 'int32',
  brier: 'int32',
  reference: 'int32',
  contested: 'int32',
} as const satisfies ColumnKinds
export type FittedPairs = Block<typeof FITTED_COLUMNS>

/** w of a coverage in 1e-12: whole 1e-4, at least 1. */
export function weightOf(coveragePico: number): number {
  return Math.max(1, roundHalfEven(coveragePico / 1e8))
}

/** A part of a pair in whole 1e-9, from whole 1e-12. */
export function nanoOf(partPico: number): number {
  return roundHalfEven(partPico / (PICO / NANO))
}

export interface Strengths {
  /** Of each entity, in 1e-6: lower is better. */
  strength: Int32Array
  /** Of each entity the strength of its own voice: itself, or that of its owner; 0 without one. */
  ownStrength: Int32Array
  pools: Pools
  /** Of each pool the strength of the median voice before it was set to 1, in 1e-6. */
  scales: Float64Array
  /** Of each question, over all voices that took part: Σ w, and Σ w·strength. */
  weight: Float64Array
  weighted: Float64Array
}

/** The imaginary questions that draw a short record toward 0, in 1e-9. */
export function shrinkageNano({ parameters }: Methodology): number {
  return parameters.shrinkage_questions * parameters.shrinkage_brier * NANO
}

/**
 * Z = ⌊Y · (((U − v)·scale) / (A − v·a))⌉: what a middle field would have got in the others' place on a
 * contested question. U and A are Σ w and Σ w·a over its voices; v and a are the w and the strength of the
 * entity's own voice, itself or that of its owner, or 0. With the fitted strengths and their scale it is the
 * pair's standard reference.
 */
export function standardReference(
  reference: number,
  weight: number,
  weighted: number,
  ownWeight: number,
  strength: number,
  scale: number,
): number {
  return roundHalfEven(reference * (((weight - ownWeight) * scale) / (weighted - ownWeight * strength)))
}

/** The entities that strengths are fitted for. */
export interface FittedEntities {
  voices: Voices
  /** Of each entity. */
  ids: readonly string[]
}

/**
 * Fits strengths in a fixed number of passes that add only whole numbers, so that neither the order of the
 * pairs nor the engine changes a bit, as long as no question has more than 90,000 voices and no entity more
 * than 400,000 contested questions.
 */
export function fitStrengths(
  methodology: Methodology,
  questionCount: number,
  { voices, ids }: FittedEntities,
  pairs: FittedPairs,
): Strengths {
  const { parameters } = methodology
  const { rowCount, columns } = pairs
  const { question, entity, weight, own_weight, brier, reference, contested: isContested } = columns
  const pools = poolsOf(questionCount, voices, ids, pairs)
  const strength = new Int32Array(voices.length).fill(UNIT)
  const ownStrength = new Int32Array(voices.length)
  const sums = new Float64Array(questionCount)
  const weighted = new Float64Array(questionCount)
  const contested = new Int32Array(voices.length)
  const errors = new Float64Array(voices.length)
  const standard = new Float64Array(voices.length)
  for (let row = 0; row < rowCount; row++) {
    const member = entity[row]!
    if (isVoice(voices, member)) sums[question[row]!]! += weight[row]!
    if (isContested[row] !== 1) continue
    contested[member]! += 1
    errors[member]! += brier[row]!
  }
  const readOwnStrengths = () => {
    for (let member = 0; member < voices.length; member++) {
      ownStrength[member] = strength[voices[member]!] ?? 0
    }
  }
  const sumOverQuestions = () => {
    weighted.fill(0)
    for (let row = 0; row < rowCount; row++) {
      const member = entity[row]!
      if (isVoice(voices, member)) weighted[question[row]!]! += weight[row]! * strength[member]!
    }
    readOwnStrengths()
  }
  const sumOverEntities = () => {
    standard.fill(0)
    for (let row = 0; row < rowCount; row++) {
      if (isContested[row] !== 1) continue
      const member = entity[row]!
      const asked = question[row]!
      standard[member]! += standardReference(
        reference[row]!,
        sums[asked]!,
        weighted[asked]!,
        own_weight[row]!,
        ownStrength[member]!,
        UNIT,
      )
    }
  }
  const isMeasure = (member: number) =>
    isVoice(voices, member) && contested[member]! >= parameters.eligible_questions && standard[member]! > 0
  const prior = shrinkageNano(methodology)
  const [least, most] = [parameters.strength_least * UNIT, parameters.strength_most * UNIT]
  const scales = new Float64Array(pools.names.length)
  for (let pass = 0; pass < parameters.strength_passes; pass++) {
    sumOverQuestions()
    sumOverEntities()
    const ratios: number[][] = Array.from(scales, () => [])
    for (let member = 0; member < voices.length; member++) {
      if (isMeasure(member)) ratios[pools.ofEntity[member]!]!.push(errors[member]! / standard[member]!)
    }
    ratios.forEach((values, pool) => {
      const median = lowerMedian(Float64Array.from(values))
      scales[pool] = median === undefined ? UNIT : roundHalfEven(UNIT * median)
    })
    for (let member = 0; member < voices.length; member++) {
      if (contested[member] === 0) continue
      const scale = scales[pools.ofEntity[member]!]!
      const fitted = (errors[member]! + prior) / (standard[member]! * (scale / UNIT) + prior)
      strength[member] = Math.min(Math.max(roundHalfEven(UNIT * fitted), least), most)
    }
  }
  sumOverQuestions()
  return { strength, ownStrength, pools, scales, weight: sums, weighted }
}

/** Of e values the ⌊(e−1)/2⌋-th from 0, ascending; undefined without one. */
function lowerMedian(values: Float64Array): number | undefined {
  return values.sort()[Math.floor((values.length - 1) / 2)]
}
