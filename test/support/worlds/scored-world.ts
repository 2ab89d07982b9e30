// Scores a whole world in memory with the service's own steps, and no database: sweep, fit, score, rank.
import { KeptPairs, fit, voiceRuleOf } from '../../../pipeline/engine/fit.ts'
import { Rows } from '../../../pipeline/engine/rows.ts'
import type { ScoredEntity } from '../../../pipeline/engine/duckdb-engine.ts'
import { type RankedEntity, rankEntities } from '../../../pipeline/release/payloads.ts'
import { listingOf } from '../../../pipeline/scoring/categories.ts'
import { scoreEntity } from '../../../pipeline/scoring/entity.ts'
import { referenceRows } from '../../../pipeline/release/references.ts'
import { REFERENCE_COLUMNS } from '../../../pipeline/scoring/references.ts'
import type { ReferenceRow } from '../../../schemas/references.ts'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { fromPico } from '../../../pipeline/scoring/round.ts'
import { PAIR_COLUMNS, SCORED_COLUMNS } from '../../../pipeline/scoring/pairs.ts'
import { QuestionSweep, type ResolvedQuestion } from '../../../pipeline/scoring/question.ts'
import { UNIT, nanoOf, standardReference, weightOf } from '../../../pipeline/scoring/strength.ts'
import { type KnownEntity, type Voices, voicesOf } from '../../../pipeline/scoring/voices.ts'
import type { PairMetricName } from '../../../schemas/metrics.ts'
import { spreadOf } from '../../../pipeline/scoring/skill.ts'
import type { PlainPairValues } from '../plain/pair-values.ts'
import type { PlainWorld } from '../plain/world.ts'
import { clusterOf } from '../plain/cluster.ts'
import type { VoiceRule } from '../../../schemas/payloads.ts'
import { ENTITY_TYPES } from '../../../schemas/tables.ts'

export type WorldPair = Record<PairMetricName, number> & {
  entity: string
  question: string
  isSettled: boolean
  settledAtMs: number
  /** The time that it held, from its coverage. */
  heldMs: number
  cluster: string
  /** In whole 1e-9; −1 where the pair is not contested. */
  standard: number
  standardOther: number
}

export interface ScoredWorld {
  voiceRule: VoiceRule
  /** Of each pool by its name: the strength of the median voice before it was set to 1. */
  scales: Map<string, number>
  pairs: WorldPair[]
  entities: RankedEntity[]
  references: ReferenceRow[]
}

/** The agent that was registered first, then the one with the least id. */
function firstOf(agents: PlainWorld['entities']): string {
  const [first] = agents.toSorted((a, b) => a.registered_at_ms - b.registered_at_ms || (a.id < b.id ? -1 : 1))
  return first!.id
}

/** `imported` is 1 where the operator imported the forecasts. */
export function scoreWorld(given: PlainWorld, imported: 0 | 1 = 0): ScoredWorld {
  const asked = given.questions.flatMap((question) => resolved(question, given.as_of_ms))
  const known: KnownEntity[] = given.entities.map(({ id, kind, owner }) => ({
    entityType: kind,
    entityId: id,
    ownerId: owner,
    firstOfOwner: owner === null ? null : firstOf(given.entities.filter((other) => other.owner === owner)),
  }))
  const numbers = new Map(given.entities.map(({ id }, number) => [id, number]))
  // An agent's forecasts come by its own API alone: others count for nothing.
  const agents = new Set(given.entities.filter(({ kind }) => kind === 'agent').map(({ id }) => id))
  const counted = given.forecasts.filter(({ entity, witnessed }) => witnessed || !agents.has(entity))
  const forecasts = Map.groupBy(counted, ({ question }) => question)
  const sweep = (voices: Voices) => {
    const rows = new Rows(PAIR_COLUMNS)
    const kept = new KeptPairs(METHODOLOGY, asked, rows)
    const swept = new QuestionSweep(METHODOLOGY, voices)
    const crowds = asked.map((question, number) => {
      const own = (forecasts.get(question.id) ?? []).toSorted(
        (a, b) => a.at_ms - b.at_ms || (a.forecast_id < b.forecast_id ? -1 : 1),
      )
      const columns = {
        count: own.length,
        entity: Int32Array.from(own, ({ entity }) => numbers.get(entity)!),
        atMs: Float64Array.from(own, ({ at_ms }) => at_ms),
        ppm: Int32Array.from(own, ({ ppm }) => ppm ?? -1),
        imported: new Int32Array(own.length).fill(imported),
        witnessed: Int32Array.from(own, ({ witnessed }) => (witnessed ? 1 : 0)),
      }
      swept.run(number, question, columns, kept)
      return swept.crowd
    })
    return { rows, kept, crowds }
  }
  let voices = voicesOf(known, 'recorded')
  let { rows, kept, crowds } = sweep(voices)
  const voiceRule = voiceRuleOf(METHODOLOGY, voices, asked, kept)
  if (voiceRule === 'everyone') {
    voices = voicesOf(known, voiceRule)
    ;({ rows, kept, crowds } = sweep(voices))
  }
  const { scales, ownStrength, pools, weight, weighted, circumstances } = fit(
    METHODOLOGY,
    known,
    voices,
    asked,
    kept,
  )
  const pairs = Array.from({ length: rows.rowCount }, (_, row): WorldPair & Numbered => {
    const values = Object.entries(rows.columns).map(([name, column]) => [name, column[row]!])
    const pair = Object.fromEntries(values) as Record<PairMetricName | 'entity' | 'question', number>
    const { entity, question } = pair
    const isContested = kept.fitted.columns.contested[row] === 1
    const standardOf = (part: number) =>
      isContested
        ? standardReference(
            nanoOf(part),
            weight[question]!,
            weighted[question]!,
            pair.own_weight,
            ownStrength[entity]!,
            scales[pools.ofQuestion[question]!]!,
          )
        : -1
    const { id, isSettled, settledAtMs, cluster, openedAtMs, closesAtMs } = asked[question]!
    return {
      ...pair,
      entityNumber: entity,
      questionNumber: question,
      entity: given.entities[entity]!.id,
      question: id,
      isSettled,
      settledAtMs,
      heldMs: Math.round(fromPico(pair.coverage) * (closesAtMs - openedAtMs)),
      cluster,
      standard: standardOf(pair.reference_part),
      standardOther: standardOf(pair.reference_other),
    }
  })
  const clusters = [...new Set(asked.map(({ cluster }) => cluster))]
  const categories = [...new Set(asked.flatMap(({ category }) => category || []))].toSorted()
  const byEntity = Map.groupBy(pairs, ({ entityNumber }) => entityNumber)
  const scored = known.map((entity, number): ScoredEntity => {
    const own = (byEntity.get(number) ?? []).toSorted(
      (a, b) => a.settledAtMs - b.settledAtMs || (a.question < b.question ? -1 : 1),
    )
    const block = new Rows(SCORED_COLUMNS)
    for (const pair of own) {
      const { outcome, isSettled, cluster, category } = asked[pair.questionNumber]!
      const values = {
        ...pair,
        entity: number,
        outcome,
        settled: isSettled ? 1 : 0,
        cluster: clusters.indexOf(cluster),
        category: category ? categories.indexOf(category) : -1,
        standard_other: pair.standardOther,
      }
      for (const [name, column] of Object.entries(block.columns)) {
        column[block.row] = values[name as keyof typeof SCORED_COLUMNS]
      }
      block.next()
    }
    const scores = scoreEntity(METHODOLOGY, block, circumstances[number]!)
    const { retired_at_ms: at = null } = given.entities[number]!
    const retiredAtMs = at !== null && at <= given.as_of_ms ? at : null
    return {
      ...entity,
      ...UNTOLD,
      retiredAtMs,
      pairs: own.length,
      scores,
      listing: listingOf(METHODOLOGY, block),
    }
  })
  const entities = ENTITY_TYPES.flatMap((kind) =>
    rankEntities(
      METHODOLOGY,
      voiceRule,
      scored.filter(({ entityType }) => entityType === kind),
    ),
  )
  const named = pools.names.map((name, pool): [string, number] => [
    given.entities[name]!.id,
    scales[pool]! / UNIT,
  ])
  const settled = asked
    .map((question, number) => ({ ...question, number }))
    .filter(({ isSettled }) => isSettled)
    .toSorted((a, b) => a.settledAtMs - b.settledAtMs || (a.id < b.id ? -1 : 1))
  const questions = new Rows(REFERENCE_COLUMNS)
  for (const { number, outcome, openedAtMs, settledAtMs, cluster, category } of settled) {
    const pool = pools.ofQuestion[number]!
    const values: Record<keyof typeof REFERENCE_COLUMNS, number> = {
      outcome,
      opened_ms: openedAtMs,
      settled_ms: settledAtMs,
      cluster: clusters.indexOf(cluster),
      category: category ? categories.indexOf(category) : -1,
      pool: pools.names[pool] ?? -1,
      weight: weight[number]!,
      weighted: weighted[number]!,
      scale: scales[pool] ?? 0,
      ...crowds[number]!,
    }
    for (const [name, column] of Object.entries(questions.columns)) {
      column[questions.row] = values[name as keyof typeof values]
    }
    questions.next()
  }
  const names = {
    pool: (number: number) => given.entities[number]!.id,
    category: (number: number) => categories[number]!,
  }
  const references = referenceRows(METHODOLOGY, questions, names)
  return { voiceRule, scales: new Map(named), pairs, entities, references }
}

/** What no score depends on. */
export const UNTOLD = {
  name: null,
  modelType: null,
  organizationName: null,
  retiredAtMs: null,
  lastForecastAtMs: null,
  openForecasts: 0,
  registeredAtMs: 0,
  nextCloseAtMs: null,
  overdueForecasts: 0,
}

interface AskedQuestion extends ResolvedQuestion {
  id: string
  settledAtMs: number
  cluster: string
  category: string | null
}

/** A question that scores, alone in a list; nothing for any other. */
function resolved(question: PlainWorld['questions'][number], asOfMs: number): AskedQuestion[] {
  const { id, outcome, opened_at_ms: openedAtMs, closes_at_ms: closesAtMs, resolved_at_ms } = question
  if (outcome === null || resolved_at_ms === null) return []
  return [
    {
      id,
      openedAtMs,
      closesAtMs,
      resolvedAtMs: resolved_at_ms,
      outcome,
      isSettled: closesAtMs <= asOfMs,
      settledAtMs: Math.max(closesAtMs, resolved_at_ms),
      cluster: clusterOf(question),
      category: question.category,
    },
  ]
}

/** The values of a pair under the names of the worked values. */
export function valuesOf(pair: WorldPair): Partial<PlainPairValues> {
  const isContested = pair.standard >= 0
  const [B, Y, K] = [nanoOf(pair.brier_part), nanoOf(pair.reference_part), nanoOf(pair.crowd_part)]
  const other = [nanoOf(pair.brier_other), nanoOf(pair.reference_other), nanoOf(pair.crowd_other)] as const
  const spread = (reference: number, otherReference: number) =>
    isContested ? spreadOf(reference - B, otherReference - other[0]) : null
  const { standard: Z, standardOther } = pair
  return {
    settled: pair.isSettled,
    settled_at_ms: pair.isSettled ? pair.settledAtMs : null,
    witnessed: pair.witnessed === 1,
    contested: isContested,
    held: pair.heldMs,
    coverage: fromPico(pair.coverage),
    brier: fromPico(pair.brier),
    reference_brier: fromPico(pair.reference_brier),
    crowd_brier: fromPico(pair.crowd_brier),
    cluster: pair.cluster,
    voices: pair.voices,
    closing: pair.closing_probability < 0 ? null : pair.closing_probability,
    conviction: fromPico(pair.conviction),
    w: weightOf(pair.coverage),
    B,
    Y,
    K,
    "B'": other[0],
    "Y'": other[1],
    "K'": other[2],
    Z: isContested ? Z : null,
    "Z'": isContested ? standardOther : null,
    X: isContested ? Z - B : null,
    "X'": isContested ? standardOther - other[0] : null,
    f: spread(Z, standardOther),
    strict_f: spread(Math.min(Z, Y), Math.min(standardOther, other[1])),
    crowd_f: spread(K, other[2]),
  }
}

interface Numbered {
  entityNumber: number
  questionNumber: number
}
