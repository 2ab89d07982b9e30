// The step between sweep and score: keeps in memory what strengths are fitted to, 24 bytes a pair, and finds
// out what every entity's scores depend on beside its own pairs.
import type { Block, ColumnKinds, Columns, RowSink } from '../../schemas/columns.ts'
import type { VoiceRule } from '../../schemas/payloads.ts'
import type { Circumstances } from '../scoring/entity.ts'
import type { Methodology } from '../scoring/methodology.ts'
import type { PAIR_COLUMNS } from '../scoring/pairs.ts'
import type { ResolvedQuestion } from '../scoring/question.ts'
import { FITTED_COLUMNS, type Strengths, fitStrengths, nanoOf, weightOf } from '../scoring/strength.ts'
import { type KnownEntity, attemptsOf } from '../scoring/voices.ts'
import { Rows } from './rows.ts'

/** The columns of a pair that what is fitted comes from. */
export const KEPT_COLUMNS = {
  question: 'int32',
  entity: 'int32',
  coverage: 'double',
  brier_part: 'double',
  reference_part: 'double',
  voices: 'int32',
} as const satisfies ColumnKinds

/** Passes the pairs of a sweep on, and keeps of each what is fitted. */
export class KeptPairs implements RowSink<typeof PAIR_COLUMNS> {
  readonly #sink: RowSink<typeof PAIR_COLUMNS>
  readonly fitted = new Rows(FITTED_COLUMNS)

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
    kept.voices[at] = columns.voices[row]!
    this.fitted.next()
  }
}

/**
 * The rule for a release, from the pairs of a sweep with the recorded voices: everyone where too few of these
 * were scored.
 */
export function voiceRuleOf(
  { parameters }: Methodology,
  voices: Uint8Array,
  { fitted }: KeptPairs,
): VoiceRule {
  const scored = new Set<number>()
  for (const entity of fitted.columns.entity.subarray(0, fitted.rowCount)) {
    if (voices[entity] === 1) scored.add(entity)
    if (scored.size === parameters.least_voices) return 'recorded'
  }
  return 'everyone'
}

export interface Fit extends Strengths {
  /** Of each entity. */
  circumstances: Circumstances[]
  /** The number of questions that each entity is scored on. */
  pairs: Int32Array
}

export function fit(
  methodology: Methodology,
  entities: readonly KnownEntity[],
  voices: Uint8Array,
  questions: readonly Pick<ResolvedQuestion, 'resolvedAtMs'>[],
  { fitted }: KeptPairs,
): Fit {
  const strengths = fitStrengths(methodology, questions.length, voices, fitted)
  const pairs = new Int32Array(entities.length)
  const firstResolvedMs = new Float64Array(entities.length).fill(Infinity)
  const { question, entity } = fitted.columns
  for (let row = 0; row < fitted.rowCount; row++) {
    pairs[entity[row]!]! += 1
    const { resolvedAtMs } = questions[question[row]!]!
    firstResolvedMs[entity[row]!] = Math.min(firstResolvedMs[entity[row]!]!, resolvedAtMs)
  }
  const circumstances = attemptsOf(entities, firstResolvedMs).map((attempt, member) => ({
    ...attempt,
    strength: strengths.strength[member]!,
    voice: voices[member] === 1,
  }))
  return { ...strengths, circumstances, pairs }
}
