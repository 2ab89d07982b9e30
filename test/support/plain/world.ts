// Scores a whole world of entities, questions and forecasts, and gives what is published of each entity.
import { type Clustered, clusterOf } from './cluster.ts'
import { type PlainEntityScores, type Unranked, rankedPlainly, unrankedPlainly } from './entity-scores.ts'
import { type RawForecast, distinctForecasts } from './forecasts.ts'
import { type Gains, gainsOf } from './gains.ts'
import { inByteOrder } from './order.ts'
import { type PlainPairValues, pairValues } from './pair-values.ts'
import { type Pools, poolsOf } from './pools.ts'
import { scoreQuestionPlainly } from './question.ts'
import { type PlainReference, referencesPlainly } from './references.ts'
import type { PlainQuestion } from './standing.ts'
import { type WholePair, strengthsPlainly, wholeNumbers } from './strength.ts'
import {
  type Measures,
  type PlainEntityRecord,
  type VoiceRule,
  attemptsOf,
  recordedVoices,
  voicesOf,
} from './voices.ts'

/** The shape of the worlds in the file of worked values. */
export interface PlainWorld {
  as_of_ms: number
  entities: PlainEntityRecord[]
  questions: (Clustered & {
    id: string
    opened_at_ms: number
    resolved_at_ms: number | null
    /** Null where it is annulled or not known. */
    outcome: 0 | 1 | null
  })[]
  /** In the order in which they were recorded. */
  forecasts: {
    entity: string
    question: string
    at_ms: number
    /** Null for a withdrawal. */
    ppm: number | null
    forecast_id: string
    witnessed: boolean
  }[]
}

export interface PlainPool {
  entities: string[]
  size: number
  scale: number
}

export interface PlainWorldScores {
  voice_rule: VoiceRule
  /** By name. */
  pools: Map<string, PlainPool>
  /** By `entity|question`. */
  pairs: Map<string, PlainPairValues>
  entities: Map<string, PlainEntityScores>
  references: PlainReference[]
}

export function scoreWorldPlainly(world: PlainWorld): PlainWorldScores {
  const recorded = recordedVoices(world.entities)
  const byRecord = scoredPairs(world, recorded)
  const measures = voicesOf(world.entities, entitiesOf(byRecord.filter(({ pair }) => pair.settled)))
  const pairs = measures.rule === 'recorded' ? byRecord : scoredPairs(world, measures)
  const contested = pairs.filter((pair) => pair.contested)
  const pools = poolsOf(pairs, measures.voices)
  const strengths = strengthsPlainly(pairs, measures, pools)
  const gains = new Map(
    contested.map((pair): [WholePair, Gains] => [pair, gainsOf(pair, strengths.standard.get(pair)!)]),
  )
  const firstSettledMs = new Map(
    [...Map.groupBy(contested, ({ entity }) => entity)].map(([entity, own]) => [
      entity,
      Math.min(...own.map(({ pair }) => pair.settled_at_ms)),
    ]),
  )
  const attempts = attemptsOf(world.entities, entitiesOf(pairs), firstSettledMs)
  const published = publishedPools(pools, strengths.scales)
  const hasRetired = ({ retired_at_ms: at = null }: PlainEntityRecord) => at !== null && at <= world.as_of_ms
  const retired = new Set(world.entities.filter(hasRetired).map(({ id }) => id))
  const unranked = world.entities.map((record): Unranked =>
    unrankedPlainly(record, {
      pairs: pairs.filter(({ entity }) => entity === record.id),
      gains,
      voice: measures.voices.has(record.id),
      strength: strengths.of.get(record.id) ?? 1_000_000,
      pool: pools.ofEntity.get(record.id) ?? null,
      pool_size: published.get(pools.ofEntity.get(record.id) ?? '')?.size ?? null,
      ...(attempts.get(record.id) ?? { owner_agents: null, attempt: null }),
    }),
  )
  const field = { asOfMs: world.as_of_ms, voices: measures.voices, pairs, pools, strengths }
  return {
    voice_rule: measures.rule,
    pools: published,
    references: referencesPlainly(world.questions, rowsOf(world), field),
    pairs: new Map(
      pairs.map((pair) => [`${pair.entity}|${pair.question}`, pairValues(pair, gains.get(pair) ?? null)]),
    ),
    entities: new Map(
      world.entities.map(({ id }, i) => [id, rankedPlainly(unranked[i]!, unranked, measures.rule, retired)]),
    ),
  }
}

/** Who is measured against whom, from the pairs on settled questions. */
export function measuresOf(world: PlainWorld): Measures {
  const byRecord = scoredPairs(world, recordedVoices(world.entities))
  return voicesOf(world.entities, entitiesOf(byRecord.filter(({ pair }) => pair.settled)))
}

const entitiesOf = (pairs: readonly WholePair[]): Set<string> => new Set(pairs.map(({ entity }) => entity))

/** The pairs of the questions with an outcome of yes or no. */
export function scoredPairs(world: PlainWorld, measures: Measures): WholePair[] {
  const rows = Map.groupBy(rowsOf(world), ({ question }) => question)
  return world.questions.flatMap((asked) => {
    const { id, opened_at_ms, closes_at_ms, resolved_at_ms, outcome } = asked
    if (outcome === null || resolved_at_ms === null) return []
    const question: PlainQuestion = {
      openedAtMs: opened_at_ms,
      closesAtMs: closes_at_ms,
      resolvedAtMs: resolved_at_ms,
      outcome,
    }
    const pairs = scoreQuestionPlainly(question, rows.get(id) ?? [], measures, world.as_of_ms)
    return pairs.map((pair): WholePair => {
      const { entity, contested } = pair
      const cluster = clusterOf(asked)
      return { entity, question: id, cluster, outcome, contested, pair, ...wholeNumbers(pair) }
    })
  })
}

/**
 * One row for each forecast_id of the world, without the refused ones: an agent's forecasts are not imported.
 */
export function rowsOf({ entities, forecasts }: PlainWorld): (RawForecast & { question: string })[] {
  const agents = new Set(entities.filter(({ kind }) => kind === 'agent').map(({ id }) => id))
  const accepted = forecasts.filter(({ entity, witnessed }) => witnessed || !agents.has(entity))
  return distinctForecasts(
    accepted.map(({ entity, question, at_ms, ppm, forecast_id, witnessed }, i) => ({
      forecastId: forecast_id,
      entity,
      question,
      atMs: at_ms,
      ppm,
      recordedAtMs: i,
      imported: false,
      witnessed,
    })),
  )
}

function publishedPools({ ofEntity }: Pools, scales: ReadonlyMap<string, number>): Map<string, PlainPool> {
  const members = Map.groupBy(ofEntity, ([, name]) => name)
  return new Map(
    [...members].map(([name, entries]) => {
      const entities = entries.map(([entity]) => entity).sort(inByteOrder)
      return [name, { entities, size: entities.length, scale: scales.get(name)! / 1e6 }]
    }),
  )
}
