// Scores a whole world in memory with the service's own steps, and no database: sweep, fit, score, rank.
import { KeptPairs, fit, voiceRuleOf } from '../../../pipeline/engine/fit.ts'
import { Rows } from '../../../pipeline/engine/rows.ts'
import type { ScoredEntity } from '../../../pipeline/engine/duckdb-engine.ts'
import { type RankedEntity, rankEntities } from '../../../pipeline/release/payloads.ts'
import { scoreEntity } from '../../../pipeline/scoring/entity.ts'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { PAIR_COLUMNS, SCORED_COLUMNS } from '../../../pipeline/scoring/pairs.ts'
import { QuestionSweep, type ResolvedQuestion } from '../../../pipeline/scoring/question.ts'
import { UNIT, nanoOf, standardReference, weightOf } from '../../../pipeline/scoring/strength.ts'
import { type KnownEntity, voicesOf } from '../../../pipeline/scoring/voices.ts'
import type { PairMetricName } from '../../../schemas/metrics.ts'
import type { VoiceRule } from '../../../schemas/payloads.ts'
import { ENTITY_TYPES } from '../../../schemas/tables.ts'
import type { PlainWorld } from '../plain/world.ts'

export type WorldPair = Record<PairMetricName, number> & {
  entity: string
  question: string
  /** In whole 1e-9; −1 where the pair is not contested. */
  standard: number
}

export interface ScoredWorld {
  voiceRule: VoiceRule
  /** The strength of the median voice before it was set to 1. */
  scale: number
  pairs: WorldPair[]
  entities: RankedEntity[]
}

/** `imported` is 1 where the operator imported the forecasts. */
export function scoreWorld(given: PlainWorld, imported: 0 | 1 = 0): ScoredWorld {
  const world = { ...given, questions: given.questions.flatMap(resolved) }
  const known: KnownEntity[] = world.entities.map(({ id, kind, owner, registered_at_ms }) => ({
    entityType: kind,
    entityId: id,
    ownerId: owner,
    registeredAtMs: registered_at_ms,
  }))
  const numbers = new Map(world.entities.map(({ id }, number) => [id, number]))
  const questions: ResolvedQuestion[] = world.questions.map((question) => ({
    openedAtMs: question.opened_at_ms,
    closesAtMs: question.closes_at_ms,
    resolvedAtMs: question.resolved_at_ms,
    outcome: question.outcome,
  }))
  const forecasts = Map.groupBy(world.forecasts.map(numbered), ([, question]) => question)
  const sweep = (voices: Uint8Array) => {
    const rows = new Rows(PAIR_COLUMNS)
    const kept = new KeptPairs(rows)
    const swept = new QuestionSweep(METHODOLOGY, voices)
    world.questions.forEach(({ id }, number) => {
      const own = (forecasts.get(id) ?? []).toSorted((a, b) => a[2] - b[2] || (a[4] < b[4] ? -1 : 1))
      const columns = {
        count: own.length,
        entity: Int32Array.from(own, ([entity]) => numbers.get(entity)!),
        atMs: Float64Array.from(own, ([, , at]) => at),
        ppm: Int32Array.from(own, ([, , , ppm]) => ppm),
        imported: new Int32Array(own.length).fill(imported),
      }
      swept.run(number, questions[number]!, columns, kept)
    })
    return { rows, kept }
  }
  let voices = voicesOf(known, 'recorded')
  let { rows, kept } = sweep(voices)
  const voiceRule = voiceRuleOf(METHODOLOGY, voices, kept)
  if (voiceRule === 'everyone') {
    voices = voicesOf(known, voiceRule)
    ;({ rows, kept } = sweep(voices))
  }
  const { scale, strength, weight, weighted, circumstances } = fit(
    METHODOLOGY,
    known,
    voices,
    questions,
    kept,
  )
  const pairs = Array.from({ length: rows.rowCount }, (_, row): WorldPair & Numbered => {
    const values = Object.entries(rows.columns).map(([name, column]) => [name, column[row]!])
    const pair = Object.fromEntries(values) as Record<PairMetricName | 'entity' | 'question', number>
    const { entity, question } = pair
    const own = voices[entity] === 1 ? weightOf(pair.coverage) : 0
    const isContested = pair.voices >= METHODOLOGY.parameters.contest_voices
    const reference = nanoOf(pair.reference_part)
    return {
      ...pair,
      entityNumber: entity,
      questionNumber: question,
      entity: world.entities[entity]!.id,
      question: world.questions[question]!.id,
      standard: isContested
        ? standardReference(reference, weight[question]!, weighted[question]!, own, strength[entity]!, scale)
        : -1,
    }
  })
  const clusters = [...new Set(world.questions.map(({ cluster }) => cluster))]
  const byEntity = Map.groupBy(pairs, ({ entityNumber }) => entityNumber)
  const scored = known.map((entity, number): ScoredEntity => {
    const own = (byEntity.get(number) ?? []).toSorted((a, b) => {
      const [first, second] = [world.questions[a.questionNumber]!, world.questions[b.questionNumber]!]
      return first.resolved_at_ms - second.resolved_at_ms || (first.id < second.id ? -1 : 1)
    })
    const block = new Rows(SCORED_COLUMNS)
    for (const pair of own) {
      const { outcome, cluster } = world.questions[pair.questionNumber]!
      const values = { ...pair, entity: number, outcome, cluster: clusters.indexOf(cluster) }
      for (const [name, column] of Object.entries(block.columns)) {
        column[block.row] = values[name as keyof typeof SCORED_COLUMNS]
      }
      block.next()
    }
    const scores = scoreEntity(METHODOLOGY, block, circumstances[number]!)
    return { ...entity, ...UNTOLD, pairs: own.length, scores }
  })
  const entities = ENTITY_TYPES.flatMap((kind) =>
    rankEntities(
      METHODOLOGY,
      voiceRule,
      scored.filter(({ entityType }) => entityType === kind),
    ),
  )
  return { voiceRule, scale: scale / UNIT, pairs, entities }
}

/** What no score depends on. */
export const UNTOLD = {
  name: null,
  modelType: null,
  organizationName: null,
  retiredAtMs: null,
  lastForecastAtMs: null,
  openForecasts: 0,
  nextCloseAtMs: null,
}

type Question = PlainWorld['questions'][number]

/** A question that scores, alone in a list; nothing for any other. */
function resolved(question: Question): (Question & { outcome: 0 | 1; resolved_at_ms: number })[] {
  const { outcome, resolved_at_ms } = question
  return outcome === null || resolved_at_ms === null ? [] : [{ ...question, outcome, resolved_at_ms }]
}

/** A forecast with its id: without one of its own, its place in the list. */
function numbered(
  [entity, question, atMs, ppm, id]: PlainWorld['forecasts'][number],
  place: number,
): [string, string, number, number, string] {
  return [entity, question, atMs, ppm, id ?? String(place).padStart(9, '0')]
}

interface Numbered {
  entityNumber: number
  questionNumber: number
}
