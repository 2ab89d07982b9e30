// Scores the references on a question, beside its pairs: always one half, the median of the voices and the
// market (METHODOLOGY §4).
import { type ColumnKinds, newColumns } from '../../schemas/columns.ts'
import { JUDGED_COLUMNS, type Life, type Participant, writeJudged } from './participant.ts'

/** The references that a sweep scores. The base rate follows from them. */
export const SWEPT_REFERENCES = ['half', 'median', 'market'] as const
export type SweptReference = (typeof SWEPT_REFERENCES)[number]

type JudgedName = keyof typeof JUDGED_COLUMNS
const JUDGED_NAMES = Object.keys(JUDGED_COLUMNS) as JudgedName[]

/**
 * The judged columns of each reference. The last two are the judged time of one half, and the question's life
 * times its divisor: the error of any constant follows from them.
 */
export const REFERENCE_SCORE_COLUMNS = {
  ...(Object.fromEntries(
    SWEPT_REFERENCES.flatMap((name) =>
      JUDGED_NAMES.map((column) => [`${name}_${column}`, JUDGED_COLUMNS[column]]),
    ),
  ) as {
    [
      Name in `${SweptReference}_${JudgedName}`
    ]: Name extends `${SweptReference}_${infer Of extends JudgedName}` ? (typeof JUDGED_COLUMNS)[Of] : never
  }),
  judged_ms: 'double',
  divided_ms: 'double',
} as const satisfies ColumnKinds

export const REFERENCE_SCORE_NAMES = Object.keys(
  REFERENCE_SCORE_COLUMNS,
) as (keyof typeof REFERENCE_SCORE_COLUMNS)[]
/** How many numbers a question has. */
export const REFERENCE_SCORES_LENGTH = REFERENCE_SCORE_NAMES.length

const scratch = newColumns(JUDGED_COLUMNS, 1)

/**
 * Writes the numbers of a question in the order of the columns. The references must be the first
 * participants.
 */
export function writeReferenceScores(
  numbers: Float64Array,
  participants: readonly Participant[],
  life: Life,
): void {
  let at = 0
  for (let slot = 0; slot < SWEPT_REFERENCES.length; slot++) {
    writeJudged(scratch, 0, participants[slot]!, life)
    for (const name of JUDGED_NAMES) numbers[at++] = scratch[name][0]!
  }
  numbers[at++] = participants[0]!.judgedMs
  numbers[at] = life.lifeMs * life.divisor
}
