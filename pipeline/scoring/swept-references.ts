// The scores of the references on a question, which the sweep tells beside its pairs: always one half, the
// median of the voices and the market (METHODOLOGY §4).
import { type ColumnKinds, newColumns } from '../../schemas/columns.ts'
import { JUDGED_COLUMNS, type Life, type Participant, writeJudged } from './participant.ts'

/** The references that say something as time goes on. */
export const SWEPT_REFERENCES = ['half', 'median', 'market'] as const
export type SweptReference = (typeof SWEPT_REFERENCES)[number]

type JudgedName = keyof typeof JUDGED_COLUMNS
const JUDGED_NAMES = Object.keys(JUDGED_COLUMNS) as JudgedName[]

/**
 * For each of them the columns of what is judged; and how long one half was, with the question's life times
 * its divisor, from which any constant follows.
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
/** The numbers of a question, in the order of these columns. */
export const REFERENCE_SCORES_LENGTH = REFERENCE_SCORE_NAMES.length

const scratch = newColumns(JUDGED_COLUMNS, 1)

/** Writes the numbers of the references, which are the first participants. */
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
