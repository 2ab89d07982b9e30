// The scores of the references on a question, which the sweep tells beside its pairs: always one half, the
// median of the voices and the market (METHODOLOGY §4).
import { type ColumnKinds, newColumns } from '../../schemas/columns.ts'
import { JUDGED_COLUMNS, type Life, type Participant, writeJudged } from './participant.ts'

/** The references that say something as time goes on. */
export const SPOKEN = ['half', 'median', 'market'] as const
export type Spoken = (typeof SPOKEN)[number]

type JudgedName = keyof typeof JUDGED_COLUMNS
const JUDGED_NAMES = Object.keys(JUDGED_COLUMNS) as JudgedName[]

/**
 * For each of them the columns of what is judged; and how long one half was, with the question's life times
 * its divisor, from which any constant follows.
 */
export const SPOKEN_COLUMNS = {
  ...(Object.fromEntries(
    SPOKEN.flatMap((name) => JUDGED_NAMES.map((column) => [`${name}_${column}`, JUDGED_COLUMNS[column]])),
  ) as {
    [Name in `${Spoken}_${JudgedName}`]: Name extends `${Spoken}_${infer Of extends JudgedName}`
      ? (typeof JUDGED_COLUMNS)[Of]
      : never
  }),
  judged_ms: 'double',
  divided_ms: 'double',
} as const satisfies ColumnKinds

export const SPOKEN_NAMES = Object.keys(SPOKEN_COLUMNS) as (keyof typeof SPOKEN_COLUMNS)[]
/** The numbers of a question, in the order of these columns. */
export const SPOKEN_LENGTH = SPOKEN_NAMES.length

const scratch = newColumns(JUDGED_COLUMNS, 1)

/** Writes the numbers of the references, which are the first participants. */
export function writeSpoken(numbers: Float64Array, participants: readonly Participant[], life: Life): void {
  let at = 0
  for (let slot = 0; slot < SPOKEN.length; slot++) {
    writeJudged(scratch, 0, participants[slot]!, life)
    for (const name of JUDGED_NAMES) numbers[at++] = scratch[name][0]!
  }
  numbers[at++] = participants[0]!.judgedMs
  numbers[at] = life.lifeMs * life.divisor
}
