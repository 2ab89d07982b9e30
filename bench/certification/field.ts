// A simulated field of voices and judged entities: the service's own sweep, passes, skills and decisions,
// with a rough check in between that spares looks which cannot certify anybody.
import { Rows } from '../../pipeline/engine/rows.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { PAIR_COLUMNS } from '../../pipeline/scoring/pairs.ts'
import { QuestionSweep } from '../../pipeline/scoring/question.ts'
import { certificationOf } from '../../pipeline/scoring/ranking.ts'
import { rounded } from '../../pipeline/scoring/round.ts'
import { type Interval, alphaOf, skillAgainst } from '../../pipeline/scoring/skill.ts'
import {
  FITTED_COLUMNS,
  type Strengths,
  fitStrengths,
  nanoOf,
  standardReference,
  weightOf,
} from '../../pipeline/scoring/strength.ts'
import { type KnownEntity, attemptsOf, voicesOf } from '../../pipeline/scoring/voices.ts'
import { HORIZON_MS, type SimulatedQuestion, columnsOf } from './questions.ts'
import { Record } from './record.ts'

/**
 * Strengths are fitted again once the number of questions has grown by this factor since the last fit, or
 * when an entity is near a certificate.
 */
const GROWTH = 1.1

export type Certified = 'certified' | 'expert'

/** What is published of an entity that its rank and its certificate follow from. */
export interface Judgement {
  title: string
  eligible: boolean
  voice: boolean
  skill: number | null
  skill_interval: Interval | null
}

export class SimulatedField {
  readonly #entities: readonly KnownEntity[]
  readonly #voices: Uint8Array
  readonly #sweep: QuestionSweep
  readonly #pairs = new Rows(PAIR_COLUMNS)
  /** Of voices only: nobody else's pairs change a strength of theirs, or the scale. */
  readonly #fitted = new Rows(FITTED_COLUMNS)
  readonly #records = new Map<number, Record>()
  readonly #firstResolvedMs: Float64Array
  #attempts: (number | null)[] = []
  #questions = 0
  #fittedQuestions = 0
  #strengths: Strengths

  /** `judged` are the numbers of the entities whose certificates and skills are asked for. */
  constructor(entities: readonly KnownEntity[], judged: Iterable<number>) {
    this.#entities = entities
    this.#voices = voicesOf(entities, 'recorded')
    this.#sweep = new QuestionSweep(METHODOLOGY, this.#voices)
    this.#firstResolvedMs = new Float64Array(entities.length).fill(Infinity)
    for (const entity of judged) this.#records.set(entity, new Record())
    this.#strengths = fitStrengths(METHODOLOGY, 0, this.#voices, this.#fitted)
  }

  /** Sweeps a question and keeps its pairs. Questions resolve in the order in which they are asked. */
  ask({ forecasts, outcome, cluster }: SimulatedQuestion): void {
    const number = this.#questions++
    const question = { openedAtMs: 0, closesAtMs: HORIZON_MS, resolvedAtMs: HORIZON_MS, outcome }
    this.#pairs.clear()
    this.#sweep.run(number, question, columnsOf(forecasts), this.#pairs)
    const { columns, rowCount } = this.#pairs
    const { strength, scale } = this.#strengths
    let [weight, weighted] = [0, 0]
    for (let row = 0; row < rowCount; row++) {
      const entity = columns.entity[row]!
      if (this.#firstResolvedMs[entity] === Infinity) {
        this.#firstResolvedMs[entity] = number
        this.#attempts = []
      }
      if (this.#voices[entity] === 0) continue
      const w = weightOf(columns.coverage[row]!)
      weight += w
      weighted += w * strength[entity]!
      const { columns: kept, row: at } = this.#fitted
      kept.question[at] = number
      kept.entity[at] = entity
      kept.weight[at] = w
      kept.brier[at] = nanoOf(columns.brier_part[row]!)
      kept.reference[at] = nanoOf(columns.reference_part[row]!)
      kept.voices[at] = columns.voices[row]!
      this.#fitted.next()
    }
    for (let row = 0; row < rowCount; row++) {
      const entity = columns.entity[row]!
      const record = this.#records.get(entity)
      if (record === undefined || columns.voices[row]! < METHODOLOGY.parameters.contest_voices) continue
      const pair = {
        question: number,
        cluster,
        weight: this.#voices[entity] === 1 ? weightOf(columns.coverage[row]!) : 0,
        own: nanoOf(columns.brier_part[row]!),
        reference: nanoOf(columns.reference_part[row]!),
        crowd: nanoOf(columns.crowd_part[row]!),
      }
      const { reference, weight: ownWeight } = pair
      record.add(pair, standardReference(reference, weight, weighted, ownWeight, strength[entity]!, scale))
    }
  }

  /**
   * Those of the judged that hold a certificate today, or an `expert`'s, with everything fitted anew to
   * decide it.
   */
  certified(wanted: Certified = 'certified'): number[] {
    if (this.#questions < METHODOLOGY.parameters.certified_questions) return []
    if (this.#questions >= GROWTH * this.#fittedQuestions) this.#fit()
    const near = [...this.#records].filter(([entity, record]) => {
      if (record.length < METHODOLOGY.parameters.certified_questions) return false
      const alpha = this.#alphaOf(entity)
      return (
        record.isNear(alpha) &&
        (wanted === 'certified' || (this.#crowd(record, alpha).interval?.lower ?? 0) > 0)
      )
    })
    if (near.length === 0) return []
    return near
      .map(([entity]) => entity)
      .filter((entity) => {
        const { title } = this.judge(entity)
        return title === 'expert' || title === wanted
      })
  }

  /** Decides as a release of today would. */
  judge(entity: number): Judgement {
    if (this.#fittedQuestions < this.#questions) this.#fit()
    const record = this.#records.get(entity)!
    const alpha = this.#alphaOf(entity)
    const standard = this.#standardOf(entity, record)
    const { skill, interval } = skillAgainst(METHODOLOGY, record.errors(), standard, alpha)
    const skill_interval = published(interval)
    const { title } = certificationOf(METHODOLOGY, {
      contested_questions: record.length,
      clusters: record.clusters,
      skill_interval,
      crowd_skill_interval: published(this.#crowd(record, alpha).interval),
      voice_rule: 'recorded',
    })
    return {
      title,
      eligible: record.length >= METHODOLOGY.parameters.eligible_questions,
      voice: this.#voices[entity] === 1,
      skill: skill === null ? null : rounded(skill),
      skill_interval,
    }
  }

  #crowd(record: Record, alpha: number) {
    return skillAgainst(METHODOLOGY, record.errors(), record.crowd(), alpha)
  }

  #alphaOf(entity: number): number {
    if (this.#attempts.length === 0) {
      this.#attempts = attemptsOf(this.#entities, this.#firstResolvedMs).map(({ attempt }) => attempt)
    }
    return alphaOf(METHODOLOGY, this.#attempts[entity]!)
  }

  #standardOf(entity: number, record: Record): Float64Array {
    const { strength, scale, weight, weighted } = this.#strengths
    return record.standard((question, reference, ownWeight) =>
      standardReference(
        reference,
        weight[question]!,
        weighted[question]!,
        ownWeight,
        strength[entity]!,
        scale,
      ),
    )
  }

  #fit(): void {
    this.#strengths = fitStrengths(METHODOLOGY, this.#questions, this.#voices, this.#fitted)
    this.#fittedQuestions = this.#questions
    for (const [entity, record] of this.#records) record.restart(this.#standardOf(entity, record))
  }
}

function published(interval: Interval | null): Interval | null {
  return interval && { ...interval, lower: rounded(interval.lower), upper: rounded(interval.upper) }
}
