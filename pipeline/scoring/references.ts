// Reference forecasts, scored as entities are, so that a board shows what a skill is worth: the crowd, always
// 0.5, and the base rate of the category.
import type { Block, ColumnKinds } from '../../schemas/columns.ts'
import { REFERENCES, type Reference } from '../../schemas/references.ts'
import { type BoardScores, boardScores } from './board-scores.ts'
import { CROWD_COLUMNS } from './crowd.ts'
import { PPM } from './logarithm.ts'
import type { Methodology } from './methodology.ts'
import { type SkillPairs, contestedPairs } from './pairs.ts'
import { PICO, roundHalfEven } from './round.ts'
import { skillAgainst } from './skill.ts'
import { nanoOf, standardReference } from './strength.ts'

/**
 * The columns that references are scored from. `outcome`, `cluster` and `category` are those of
 * `SCORED_COLUMNS`. `pool` is a number that tells the question's pool from others, −1 without one; `weight`,
 * `weighted` and `scale` are what `standardReference` takes of the question. The rest is the crowd's pair.
 */
export const REFERENCE_COLUMNS = {
  outcome: 'int32',
  opened_ms: 'double',
  settled_ms: 'double',
  cluster: 'int32',
  category: 'int32',
  pool: 'int32',
  weight: 'double',
  weighted: 'double',
  scale: 'double',
  ...CROWD_COLUMNS,
} as const satisfies ColumnKinds

/** All settled questions of a release, in the order (settled_at, question_id). */
export type ReferenceQuestions = Block<typeof REFERENCE_COLUMNS>

export interface ReferenceScores extends BoardScores {
  reference: Reference
  pool: number
  /** The number of the category; null for all questions of the pool. */
  category: number | null
  crowd_skill: number
}

/**
 * Scores each reference on the questions of each pool, and on those of each category in it, wherever it has
 * as many contested questions as a rank takes.
 */
export function* scoreReferences(
  methodology: Methodology,
  questions: ReferenceQuestions,
): Iterable<ReferenceScores> {
  const { eligible_questions: least, contest_voices } = methodology.parameters
  const { voices, in_time, pool: pools, category: categories } = questions.columns
  const rates = baseRates(questions)
  const isContested = (row: number) => in_time[row] === 1 && voices[row]! >= contest_voices
  const asked: number[] = []
  for (let row = 0; row < questions.rowCount; row++) {
    if (pools[row]! >= 0 && voices[row]! > 0) asked.push(row)
  }
  for (const [pool, inPool] of Map.groupBy(asked, (row) => pools[row]!)) {
    const parts = [[null, inPool] as const, ...Map.groupBy(inPool, (row) => categories[row]!)]
    for (const [category, rows] of parts) {
      if (category === -1 || rows.filter(isContested).length < least) continue
      for (const reference of REFERENCES) {
        const pairs = pairsOf(questions, rows, isContested, forecastsOf(reference, rates))
        const contested = contestedPairs(pairs)
        const crowd_skill = skillAgainst(methodology, contested, contested.crowd).skill!
        yield { reference, pool, category, ...boardScores(methodology, pairs, contested), crowd_skill }
      }
    }
  }
}

/**
 * The share of `yes` among the questions of each question's category that were settled before it opened, as
 * (yes + 1)/(n + 2), the rule of succession, in parts per million. Those without a category count as one
 * category.
 */
export function baseRates({
  rowCount,
  columns: { outcome, opened_ms, settled_ms, category },
}: Pick<ReferenceQuestions, 'rowCount' | 'columns'>): Int32Array {
  const byOpening = Uint32Array.from({ length: rowCount }, (_, row) => row).sort(
    (a, b) => opened_ms[a]! - opened_ms[b]!,
  )
  const known = new Map<number, { yes: number; all: number }>()
  const rates = new Int32Array(rowCount)
  let settled = 0
  for (const row of byOpening) {
    for (; settled < rowCount && settled_ms[settled]! < opened_ms[row]!; settled++) {
      const counted = known.get(category[settled]!) ?? { yes: 0, all: 0 }
      counted.yes += outcome[settled]!
      counted.all += 1
      known.set(category[settled]!, counted)
    }
    const { yes, all } = known.get(category[row]!) ?? { yes: 0, all: 0 }
    rates[row] = roundHalfEven((PPM * (yes + 1)) / (all + 2))
  }
  return rates
}

/**
 * Returns the forecast of a question by its row, in parts per million; undefined for that of the crowd, which
 * moves.
 */
function forecastsOf(reference: Reference, rates: Int32Array): (row: number) => number | undefined {
  switch (reference) {
    case 'crowd':
      return () => undefined
    case 'always_half':
      return () => PPM / 2
    case 'base_rate':
      return (row) => rates[row]!
  }
}

/**
 * Makes the pairs of a reference on some questions. A constant forecast p stands while the crowd has one: its
 * brier part is (p − o)² · coverage.
 */
function pairsOf(
  { columns }: ReferenceQuestions,
  rows: readonly number[],
  isContested: (row: number) => boolean,
  forecastOf: (row: number) => number | undefined,
): SkillPairs {
  const of = (valueOf: (row: number) => number) => Float64Array.from(rows, valueOf)
  const part = (row: number, error: number) =>
    roundHalfEven(((error * error) / PICO) * columns.coverage[row]!)
  const ownOf = (outcomeOf: (row: number) => number, crowd: Float64Array) =>
    of((row) => {
      const ppm = forecastOf(row)
      return ppm === undefined ? crowd[row]! : part(row, Math.abs(ppm - outcomeOf(row) * PPM))
    })
  const standardOf = (reference: Float64Array) =>
    of((row) => {
      const [weight, weighted, scale] = [columns.weight[row]!, columns.weighted[row]!, columns.scale[row]!]
      return isContested(row) ? standardReference(nanoOf(reference[row]!), weight, weighted, 0, 0, scale) : -1
    })
  return {
    rowCount: rows.length,
    columns: {
      cluster: Int32Array.from(rows, (row) => columns.cluster[row]!),
      standard: standardOf(columns.reference_part),
      standard_other: standardOf(columns.reference_other),
      coverage: of((row) => columns.coverage[row]!),
      brier_part: ownOf((row) => columns.outcome[row]!, columns.crowd_part),
      brier_other: ownOf((row) => 1 - columns.outcome[row]!, columns.crowd_other),
      reference_part: of((row) => columns.reference_part[row]!),
      reference_other: of((row) => columns.reference_other[row]!),
      crowd_part: of((row) => columns.crowd_part[row]!),
      crowd_other: of((row) => columns.crowd_other[row]!),
    },
  }
}
