// Scores a whole world in memory with the service's own steps, and no database: sweep, circumstances, score,
// rank.
import {
  type TimedQuestion,
  KeptPairs,
  circumstancesOf,
  voiceRuleOf,
} from '../../../pipeline/engine/circumstances.ts'
import type { ScoredEntity } from '../../../pipeline/engine/duckdb-engine.ts'
import { Rows } from '../../../pipeline/engine/rows.ts'
import { type RankedEntity, rankEntities } from '../../../pipeline/release/payloads.ts'
import { referenceRows } from '../../../pipeline/release/files/references.ts'
import { listingOf } from '../../../pipeline/scoring/categories.ts'
import { scoreEntity } from '../../../pipeline/scoring/entity.ts'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { JOINTS, PAIR_COLUMNS, SCORED_COLUMNS } from '../../../pipeline/scoring/pairs.ts'
import { QuestionSweep, type ResolvedQuestion } from '../../../pipeline/scoring/question.ts'
import { REFERENCE_COLUMNS } from '../../../pipeline/scoring/references.ts'
import { fromPico } from '../../../pipeline/scoring/round.ts'
import { spreadOf } from '../../../pipeline/scoring/skill.ts'
import { REFERENCE_SCORE_NAMES } from '../../../pipeline/scoring/swept-references.ts'
import { type KnownEntity, type Voices, voicesOf } from '../../../pipeline/scoring/voices.ts'
import type { HeldFacts } from '../../../schemas/entity-facts.ts'
import type { ColumnKinds } from '../../../schemas/columns.ts'
import type { PairMetricName } from '../../../schemas/metrics.ts'
import type { VoiceRule } from '../../../schemas/payloads.ts'
import type { ReferenceRow } from '../../../schemas/references.ts'
import { ENTITY_TYPES } from '../../../schemas/tables.ts'
import { type Asked, askedOf } from '../plain/asked.ts'
import type { PairValues, World } from '../plain/world.ts'

export type WorldPair = Record<PairMetricName, number> & { entity: string; question: string; asked: Asked }

export interface ScoredWorld {
  voiceRule: VoiceRule
  pairs: WorldPair[]
  entities: RankedEntity[]
  references: ReferenceRow[]
}

type Question = Asked & ResolvedQuestion & TimedQuestion

export function scoreWorld(given: World): ScoredWorld {
  // Entities are numbered by kind and id, as the database does it.
  const records = given.entities.toSorted(
    (a, b) => ENTITY_TYPES.indexOf(a.kind) - ENTITY_TYPES.indexOf(b.kind) || (a.id < b.id ? -1 : 1),
  )
  const known = records.map(({ id, kind, owner, retired_at_ms: retiredAtMs = null }) => ({
    entityType: kind,
    entityId: id,
    ownerId: owner,
    firstOfOwner: owner === null || owner.startsWith('domain:') ? null : firstOf(records, owner),
    isRetired: retiredAtMs !== null && retiredAtMs <= given.as_of_ms,
  }))
  const asked = askedOf(given.questions, given.events, given.as_of_ms)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map((one): Question => ({ ...one, closesAtMs: one.openedAtMs + one.lifeMs, endsAtMs: one.endMs }))
  const { voices, voiceRule, rows, kept, referenceScores } = swept(given, known, asked)
  const { circumstances, poolsOfQuestions } = circumstancesOf(known, voices, asked, kept)
  const factsOf = factsIn(asked)
  const pairs = Array.from({ length: rows.rowCount }, (_, row) => {
    const values = Object.entries(rows.columns).map(([name, column]) => [name, column[row]!])
    return Object.fromEntries(values) as Record<keyof typeof PAIR_COLUMNS, number>
  })
  const byEntity = Map.groupBy(pairs, ({ entity }) => entity)
  const inOrder = (a: number, b: number) => asked[a]!.settledAtMs - asked[b]!.settledAtMs || a - b
  const scored = known.map((entity, number): ScoredEntity => {
    const own = (byEntity.get(number) ?? []).toSorted((a, b) => inOrder(a.question, b.question))
    const block = blockOf(
      SCORED_COLUMNS,
      own.map((pair) => ({ ...pair, ...factsOf(pair.question) })),
    )
    return {
      ...entity,
      facts: {
        ...UNTOLD_FACTS,
        owner_id: entity.ownerId,
        retired_at: entity.isRetired ? given.as_of_ms : null,
      },
      pairs: own.length,
      scores: scoreEntity(METHODOLOGY, block, circumstances[number]!),
      listing: listingOf(METHODOLOGY, block),
    }
  })
  const [agents, forecasters] = poolsOfQuestions as [Int32Array, Int32Array]
  const settled = [...asked.keys()].filter((question) => asked[question]!.isSettled).sort(inOrder)
  const questions = blockOf(
    REFERENCE_COLUMNS,
    settled.map((question) => ({
      ...factsOf(question),
      opened_ms: asked[question]!.openedAtMs,
      agent_pool: agents[question]!,
      forecaster_pool: forecasters[question]!,
      ...Object.fromEntries(REFERENCE_SCORE_NAMES.map((name, at) => [name, referenceScores[question]![at]!])),
    })),
  )
  const categories = categoriesIn(asked)
  return {
    voiceRule,
    pairs: pairs.map((pair) => ({
      ...pair,
      entity: known[pair.entity]!.entityId,
      question: asked[pair.question]!.id,
      asked: asked[pair.question]!,
    })),
    entities: ENTITY_TYPES.flatMap((kind) =>
      rankEntities(
        METHODOLOGY,
        voiceRule,
        scored.filter(({ entityType }) => entityType === kind),
      ),
    ),
    references: referenceRows(METHODOLOGY, questions, {
      pool: (number) => known[number]!.entityId,
      category: (number) => categories[number]!,
    }),
  }
}

/** The agent of an owner that was registered first, then the one with the least id. */
function firstOf(records: World['entities'], owner: string): string {
  const [first] = records
    .filter((record) => record.owner === owner)
    .toSorted((a, b) => a.registered_at_ms - b.registered_at_ms || (a.id < b.id ? -1 : 1))
  return first!.id
}

/** Sweeps all questions by the rule that holds. */
function swept(given: World, known: readonly KnownEntity[], asked: readonly Question[]) {
  const numbers = new Map(known.map(({ entityId }, number) => [entityId, number]))
  // An agent's forecasts come by its own API alone: others count for nothing.
  const agents = new Set(given.entities.filter(({ kind }) => kind === 'agent').map(({ id }) => id))
  const taken = given.forecasts.filter(({ entity, witnessed }) => witnessed || !agents.has(entity))
  // Rows with one id are one forecast, the one recorded first.
  const counted = new Map(taken.toReversed().map((row) => [row.forecast_id, row])).values()
  const forecasts = Map.groupBy(counted, ({ question }) => question)
  const prices = Map.groupBy(given.prices, ({ question }) => question)
  const sweepBy = (voices: Voices) => {
    const rows = new Rows(PAIR_COLUMNS)
    const kept = new KeptPairs(rows)
    const sweep = new QuestionSweep(METHODOLOGY, voices)
    const referenceScores = asked.map((question, number) => {
      const own = (forecasts.get(question.id) ?? []).toSorted(
        (a, b) => a.at_ms - b.at_ms || (a.forecast_id < b.forecast_id ? -1 : 1),
      )
      const said = (prices.get(question.id) ?? []).toSorted((a, b) => a.at_ms - b.at_ms)
      const columns = {
        count: own.length,
        entity: Int32Array.from(own, ({ entity }) => numbers.get(entity)!),
        atMs: Float64Array.from(own, ({ at_ms }) => at_ms),
        ppm: Int32Array.from(own, ({ ppm }) => ppm ?? -1),
        witnessed: Int32Array.from(own, ({ witnessed }) => (witnessed ? 1 : 0)),
      }
      sweep.run(number, question, columns, kept, {
        count: said.length,
        atMs: Float64Array.from(said, ({ at_ms }) => at_ms),
        ppm: Int32Array.from(said, ({ ppm }) => ppm ?? -1),
      })
      return sweep.referenceScores.slice()
    })
    return { voices, rows, kept, referenceScores }
  }
  const recorded = sweepBy(voicesOf(known, 'recorded'))
  const voiceRule = voiceRuleOf(METHODOLOGY, recorded.voices, asked, recorded.kept)
  return { voiceRule, ...(voiceRule === 'recorded' ? recorded : sweepBy(voicesOf(known, voiceRule))) }
}

const categoriesIn = (asked: readonly Asked[]): string[] =>
  namesIn(asked.flatMap(({ category }) => category || []))

const namesIn = (names: readonly string[]): string[] => [...new Set(names)].sort()

const JOINT_OF = {
  independent: JOINTS.lone,
  ordered: JOINTS.ordered,
  exclusive: JOINTS.exclusive,
  at_most_one: JOINTS.exclusive,
}

/** The facts of each question that its pairs are added up by, with names as numbers in their order. */
function factsIn(asked: readonly Question[]) {
  const [units, clusters, weeks] = (['unit', 'cluster', 'week'] as const).map((name) =>
    namesIn(asked.map((question) => question[name])),
  ) as [string[], string[], string[]]
  const categories = categoriesIn(asked)
  return (question: number) => {
    const { outcome, isSettled, settledAtMs, unit, cluster, week, category, kind, unitQuestions } =
      asked[question]!
    return {
      outcome,
      settled: isSettled ? 1 : 0,
      settled_ms: settledAtMs,
      unit: units.indexOf(unit),
      cluster: clusters.indexOf(cluster),
      week: weeks.indexOf(week),
      category: category ? categories.indexOf(category) : -1,
      joint: JOINT_OF[kind],
      unit_questions: unitQuestions,
    }
  }
}

function blockOf<Kinds extends ColumnKinds>(
  kinds: Kinds,
  rows: readonly Record<string, number>[],
): Rows<Kinds> {
  const block = new Rows(kinds)
  for (const row of rows) {
    for (const [name, column] of Object.entries(block.columns)) column[block.row] = row[name]!
    block.next()
  }
  return block
}

/** The facts of an entity of which nothing is known. */
export const UNTOLD_FACTS: HeldFacts = {
  name: null,
  model_type: null,
  owner_id: null,
  retired_at: null,
  organization_name: null,
  registered_at: 0,
  last_forecast_at: null,
  open_forecasts: 0,
  next_close_at: null,
  overdue_forecasts: 0,
}

/** The values of a pair under the names of the worked values. */
export function valuesOf(pair: WorldPair): PairValues {
  const { asked } = pair
  const isContested = asked.isSettled && pair.judged === 1
  const [B, other] = [pair.judged_brier, pair.judged_brier_if_other]
  const gain = (reference: number) => (isContested ? reference - B : null)
  const spread = (reference: number, ifOther: number) =>
    isContested ? spreadOf(reference - B, ifOther - other) : null
  const { average_brier: K, median_brier: M, market_brier: Q } = pair
  return {
    coverage: fromPico(pair.coverage),
    brier: fromPico(pair.brier),
    log_score: fromPico(pair.log_score),
    baseline_score: fromPico(pair.baseline_score),
    peer_score: fromPico(pair.peer_score),
    judged_coverage: fromPico(pair.judged_coverage),
    B,
    K,
    M,
    Q,
    "B'": other,
    "K'": pair.average_brier_if_other,
    "M'": pair.median_brier_if_other,
    "Q'": pair.market_brier_if_other,
    X_K: gain(K),
    X_M: gain(M),
    X_Q: gain(Q),
    f_K: spread(K, pair.average_brier_if_other),
    f_M: spread(M, pair.median_brier_if_other),
    f_Q: spread(Q, pair.market_brier_if_other),
    voices: pair.voices,
    contested: isContested,
    priced: pair.priced === 1,
    settled: asked.isSettled,
    settled_at_ms: asked.isSettled ? asked.settledAtMs : null,
    witnessed: pair.witnessed === 1,
    unit: asked.unit,
    cluster: asked.cluster,
    week: asked.week,
    divisor: asked.divisor,
  }
}
