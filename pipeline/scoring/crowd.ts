// The crowd on one question: the average of the voices whose forecasts stand, scored as an entity would be
// that always says it (METHODOLOGY §2).
import type { ColumnKinds } from '../../schemas/columns.ts'
import type { Course } from './course.ts'
import type { Field } from './field.ts'
import { PPM } from './logarithm.ts'
import { PICO, roundHalfEven } from './round.ts'

/**
 * The pair of the crowd, in the units of a pair's columns. Its forecast stands while one of a voice does, and
 * it leaves no voice out. So its own error is that of the average: its brier part is its crowd part.
 */
export const CROWD_COLUMNS = {
  voices: 'int32',
  in_time: 'int32',
  coverage: 'double',
  reference_part: 'double',
  reference_other: 'double',
  crowd_part: 'double',
  crowd_other: 'double',
} as const satisfies ColumnKinds
export type CrowdPair = Record<keyof typeof CROWD_COLUMNS, number>

/** The course and the pair of the crowd on a question, from a sweep. */
export interface SweptCrowd {
  readonly course: Course
  /** Without voices all of it is 0. */
  readonly crowd: CrowdPair
}

/** Facts of a question and of the voices that took part in it. */
interface CrowdFacts {
  voices: number
  isInTime: boolean
  horizonMs: number
}

/** Returns the pair of the crowd from the integrals of a field that has reached the close. */
export function crowdPairOf(field: Field, { voices, isInTime, horizonMs }: CrowdFacts): CrowdPair {
  const { voicedMs } = field
  const [squares, squaredSum] = [field.total('allSquares'), field.total('allSquaredSum')]
  // (1 − x)² is 1 − 2x + x², as in `writeScores`.
  const other = PICO * voicedMs - 2 * PPM * field.total('allErrors')
  return {
    voices,
    in_time: isInTime ? 1 : 0,
    coverage: roundHalfEven((voicedMs / horizonMs) * PICO),
    reference_part: roundHalfEven(squares / horizonMs),
    reference_other: roundHalfEven((other + squares) / horizonMs),
    crowd_part: roundHalfEven(squaredSum / horizonMs),
    crowd_other: roundHalfEven((other + squaredSum) / horizonMs),
  }
}
