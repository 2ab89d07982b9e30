// Scores a whole world of entities, questions and forecasts, and gives what is published of each entity.
import { type PlainMetrics, metricsPlainly } from './entity.ts'
import type { RawForecast } from './forecasts.ts'
import { type PlainPair, type PlainQuestion, countedForecasts, scoreQuestionPlainly } from './question.ts'
import { type PlainRank, badgePlainly, certificationPlainly, rankPlainly } from './ranking.ts'
import { published } from './rounding.ts'
import { type PlainInterval, alphaOf, skillPlainly } from './skill.ts'
import { type WholePair, strengthsPlainly, wholeNumbers } from './strength.ts'
import { type PlainEntityRecord, type VoiceRule, attemptsOf, voicesOf } from './voices.ts'

/** The shape of the worlds in the file of worked values. */
export interface PlainWorld {
  entities: PlainEntityRecord[]
  questions: {
    id: string
    opened_at_ms: number
    closes_at_ms: number
    resolved_at_ms: number | null
    /** Null where it is annulled or not known. */
    outcome: 0 | 1 | null
    cluster: string
  }[]
  /**
   * Entity, question, time, parts per million, and a forecast_id where the order of the list is not that of
   * the ids.
   */
  forecasts: [string, string, number, number, string?][]
}

/** Numbers as published; `metrics` unrounded. */
export interface PlainEntityScores {
  resolved_questions: number
  contested_questions: number
  clusters: number
  owner_agents: number | null
  attempt: number | null
  strength: number
  voice: boolean
  skill: number | null
  skill_interval: PlainInterval | null
  crowd_skill: number | null
  crowd_skill_interval: PlainInterval | null
  rank: number | null
  rank_interval: PlainRank['rank_interval'] | null
  percentile: number | null
  percentile_interval: PlainRank['percentile_interval'] | null
  /** Of an agent. */
  certification?: ReturnType<typeof certificationPlainly>
  /** Of a forecaster. */
  badge?: ReturnType<typeof badgePlainly>
  metrics: PlainMetrics
}

export interface PlainWorldScores {
  /** By `entity|question`. The standard reference is in whole 1e-9, null where the pair is not contested. */
  pairs: Map<string, PlainPair & { standard_reference: bigint | null; cluster: string }>
  entities: Map<string, PlainEntityScores>
  scale: number
  voice_rule: VoiceRule
}

const ELIGIBLE_QUESTIONS = 25

type Unranked = Omit<
  PlainEntityScores,
  'rank' | 'rank_interval' | 'percentile' | 'percentile_interval' | 'certification' | 'badge'
>

export function scoreWorldPlainly(world: PlainWorld): PlainWorldScores {
  const asked = questionsOf(world)
  const scored = new Set(
    asked.flatMap(({ question, rows }) => countedForecasts(question, rows).map(({ entity }) => entity)),
  )
  const { voices, rule } = voicesOf(world.entities, scored)
  const pairs = asked.flatMap(({ id, cluster, question, rows }) =>
    scoreQuestionPlainly(question, rows, voices).map((pair): WholePair => {
      const { resolvedAtMs, outcome } = question
      const { entity, contested } = pair
      return { entity, question: id, cluster, resolvedAtMs, outcome, pair, contested, ...wholeNumbers(pair) }
    }),
  )
  const { of: strength, scale, standard } = strengthsPlainly(pairs, voices)
  const own = Map.groupBy(pairs, ({ entity }) => entity)
  const attempts = attemptsOf(
    world.entities,
    new Map([...own].map(([id, taken]) => [id, Math.min(...taken.map(({ resolvedAtMs }) => resolvedAtMs))])),
  )

  const unranked = new Map(
    world.entities.map(({ id }): [string, Unranked] => {
      const taken = own.get(id) ?? []
      const contested = taken.filter((pair) => pair.contested)
      const { owner_agents, attempt } = attempts.get(id) ?? { owner_agents: null, attempt: null }
      const skillOver = (reference: (pair: WholePair) => bigint) =>
        skillPlainly(
          contested.map((pair) => ({ cluster: pair.cluster, own: pair.B, reference: reference(pair) })),
          alphaOf(attempt),
        )
      const over = skillOver((pair) => standard.get(pair)!)
      const overCrowd = skillOver(({ K }) => K)
      const scores: Unranked = {
        resolved_questions: taken.length,
        contested_questions: contested.length,
        clusters: new Set(contested.map(({ cluster }) => cluster)).size,
        owner_agents,
        attempt,
        strength: published((strength.get(id) ?? 1e6) / 1e6),
        voice: voices.has(id),
        skill: over.skill === null ? null : published(over.skill),
        skill_interval: publishedInterval(over.interval),
        crowd_skill: overCrowd.skill === null ? null : published(overCrowd.skill),
        crowd_skill_interval: publishedInterval(overCrowd.interval),
        metrics: metricsPlainly(taken.map((pair) => ({ ...pair, Z: standard.get(pair) ?? null }))),
      }
      return [id, scores]
    }),
  )

  return {
    pairs: new Map(
      pairs.map((whole) => [
        `${whole.entity}|${whole.question}`,
        { ...whole.pair, standard_reference: standard.get(whole) ?? null, cluster: whole.cluster },
      ]),
    ),
    entities: new Map(
      world.entities.map((record) => [record.id, ranked(record, world.entities, unranked, rule)]),
    ),
    scale: published(scale / 1e6),
    voice_rule: rule,
  }
}

/** The questions with an outcome of yes or no, with their forecasts. */
function questionsOf({ questions, forecasts }: PlainWorld) {
  const rows = Map.groupBy(
    forecasts.map(([entity, question, atMs, ppm, id], i): RawForecast & { question: string } => {
      const forecastId = id ?? String(i).padStart(9, '0')
      return { question, forecastId, entity, atMs, ppm, recordedAtMs: i, imported: false }
    }),
    ({ question }) => question,
  )
  return questions.flatMap(({ id, opened_at_ms, closes_at_ms, resolved_at_ms, outcome, cluster }) => {
    if (outcome === null || resolved_at_ms === null) return []
    const question: PlainQuestion = {
      openedAtMs: opened_at_ms,
      closesAtMs: closes_at_ms,
      resolvedAtMs: resolved_at_ms,
      outcome,
    }
    return [{ id, cluster, question, rows: rows.get(id) ?? [] }]
  })
}

function publishedInterval(interval: PlainInterval | null): PlainInterval | null {
  if (interval === null) return null
  const { lower, upper, level } = interval
  return { lower: published(lower), upper: published(upper), level: published(level) }
}

/**
 * Adds an entity's standing in its field, the eligible voices of its kind and itself, and what it is awarded.
 */
function ranked(
  { id, kind }: PlainEntityRecord,
  records: readonly PlainEntityRecord[],
  unranked: ReadonlyMap<string, Unranked>,
  rule: VoiceRule,
): PlainEntityScores {
  const own = unranked.get(id)!
  const field = records
    .filter((other) => other.kind === kind && (other.id === id || unranked.get(other.id)!.voice))
    .map((other) => unranked.get(other.id)!)
    .filter((other) => other.contested_questions >= ELIGIBLE_QUESTIONS)
    .map(({ skill }) => skill!)
  const standing =
    own.contested_questions < ELIGIBLE_QUESTIONS
      ? { rank: null, rank_interval: null, percentile: null, percentile_interval: null }
      : rankPlainly(field, own.skill!, own.skill_interval)
  const scores = { ...own, ...standing }
  return kind === 'agent'
    ? { ...scores, certification: certificationPlainly(scores, rule) }
    : { ...scores, badge: badgePlainly(scores, rule) }
}
