// A simulated world of voices and judged entities: the service's own sweep, scores and titles, with running
// sums in between that spare looks which cannot certify anyone.
import { Rows } from '../../pipeline/engine/rows.ts'
import { publishedForm } from '../../pipeline/release/payloads.ts'
import { type EntityScores, scoreEntity } from '../../pipeline/scoring/entity.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { PAIR_COLUMNS } from '../../pipeline/scoring/pairs.ts'
import { QuestionSweep } from '../../pipeline/scoring/question.ts'
import { alphaOf } from '../../pipeline/scoring/skill.ts'
import { decideTitle } from '../../pipeline/scoring/title.ts'
import {
  type Attempt,
  type KnownEntity,
  attemptsOf,
  isVoice,
  voicesOf,
} from '../../pipeline/scoring/voices.ts'
import type { Title } from '../../schemas/payloads.ts'
import { HORIZON_MS, type SimulatedQuestion, columnsOf } from './questions.ts'
import { Record } from './record.ts'

/** As many close in each week. */
export const QUESTIONS_A_WEEK = 14

/** The published numbers of an entity, and its title. */
export interface Judgement extends EntityScores {
  title: Title
}

export class SimulatedField {
  readonly #entities: readonly KnownEntity[]
  readonly #voices: Int32Array
  readonly #sweep: QuestionSweep
  readonly #pairs = new Rows(PAIR_COLUMNS)
  #asked = 0
  readonly #settlements: { pairs: Int32Array; firstContestedMs: Float64Array }
  #attempts: Attempt[] | undefined
  readonly #records = new Map<number, Record>()

  /** `judged` are the numbers of the entities whose titles and skills are asked for. */
  constructor(entities: readonly KnownEntity[], judged: Iterable<number>) {
    this.#entities = entities
    this.#voices = voicesOf(entities, 'recorded')
    this.#sweep = new QuestionSweep(METHODOLOGY, this.#voices)
    this.#settlements = {
      pairs: new Int32Array(entities.length),
      firstContestedMs: new Float64Array(entities.length).fill(Infinity),
    }
    for (const entity of judged) this.#records.set(entity, new Record())
  }

  /** Sweeps a question and keeps its pairs. Questions that are not settled come last. */
  ask({ forecasts, resolvedAtMs = HORIZON_MS, isSettled = true, week, ...known }: SimulatedQuestion): void {
    const number = this.#asked
    this.#asked += 1
    const life = {
      openedAtMs: 0,
      closesAtMs: HORIZON_MS,
      endsAtMs: Math.min(HORIZON_MS, resolvedAtMs),
      divisor: 1,
    }
    this.#pairs.clear()
    this.#sweep.run(number, { ...life, outcome: known.outcome }, columnsOf(forecasts), this.#pairs)
    const { columns, rowCount } = this.#pairs
    const { pairs, firstContestedMs } = this.#settlements
    const question = { ...known, number, isSettled, week: week ?? Math.floor(number / QUESTIONS_A_WEEK) }
    for (let row = 0; row < rowCount; row++) {
      const entity = columns.entity[row]!
      if (pairs[entity] === 0) this.#attempts = undefined
      pairs[entity]! += 1
      if (isSettled && columns.judged[row] === 1 && firstContestedMs[entity] === Infinity) {
        firstContestedMs[entity] = number
        this.#attempts = undefined
      }
      this.#records.get(entity)?.add(this.#pairs, row, question)
    }
  }

  /** Those of the judged that are certified today. */
  certified(): number[] {
    const attempts = this.#attemptsNow()
    return [...this.#records]
      .filter(([entity, record]) => record.isNear(alphaOf(METHODOLOGY, attempts[entity]!.attempt)))
      .map(([entity]) => entity)
      .filter((entity) => this.judge(entity).title === 'certified')
  }

  /** Decides as a release of today would. */
  judge(entity: number): Judgement {
    const { pairs } = this.#records.get(entity)!
    const circumstances = {
      ...this.#attemptsNow()[entity]!,
      voice: isVoice(this.#voices, entity),
      pool: '',
      pool_size: 0,
      offered_questions: 0,
      answered_share: null,
      isRetired: false,
    }
    const scores = publishedForm(scoreEntity(METHODOLOGY, pairs, circumstances))
    return { ...scores, title: decideTitle(METHODOLOGY, { ...scores, voice_rule: 'recorded' }).title }
  }

  #attemptsNow(): Attempt[] {
    this.#attempts ??= attemptsOf(this.#entities, this.#settlements)
    return this.#attempts
  }
}
