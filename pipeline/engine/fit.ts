// The step between sweep and score: keeps in memory what strengths are fitted to, 28 bytes a pair, and finds
// out what every entity's scores depend on beside its own pairs.
import type { Block, ColumnKinds, Columns, RowSink } from '../../schemas/columns.ts'
import type { VoiceRule } from '../../schemas/payloads.ts'
import type { Circumstances } from '../scoring/entity.ts'
import type { Methodology } from '../scoring/methodology.ts'
import type { PAIR_COLUMNS } from '../scoring/pairs.ts'
import type { ResolvedQuestion } from '../scoring/question.ts'
import { FITTED_COLUMNS, type Strengths, fitStrengths, nanoOf, weightOf } from '../scoring/strength.ts'
import { type KnownEntity, type Voices, attemptsOf, isVoice } from '../scoring/voices.ts'
import { Rows } from './rows.ts'

/** The columns of a pair that what is fitted comes from. */
export const KEPT_COLUMNS = {
  question: 'int32',
  entity: 'int32',
  coverage: 'double',
  brier_part: 'double',
  reference_part: 'double',
  voices: 'int32',
  own_weight: 'int32',
  in_time: 'int32',
} as const satisfies ColumnKinds

/** Passes the pairs of a sweep on, and keeps of each what is fitted. */
export class KeptPairs implements RowSink<typeof PAIR_COLUMNS> {
  readonly #sink: RowSink<typeof PAIR_COLUMNS>
  readonly #contestVoices: number
  readonly #questions: readonly Pick<ResolvedQuestion, 'isSettled'>[]
  readonly fitted = new Rows(FITTED_COLUMNS)

  constructor(
    { parameters }: Methodology,
    questions: readonly Pick<ResolvedQuestion, 'isSettled'>[],
    sink: RowSink<typeof PAIR_COLUMNS>,
  ) {
    this.#contestVoices = parameters.contest_voices
    this.#questions = questions
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

  /** Keeps what is fitted of pairs that need not be passed on. */
  take({ rowCount, columns }: Block<typeof KEPT_COLUMNS>): void {
    for (let row = 0; row < rowCount; row++) this.#keep(columns, row)
  }

  #keep(columns: Pick<Columns<typeof PAIR_COLUMNS>, keyof typeof KEPT_COLUMNS>, row: number): void {
    const { columns: kept, row: at } = this.fitted
    kept.question[at] = columns.question[row]!
    kept.entity[at] = columns.entity[row]!
    kept.weight[at] = weightOf(columns.coverage[row]!)
    kept.brier[at] = nanoOf(columns.brier_part[row]!)
    kept.reference[at] = nanoOf(columns.reference_part[row]!)
    kept.own_weight[at] = columns.own_weight[row]!
    const { isSettled } = this.#questions[columns.question[row]!]!
    const isContested = isSettled && columns.in_time[row] === 1 && columns.voices[row]! >= this.#contestVoices
    kept.contested[at] = isContested ? 1 : 0
    this.fitted.next()
  }
}

/**
 * The rule for a release, from the pairs of a sweep with the recorded voices: everyone where too few of these
 * have a settled pair.
 */
export function voiceRuleOf(
  { parameters }: Methodology,
  voices: Voices,
  questions: readonly Pick<ResolvedQuestion, 'isSettled'>[],
  { fitted }: KeptPairs,
): VoiceRule {
  const scored = new Set<number>()
  const { question, entity } = fitted.columns
  for (let row = 0; row < fitted.rowCount; row++) {
    const member = entity[row]!
    if (isVoice(voices, member) && questions[question[row]!]!.isSettled) scored.add(member)
    if (scored.size === parameters.least_voices) return 'recorded'
  }
  return 'everyone'
}

export interface Fit extends Strengths {
  /** Of each entity. */
  circumstances: Circumstances[]
  /** The number of questions that each entity has a pair on. */
  pairs: Int32Array
}

export function fit(
  methodology: Methodology,
  entities: readonly KnownEntity[],
  voices: Voices,
  questions: readonly Pick<ResolvedQuestion, 'closesAtMs' | 'resolvedAtMs'>[],
  { fitted }: KeptPairs,
): Fit {
  const ids = entities.map(({ entityId }) => entityId)
  const strengths = fitStrengths(methodology, questions.length, { voices, ids }, fitted)
  const pairs = new Int32Array(entities.length)
  const firstContestedMs = new Float64Array(entities.length).fill(Infinity)
  const { question, entity, contested } = fitted.columns
  for (let row = 0; row < fitted.rowCount; row++) {
    const member = entity[row]!
    const { closesAtMs, resolvedAtMs } = questions[question[row]!]!
    pairs[member]! += 1
    if (contested[row] !== 1) continue
    const settledAtMs = Math.max(closesAtMs, resolvedAtMs)
    firstContestedMs[member] = Math.min(firstContestedMs[member]!, settledAtMs)
  }
  const { pools, strength } = strengths
  const sizes = new Int32Array(pools.names.length)
  for (const pool of pools.ofEntity) if (pool >= 0) sizes[pool]! += 1
  const circumstances = attemptsOf(entities, { pairs, firstContestedMs }).map((attempt, member) => {
    const pool = pools.ofEntity[member]!
    return {
      ...attempt,
      strength: strength[member]!,
      voice: isVoice(voices, member),
      pool: pool < 0 ? null : ids[pools.names[pool]!]!,
      pool_size: pool < 0 ? null : sizes[pool]!,
    }
  })
  return { ...strengths, circumstances, pairs }
}
