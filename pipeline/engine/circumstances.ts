// The step between sweep and score: keeps of each pair who met whom and when, and finds out from it what the
// scores of an entity depend on beside its own pairs.
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

/** The facts of a question that circumstances depend on. */
export interface AskedQuestion {
  openedAtMs: number
  endsAtMs: number
  settledAtMs: number
  isSettled: boolean
}

/** Passes the pairs of a sweep on, and keeps of each what circumstances depend on. */
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

  /** Keeps what is needed of pairs that need not be passed on. */
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
 * The rule for a release, from the pairs of a sweep with the recorded voices: everyone where too few of these
 * have a settled pair.
 */
export function voiceRuleOf(
  { parameters }: Methodology,
  voices: Voices,
  questions: readonly Pick<AskedQuestion, 'isSettled'>[],
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
  /** Of each entity. */
  circumstances: Circumstances[]
  /** The number of questions that each entity has a pair on. */
  pairs: Int32Array
  /**
   * For each kind of entity the pool of each question by the entity that names it, −1 where nobody is
   * contested.
   */
  poolsOfQuestions: readonly Int32Array[]
}

export function circumstancesOf(
  entities: readonly MetEntity[],
  voices: Voices,
  questions: readonly AskedQuestion[],
  { kept }: KeptPairs,
): Met {
  const { rowCount, columns } = kept
  const { question, entity, judged, first_at, last_at } = columns
  const kinds = Uint8Array.from(entities, ({ entityType }) => ENTITY_TYPES.indexOf(entityType))
  const contested = judged.slice(0, rowCount)
  for (let row = 0; row < rowCount; row++) {
    if (!questions[question[row]!]!.isSettled) contested[row] = 0
  }
  const pools = poolsOf(questions.length, kinds, { rowCount, columns: { question, entity, contested } })
  const poolsOfQuestions = ENTITY_TYPES.map(() => new Int32Array(questions.length).fill(-1))
  const pairs = new Int32Array(entities.length)
  const firstContestedMs = new Float64Array(entities.length).fill(Infinity)
  const firstMs = new Float64Array(entities.length).fill(Infinity)
  const lastMs = new Float64Array(entities.length).fill(-Infinity)
  for (let row = 0; row < rowCount; row++) {
    const [member, asked] = [entity[row]!, question[row]!]
    const { isSettled, settledAtMs } = questions[asked]!
    pairs[member]! += 1
    if (!isSettled) continue
    firstMs[member] = Math.min(firstMs[member]!, first_at[row]!)
    lastMs[member] = Math.max(lastMs[member]!, last_at[row]!)
    if (contested[row] !== 1) continue
    poolsOfQuestions[kinds[member]!]![asked] = pools[member]!
    firstContestedMs[member] = Math.min(firstContestedMs[member]!, settledAtMs)
  }
  const answered = new Int32Array(entities.length)
  const aside = new Int32Array(entities.length)
  for (let row = 0; row < rowCount; row++) {
    const [member, asked] = [entity[row]!, question[row]!]
    const { isSettled, openedAtMs, endsAtMs } = questions[asked]!
    if (!isSettled || pools[member]! < 0 || poolsOfQuestions[kinds[member]!]![asked] !== pools[member])
      continue
    answered[member]! += 1
    if (openedAtMs > lastMs[member]! || endsAtMs <= firstMs[member]!) aside[member]! += 1
  }
  const offers = new Map(poolsOfQuestions.flatMap((ofQuestion) => [...offersOf(ofQuestion, questions)]))
  const sizes = new Map<number, number>()
  for (const pool of pools) sizes.set(pool, (sizes.get(pool) ?? 0) + 1)
  const circumstances = attemptsOf(entities, { pairs, firstContestedMs }).map(
    (attempt, member): Circumstances => {
      const pool = pools[member]!
      const isIn = pool >= 0
      const offered = isIn
        ? offeredOf(offers.get(pool)!, {
            firstMs: firstMs[member]!,
            lastMs: lastMs[member]!,
            aside: aside[member]!,
          })
        : 0
      return {
        ...attempt,
        voice: isVoice(voices, member),
        pool: isIn ? entities[pool]!.entityId : null,
        pool_size: isIn ? sizes.get(pool)! : null,
        offered_questions: offered,
        answered_share: ratio(answered[member]!, offered),
        isRetired: entities[member]!.isRetired,
      }
    },
  )
  return { circumstances, pairs, poolsOfQuestions }
}

/** The lives of the questions of each pool of a kind. */
function offersOf(ofQuestion: Int32Array, questions: readonly AskedQuestion[]): Map<number, Offer> {
  const asked = Array.from(ofQuestion.keys()).filter((question) => ofQuestion[question]! >= 0)
  return new Map(
    [...Map.groupBy(asked, (question) => ofQuestion[question]!)].map(([pool, own]): [number, Offer] => [
      pool,
      {
        opened: Float64Array.from(own, (question) => questions[question]!.openedAtMs).sort(),
        ended: Float64Array.from(own, (question) => questions[question]!.endsAtMs).sort(),
      },
    ]),
  )
}
