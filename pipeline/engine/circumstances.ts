// The step between sweep and score. Finds the facts of an entity that its own scores need from the pairs of
// all others: its pool, the questions open to it, its number among its owner's agents.
import type { Block, ColumnKinds, Columns, RowSink } from '../../schemas/columns.ts'
import type { VoiceRule } from '../../schemas/payloads.ts'
import { ENTITY_TYPES } from '../../schemas/tables.ts'
import { type Offer, offeredOf } from '../scoring/answered.ts'
import type { Circumstances } from '../scoring/entity.ts'
import type { Methodology } from '../scoring/methodology.ts'
import type { PAIR_COLUMNS } from '../scoring/pairs.ts'
import { poolsOf } from '../scoring/pools.ts'
import { ratio } from '../scoring/round.ts'
import { type KnownEntity, type Voices, attemptsOf, isVoice } from '../scoring/voices.ts'
import { Rows } from './rows.ts'

/** The columns of a pair that are kept. */
export const KEPT_COLUMNS = {
  question: 'int32',
  entity: 'int32',
  judged: 'int32',
  first_at: 'double',
  last_at: 'double',
} as const satisfies ColumnKinds

/** The times of a question, on which circumstances depend. */
export interface TimedQuestion {
  openedAtMs: number
  endsAtMs: number
  settledAtMs: number
  isSettled: boolean
}

/** Passes the pairs of a sweep on, and keeps the columns that circumstances depend on. */
export class KeptPairs implements RowSink<typeof PAIR_COLUMNS> {
  readonly #sink: RowSink<typeof PAIR_COLUMNS>
  readonly kept = new Rows(KEPT_COLUMNS)

  constructor(sink: RowSink<typeof PAIR_COLUMNS>) {
    this.#sink = sink
  }

  get columns(): RowSink<typeof PAIR_COLUMNS>['columns'] {
    return this.#sink.columns
  }

  get row(): number {
    return this.#sink.row
  }

  next(): void {
    this.#keep(this.#sink.columns, this.#sink.row)
    this.#sink.next()
  }

  /** Keeps the columns of pairs without passing them on. */
  take({ rowCount, columns }: Block<typeof KEPT_COLUMNS>): void {
    for (let row = 0; row < rowCount; row++) this.#keep(columns, row)
  }

  #keep(columns: Pick<Columns<typeof PAIR_COLUMNS>, keyof typeof KEPT_COLUMNS>, row: number): void {
    const { columns: kept, row: at } = this.kept
    kept.question[at] = columns.question[row]!
    kept.entity[at] = columns.entity[row]!
    kept.judged[at] = columns.judged[row]!
    kept.first_at[at] = columns.first_at[row]!
    kept.last_at[at] = columns.last_at[row]!
    this.kept.next()
  }
}

/**
 * Returns the rule for a release, from the pairs of a sweep with the recorded voices: `everyone` if too few
 * of these voices have a settled pair.
 */
export function voiceRuleOf(
  { parameters }: Methodology,
  voices: Voices,
  questions: readonly Pick<TimedQuestion, 'isSettled'>[],
  { kept }: KeptPairs,
): VoiceRule {
  const scored = new Set<number>()
  const { question, entity } = kept.columns
  for (let row = 0; row < kept.rowCount; row++) {
    const member = entity[row]!
    if (isVoice(voices, member) && questions[question[row]!]!.isSettled) scored.add(member)
    if (scored.size === parameters.least_voices) return 'recorded'
  }
  return 'everyone'
}

/** An entity as it is known before anything is scored, and whether it had retired at `as_of`. */
export type MetEntity = KnownEntity & { isRetired: boolean }

export interface Met {
  /** For each entity. */
  circumstances: Circumstances[]
  /** The number of questions that each entity has a pair on. */
  pairs: Int32Array
  /**
   * For each kind of entity, the pool of each question, by the entity that names it; −1 if no pair of the
   * kind is contested.
   */
  poolsOfQuestions: readonly Int32Array[]
}

export function circumstancesOf(
  entities: readonly MetEntity[],
  voices: Voices,
  questions: readonly TimedQuestion[],
  keptPairs: KeptPairs,
): Met {
  const { kept } = keptPairs
  const kinds = Uint8Array.from(entities, ({ entityType }) => ENTITY_TYPES.indexOf(entityType))
  const contested = contestedRows(kept, questions)
  const { question, entity } = kept.columns
  const rows = { rowCount: kept.rowCount, columns: { question, entity, contested } }
  const pools = poolsOf(questions.length, kinds, rows)
  const activity = activityOf(kept, contested, questions, entities.length)
  const poolsOfQuestions = poolsByQuestion(kept, contested, { kinds, pools }, questions.length)
  const isOwn = (member: number, number: number) =>
    pools[member]! >= 0 && poolsOfQuestions[kinds[member]!]![number] === pools[member]
  const answers = answersOf(kept, questions, activity, isOwn)
  const offered = offeredQuestions(pools, poolsOfQuestions, questions, { ...activity, ...answers })
  const sizes = sizesOf(pools)
  const circumstances = attemptsOf(entities, activity).map((attempt, member): Circumstances => {
    const pool = pools[member]!
    return {
      ...attempt,
      voice: isVoice(voices, member),
      pool: pool < 0 ? null : entities[pool]!.entityId,
      pool_size: pool < 0 ? null : sizes.get(pool)!,
      offered_questions: offered[member]!,
      answered_share: ratio(answers.answered[member]!, offered[member]!),
      isRetired: entities[member]!.isRetired,
    }
  })
  return { circumstances, pairs: activity.pairs, poolsOfQuestions }
}

type Kept = KeptPairs['kept']

/** Returns 1 for each contested pair: judged, on a settled question. */
function contestedRows({ rowCount, columns }: Kept, questions: readonly TimedQuestion[]): Int32Array {
  const contested = columns.judged.slice(0, rowCount)
  for (let row = 0; row < rowCount; row++) {
    if (!questions[columns.question[row]!]!.isSettled) contested[row] = 0
  }
  return contested
}

/** For each entity, its pairs, its forecasts on settled questions, and its first contested pair. */
interface Activity {
  pairs: Int32Array
  firstContestedMs: Float64Array
  firstMs: Float64Array
  lastMs: Float64Array
}

function activityOf(
  { rowCount, columns }: Kept,
  contested: Int32Array,
  questions: readonly TimedQuestion[],
  entityCount: number,
): Activity {
  const pairs = new Int32Array(entityCount)
  const firstContestedMs = new Float64Array(entityCount).fill(Infinity)
  const firstMs = new Float64Array(entityCount).fill(Infinity)
  const lastMs = new Float64Array(entityCount).fill(-Infinity)
  const { question, entity, first_at, last_at } = columns
  for (let row = 0; row < rowCount; row++) {
    const member = entity[row]!
    const { isSettled, settledAtMs } = questions[question[row]!]!
    pairs[member]! += 1
    if (!isSettled) continue
    firstMs[member] = Math.min(firstMs[member]!, first_at[row]!)
    lastMs[member] = Math.max(lastMs[member]!, last_at[row]!)
    if (contested[row] === 1) firstContestedMs[member] = Math.min(firstContestedMs[member]!, settledAtMs)
  }
  return { pairs, firstContestedMs, firstMs, lastMs }
}

function poolsByQuestion(
  { rowCount, columns: { question, entity } }: Kept,
  contested: Int32Array,
  { kinds, pools }: { kinds: Uint8Array; pools: Int32Array },
  questionCount: number,
): Int32Array[] {
  const found = ENTITY_TYPES.map(() => new Int32Array(questionCount).fill(-1))
  for (let row = 0; row < rowCount; row++) {
    const member = entity[row]!
    if (contested[row] === 1) found[kinds[member]!]![question[row]!] = pools[member]!
  }
  return found
}

/**
 * Counts for each entity the settled questions of its own pool that it answered, and how many of these were
 * not open while it was active (`aside`).
 */
function answersOf(
  { rowCount, columns: { question, entity } }: Kept,
  questions: readonly TimedQuestion[],
  { pairs, lastMs }: Activity,
  isOwn: (member: number, question: number) => boolean,
): { answered: Int32Array; aside: Int32Array } {
  const answered = new Int32Array(pairs.length)
  const aside = new Int32Array(pairs.length)
  for (let row = 0; row < rowCount; row++) {
    const [member, number] = [entity[row]!, question[row]!]
    const { isSettled, openedAtMs } = questions[number]!
    if (!isSettled || !isOwn(member, number)) continue
    answered[member]! += 1
    // It ended after the entity's first forecast, because a forecast on it was made before its end.
    if (openedAtMs > lastMs[member]!) aside[member]! += 1
  }
  return { answered, aside }
}

/**
 * Counts for each entity the settled questions of its pool that were open while it was active; 0 without a
 * pool.
 */
function offeredQuestions(
  pools: Int32Array,
  poolsOfQuestions: readonly Int32Array[],
  questions: readonly TimedQuestion[],
  { firstMs, lastMs, aside }: Pick<Activity, 'firstMs' | 'lastMs'> & { aside: Int32Array },
): Int32Array {
  const offers = new Map(poolsOfQuestions.flatMap((ofQuestion) => [...offersOf(ofQuestion, questions)]))
  return pools.map((pool, member) => {
    if (pool < 0) return 0
    const [first, last] = [firstMs[member]!, lastMs[member]!]
    return offeredOf(offers.get(pool)!, { firstMs: first, lastMs: last, aside: aside[member]! })
  })
}

function sizesOf(pools: Int32Array): Map<number, number> {
  const sizes = new Map<number, number>()
  for (const pool of pools) sizes.set(pool, (sizes.get(pool) ?? 0) + 1)
  return sizes
}

/** The lives of the questions of each pool of a kind. */
function offersOf(ofQuestion: Int32Array, questions: readonly TimedQuestion[]): Map<number, Offer> {
  const pooled = Array.from(ofQuestion.keys()).filter((question) => ofQuestion[question]! >= 0)
  return new Map(
    [...Map.groupBy(pooled, (question) => ofQuestion[question]!)].map(([pool, own]): [number, Offer] => [
      pool,
      {
        opened: Float64Array.from(own, (question) => questions[question]!.openedAtMs).sort(),
        ended: Float64Array.from(own, (question) => questions[question]!.endsAtMs).sort(),
      },
    ]),
  )
}
