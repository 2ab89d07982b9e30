// A simulated field of voices and judged entities: the service's own sweep, fit, scores and decisions, with a
// rough check in between that spares looks which cannot certify anyone.
import { type Fit, KeptPairs, fit } from '../../pipeline/engine/fit.ts'
import { Rows } from '../../pipeline/engine/rows.ts'
import { publishedForm } from '../../pipeline/release/payloads.ts'
import { type EntityScores, scoreEntity } from '../../pipeline/scoring/entity.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { PAIR_COLUMNS } from '../../pipeline/scoring/pairs.ts'
import { QuestionSweep } from '../../pipeline/scoring/question.ts'
import { certificationOf } from '../../pipeline/scoring/ranking.ts'
import { alphaOf } from '../../pipeline/scoring/skill.ts'
import { UNIT, standardReference, weightOf } from '../../pipeline/scoring/strength.ts'
import { type KnownEntity, type Voices, isVoice, voicesOf } from '../../pipeline/scoring/voices.ts'
import type { Certification } from '../../schemas/payloads.ts'
import { HORIZON_MS, type SimulatedQuestion, columnsOf } from './questions.ts'
import { Record, type Standard } from './record.ts'

/**
 * Strengths are fitted again once the number of questions has grown by this factor since the last fit, or
 * when an entity is near a certificate.
 */
const GROWTH = 1.2

/**
 * The lower end of an interval is moved by the next fit by up to this many standard errors, times the root of
 * the share of new questions.
 */
const SLACK = 1.7

export type Certified = 'certified' | 'expert'

/** The published numbers of an entity, and its certificate. */
export interface Judgement extends EntityScores {
  title: Certification
}

export class SimulatedField {
  readonly #entities: readonly KnownEntity[]
  readonly #voices: Voices
  readonly #sweep: QuestionSweep
  readonly #pairs = new Rows(PAIR_COLUMNS)
  /** They are settled in the order in which they are asked. */
  readonly #questions: { closesAtMs: number; resolvedAtMs: number; isSettled: boolean }[] = []
  readonly #kept: KeptPairs
  readonly #records = new Map<number, Record>()
  #fit: Fit | undefined
  #fittedQuestions = 0

  /** `judged` are the numbers of the entities whose certificates and skills are asked for. */
  constructor(entities: readonly KnownEntity[], judged: Iterable<number>) {
    this.#entities = entities
    this.#voices = voicesOf(entities, 'recorded')
    this.#sweep = new QuestionSweep(METHODOLOGY, this.#voices)
    this.#kept = new KeptPairs(METHODOLOGY, this.#questions, this.#pairs)
    for (const entity of judged) this.#records.set(entity, new Record())
  }

  /** Sweeps a question and keeps its pairs. Questions that are not settled come last. */
  ask({ forecasts, resolvedAtMs = HORIZON_MS, isSettled = true, ...known }: SimulatedQuestion): void {
    const number = this.#questions.length
    this.#questions.push({ closesAtMs: number, resolvedAtMs: number, isSettled })
    const question = {
      openedAtMs: 0,
      closesAtMs: HORIZON_MS,
      resolvedAtMs,
      outcome: known.outcome,
      isSettled,
    }
    const { fitted } = this.#kept
    const before = fitted.rowCount
    this.#pairs.clear()
    this.#sweep.run(number, question, columnsOf(forecasts), this.#kept)
    const { columns, rowCount } = this.#pairs
    let [weight, weighted] = [0, 0]
    for (let row = 0; row < rowCount; row++) {
      const entity = columns.entity[row]!
      if (!isVoice(this.#voices, entity)) continue
      const w = weightOf(columns.coverage[row]!)
      weight += w
      weighted += w * (this.#fit?.strength[entity] ?? UNIT)
    }
    for (let row = 0; row < rowCount; row++) {
      const entity = columns.entity[row]!
      const record = this.#records.get(entity)
      if (record === undefined) continue
      const ownStrength = this.#fit?.ownStrength[entity] || UNIT
      const scale = this.#fit?.scales[this.#fit.pools.ofEntity[entity]!] ?? UNIT
      const standard: Standard = (_, part, ownWeight) =>
        standardReference(part, weight, weighted, ownWeight, ownStrength, scale)
      const isContested = fitted.columns.contested[before + row] === 1
      record.add(this.#pairs, row, { ...known, isSettled }, isContested ? standard : undefined)
    }
  }

  /** Those of the judged that hold a certificate today, or an expert's, with everything fitted anew. */
  certified(wanted: Certified = 'certified'): number[] {
    if (this.#questions.length < METHODOLOGY.parameters.certified_questions) return []
    if (this.#questions.length >= GROWTH * this.#fittedQuestions) this.#fitted()
    const slack = SLACK * Math.sqrt(this.#questions.length / this.#fittedQuestions - 1)
    const near = [...this.#records].filter(([entity, record]) =>
      record.isNear(alphaOf(METHODOLOGY, this.#fit!.circumstances[entity]!.attempt), wanted, slack),
    )
    return near
      .map(([entity]) => entity)
      .filter((entity) => {
        const { title } = this.judge(entity)
        return title === 'expert' || title === wanted
      })
  }

  /** Decides as a release of today would. */
  judge(entity: number): Judgement {
    const { circumstances } = this.#fitted()
    const { pairs } = this.#records.get(entity)!
    const scores = publishedForm(scoreEntity(METHODOLOGY, pairs, circumstances[entity]!))
    return { ...scores, title: certificationOf(METHODOLOGY, { ...scores, voice_rule: 'recorded' }).title }
  }

  #fitted(): Fit {
    if (this.#fit !== undefined && this.#fittedQuestions === this.#questions.length) return this.#fit
    const found = fit(METHODOLOGY, this.#entities, this.#voices, this.#questions, this.#kept)
    const { weight, weighted, ownStrength, scales, pools } = found
    for (const [entity, record] of this.#records) {
      record.restart((question, part, ownWeight) =>
        standardReference(
          part,
          weight[question]!,
          weighted[question]!,
          ownWeight,
          ownStrength[entity]!,
          scales[pools.ofQuestion[question]!]!,
        ),
      )
    }
    this.#fittedQuestions = this.#questions.length
    this.#fit = found
    return found
  }
}
