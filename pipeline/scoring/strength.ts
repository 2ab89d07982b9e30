// Strengths: how much error an entity makes where the middle entity makes 1, fitted to all pairs at once so
// that nobody gains by the choice of questions (METHODOLOGY §3). Iterative proportional fitting of error =
// strength · difficulty.
import type { Block, ColumnKinds } from '../../schemas/columns.ts'
import type { Methodology } from './methodology.ts'
import { NANO, PICO, roundHalfEven } from './round.ts'

/** A strength of one. Strengths are whole numbers of 1e-6. */
export const UNIT = 1_000_000

/**
 * The columns that strengths are fitted to: of each pair its question, its entity, the weight w of its
 * coverage, the parts B and Y in whole 1e-9, and the number of other voices on the question.
 */
export const FITTED_COLUMNS = {
  question: 'int32',
  entity: 'int32',
  weight: 'int32',
  brier: 'int32',
  reference: 'int32',
  voices: 'int32',
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
  /** The strength of the median voice before it was set to 1, in 1e-6. */
  scale: number
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
 * contested question. U and A are Σ w and Σ w·a over its voices; v is the entity's own w if it is a voice,
 * else 0, and a its strength. With the fitted strengths and their scale it is the pair's standard reference.
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

/**
 * Fits strengths in a fixed number of passes that add only whole numbers, so that neither the order of the
 * pairs nor the engine changes a bit, as long as no question has more than 90,000 voices and no entity more
 * than 400,000 contested questions. `voices` has 1 for each entity that is a voice.
 */
export function fitStrengths(
  methodology: Methodology,
  questionCount: number,
  voices: Uint8Array,
  { rowCount, columns }: FittedPairs,
): Strengths {
  const { parameters } = methodology
  const { question, entity, weight, brier, reference, voices: others } = columns
  const strength = new Int32Array(voices.length).fill(UNIT)
  const sums = new Float64Array(questionCount)
  const weighted = new Float64Array(questionCount)
  const contested = new Int32Array(voices.length)
  const errors = new Float64Array(voices.length)
  const standard = new Float64Array(voices.length)
  for (let row = 0; row < rowCount; row++) {
    const member = entity[row]!
    if (voices[member] === 1) sums[question[row]!]! += weight[row]!
    if (others[row]! < parameters.contest_voices) continue
    contested[member]! += 1
    errors[member]! += brier[row]!
  }
  const sumOverQuestions = () => {
    weighted.fill(0)
    for (let row = 0; row < rowCount; row++) {
      const member = entity[row]!
      if (voices[member] === 1) weighted[question[row]!]! += weight[row]! * strength[member]!
    }
  }
  const sumOverEntities = () => {
    standard.fill(0)
    for (let row = 0; row < rowCount; row++) {
      if (others[row]! < parameters.contest_voices) continue
      const member = entity[row]!
      const asked = question[row]!
      const own = voices[member] === 1 ? weight[row]! : 0
      standard[member]! += standardReference(
        reference[row]!,
        sums[asked]!,
        weighted[asked]!,
        own,
        strength[member]!,
        UNIT,
      )
    }
  }
  const isMeasure = (member: number) =>
    voices[member] === 1 && contested[member]! >= parameters.eligible_questions && standard[member]! > 0
  const prior = shrinkageNano(methodology)
  const [least, most] = [parameters.strength_least * UNIT, parameters.strength_most * UNIT]
  let scale = UNIT
  for (let pass = 0; pass < parameters.strength_passes; pass++) {
    sumOverQuestions()
    sumOverEntities()
    const ratios = Float64Array.from(
      Array.from(voices.keys()).filter(isMeasure),
      (member) => errors[member]! / standard[member]!,
    )
    const median = lowerMedian(ratios)
    scale = median === undefined ? UNIT : roundHalfEven(UNIT * median)
    for (let member = 0; member < voices.length; member++) {
      if (contested[member] === 0) continue
      const fitted = (errors[member]! + prior) / (standard[member]! * (scale / UNIT) + prior)
      strength[member] = Math.min(Math.max(roundHalfEven(UNIT * fitted), least), most)
    }
  }
  sumOverQuestions()
  return { strength, scale, weight: sums, weighted }
}

/** Of e values the ⌊(e−1)/2⌋-th from 0, ascending; undefined without one. */
function lowerMedian(values: Float64Array): number | undefined {
  return values.sort()[Math.floor((values.length - 1) / 2)]
}
