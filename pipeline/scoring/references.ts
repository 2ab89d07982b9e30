// Scores reference forecasts as if they were entities, so that a board shows how much a skill is worth:
// always one half, the base rate of the category, the median of the voices, the market (METHODOLOGY §4).
import type { Block, ColumnKinds, Columns } from '../../schemas/columns.ts'
import { REFERENCES, type Reference } from '../../schemas/references.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { PPM } from './logarithm.ts'
import type { Methodology } from './methodology.ts'
import { type JudgedPairs, QUESTION_COLUMNS, valuesAt } from './pairs.ts'
import { JUDGED_COLUMNS } from './participant.ts'
import { roundHalfEven } from './round.ts'
import { type Interval, alphaOf, intervalOf, skillsOn } from './skill.ts'
import { REFERENCE_SCORE_COLUMNS, type SweptReference } from './swept-references.ts'

/**
 * The columns from which references are scored. `agent_pool` and `forecaster_pool` are the numbers of the
 * question's pools, −1 without one.
 */
export const REFERENCE_COLUMNS = {
  ...QUESTION_COLUMNS,
  opened_ms: 'double',
  agent_pool: 'int32',
  forecaster_pool: 'int32',
  ...REFERENCE_SCORE_COLUMNS,
} as const satisfies ColumnKinds

/** All settled questions of a release, in the order (settled_at, question_id). */
export type ReferenceQuestions = Block<typeof REFERENCE_COLUMNS>

export interface ReferenceScores {
  reference: Reference
  entity_type: EntityType
  pool: number
  /** The number of the category; null for all questions of the pool. */
  category: number | null
  skill: number
  board_interval: Pick<Interval, 'lower' | 'upper'> | null
  median_skill: number
  /** Null where nothing is priced. */
  market_skill: number | null
  evidence: number
  contested_questions: number
  clusters: number
  priced_questions: number
}

/**
 * Scores each reference on the questions of each pool, and on those of each category in it. Leaves out sets
 * with fewer contested questions than a rank takes.
 */
export function* scoreReferences(
  methodology: Methodology,
  questions: ReferenceQuestions,
): Iterable<ReferenceScores> {
  const { category: categories } = questions.columns
  const rates = baseRates(methodology, questions)
  const pairs = new Map(REFERENCES.map((reference) => [reference, pairsOf(reference, questions, rates)]))
  for (const entity_type of ENTITY_TYPES) {
    const pools = questions.columns[`${entity_type}_pool`]
    const pooled = Array.from({ length: questions.rowCount }, (_, row) => row).filter(
      (row) => pools[row]! >= 0,
    )
    for (const [pool, inPool] of Map.groupBy(pooled, (row) => pools[row]!)) {
      const parts = [[null, inPool] as const, ...Map.groupBy(inPool, (row) => categories[row]!)]
      for (const [category, rows] of parts) {
        if (category === -1) continue
        for (const [reference, judged] of pairs) {
          const scores = scoreReference(methodology, judged, Int32Array.from(rows))
          if (scores) yield { reference, entity_type, pool, category, ...scores }
        }
      }
    }
  }
}

function scoreReference(methodology: Methodology, pairs: JudgedPairs, rows: Int32Array) {
  const { judged, priced, unit } = pairs.columns
  const contested = rows.filter((row) => judged[row] === 1)
  const over = skillsOn(methodology, pairs, contested)
  const average = over('average')
  if (average.questions < methodology.parameters.eligible_questions) return undefined
  const ofPrice = contested.filter((row) => priced[row] === 1)
  const interval = intervalOf(methodology, average, alphaOf(methodology, null))
  return {
    skill: average.skill!,
    board_interval: interval && { lower: interval.lower, upper: interval.upper },
    median_skill: over('median').skill!,
    market_skill: ofPrice.length === 0 ? null : over('market').skill,
    evidence: average.evidence,
    contested_questions: average.questions,
    clusters: average.clusters,
    priced_questions: new Set(valuesAt(ofPrice, unit)).size,
  }
}

/**
 * Returns the base rate of each question in parts per million: the share of yes among the questions of its
 * category that were settled before it opened; one half if there were too few. Questions without a category
 * count as one category.
 */
export function baseRates(
  { parameters }: Methodology,
  {
    rowCount,
    columns: { outcome, opened_ms, settled_ms, category },
  }: Pick<ReferenceQuestions, 'rowCount' | 'columns'>,
): Int32Array {
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
    rates[row] = all < parameters.base_rate_questions ? PPM / 2 : roundHalfEven((PPM * yes) / all)
  }
  return rates
}

/** Makes the pairs of a reference on all questions. The base rate is measured as one half is. */
function pairsOf(
  reference: Reference,
  { rowCount, columns }: ReferenceQuestions,
  rates: Int32Array,
): JudgedPairs {
  const swept: SweptReference = reference === 'always_half' || reference === 'base_rate' ? 'half' : reference
  const names = Object.keys(JUDGED_COLUMNS) as (keyof typeof JUDGED_COLUMNS)[]
  const own = Object.fromEntries(
    names.map((name) => [name, columns[`${swept}_${name}`]]),
  ) as unknown as Columns<typeof JUDGED_COLUMNS>
  const { unit, cluster, week, joint, outcome, judged_ms, divided_ms } = columns
  const facts = { unit, cluster, week, joint }
  if (reference !== 'base_rate') return { rowCount, columns: { ...facts, ...own } }
  // Compute the error as `writeJudged` does.
  const errorAt = (row: number, end: number) => {
    const error = Math.abs(rates[row]! - end * PPM)
    return roundHalfEven(roundHalfEven((error * error * judged_ms[row]!) / divided_ms[row]!) / 1e3)
  }
  return {
    rowCount,
    columns: {
      ...facts,
      ...own,
      judged_brier: Float64Array.from(rates, (_, row) => errorAt(row, outcome[row]!)),
      judged_brier_if_other: Float64Array.from(rates, (_, row) => errorAt(row, 1 - outcome[row]!)),
    },
  }
}
