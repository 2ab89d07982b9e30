// The engine for one machine: DuckDB numbers and sorts the inputs of the two steps, and keeps their results.
import type { PipelineComponents } from '../components.ts'
import type { VoiceRule } from '../../schemas/payloads.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import type { Database } from '../duckdb.ts'
import { type Circumstances, type EntityScores, scoreEntity } from '../scoring/entity.ts'
import { type Listing, NO_LISTING } from '../scoring/categories.ts'
import { NO_PAIRS, SCORED_COLUMNS } from '../scoring/pairs.ts'
import type { ResolvedQuestion } from '../scoring/question.ts'
import type { KnownEntity } from '../scoring/voices.ts'
import type { TableVersion } from '../tables/delta.ts'
import { attachAll } from '../tables/views.ts'
import { type AskedQuestion, type MetEntity, circumstancesOf } from './circumstances.ts'
import { sweepAll, sweepTouched } from './pairs.ts'
import {
  FORECAST_COUNT,
  QUESTIONS,
  QUESTION_POOLS,
  SCORED_PAIRS,
  createCounted,
  createEntities,
  createQuestions,
  entitiesAt,
  keep,
  orderPairs,
} from './queries.ts'
import { type OfRelease, scoredBetween, writeScores } from './scores-file.ts'
import { scoreEntities } from './score.ts'
import { type Since, areAlike, attachFresh, countSince, createTouched } from './since.ts'

/** The activity of an entity by `asOf`. */
export interface Activity {
  lastForecastAtMs: number | null
  /** Open questions on which it has a forecast, and the close of the first of them. */
  openForecasts: number
  nextCloseAtMs: number | null
  /** Questions on which it has a forecast, which closed without a known outcome. */
  overdueForecasts: number
}

export interface OrderedEntity extends Omit<KnownEntity, 'firstOfOwner'>, Activity {
  registeredAtMs: number
  /** As registered or imported; a forecaster may have none. */
  name: string | null
  /** Of an agent. */
  modelType: string | null
  organizationName: string | null
  /** Null also for an agent that retires after `asOf`. */
  retiredAtMs: number | null
  /** The number of questions it is scored on. */
  pairs: number
}

export interface ScoredEntity extends OrderedEntity {
  scores: EntityScores
  listing: Listing
}

/** All pairs in the order of entities, from which each of these can be scored. */
export interface OrderedWorld {
  /**
   * Every agent that has made a forecast and every forecaster, in the order (entity_type, entity_id),
   * including those without a scored question.
   */
  entities: OrderedEntity[]
  /** Of each entity. */
  circumstances: Circumstances[]
  voiceRule: VoiceRule
  pairs: number
  /** The questions that score. */
  questions: number
  /** All forecasts, each id once. */
  forecasts: number
  /** Whether the next release may build on the pairs of this one: see `areAlike`. */
  isBase: boolean
  /** Whether every question was swept. The questions that were are those of the table `swept`. */
  isSweptInFull: boolean
  /**
   * Writes the scores of consecutive entities as a Parquet file, even while the database runs other queries.
   * The entities are those of the pairs from `start` up to `end`, counted from 0.
   */
  writeScores: (path: string, start: number, end: number, of: OfRelease) => Promise<void>
}

/** `database` is a fresh one: scoring leaves its tables in it. `log` is called after every stage. */
export type ScoringContext = Pick<PipelineComponents, 'methodology' | 'database' | 'local'> &
  Partial<Pick<PipelineComponents, 'log'>>

/**
 * Sweeps the given versions of the tables, finds out who met whom, and orders the pairs. Outcomes that became
 * known after `asOf` do not count. With `since`, only questions that something has touched since that release
 * are swept, to the same pairs.
 */
export async function orderEveryone(
  context: ScoringContext,
  versions: Record<ScoredTable, TableVersion>,
  asOf: Date,
  since?: Since,
): Promise<OrderedWorld> {
  const { database, local, log } = context
  await attachAll(database, local, versions)
  await createQuestions(database, asOf)
  const counted = (since && (await countFresh(context, versions, since))) ?? (await countAll(database))
  log?.('looked for repeated forecasts', {})
  await createEntities(database, asOf)
  const known = await database.rows<Omit<OrderedEntity, 'pairs'> & KnownEntity>(entitiesAt(asOf))
  const questions = await database.rows<ResolvedQuestion & AskedQuestion>(QUESTIONS)
  const { pairs, ...swept } = await sweptInOrder(context, known, questions, counted.since)
  return {
    ...swept,
    entities: known.map((entity, member) => ({ ...entity, pairs: pairs[member]! })),
    pairs: pairs.reduce((sum, own) => sum + own, 0),
    questions: questions.length,
    forecasts: counted.forecasts,
    isBase: counted.areAlike,
    writeScores: (path, start, end, of) => writeScores(database, path, scoredBetween(start, end), of),
  }
}

/** Scores every entity of a world. The database may write its scores meanwhile. */
export async function scoreEveryone(
  { methodology, database, log }: ScoringContext,
  { entities, circumstances, pairs }: OrderedWorld,
): Promise<ScoredEntity[]> {
  const results = new Map<number, Pick<ScoredEntity, 'scores' | 'listing'>>()
  const scored = database.columns(SCORED_PAIRS, SCORED_COLUMNS)
  for await (const { entity, ...result } of scoreEntities(methodology, circumstances, scored)) {
    results.set(entity, result)
  }
  const unscored = (member: number) => ({
    scores: scoreEntity(methodology, NO_PAIRS, circumstances[member]!),
    listing: NO_LISTING,
  })
  log?.('scored every entity', { entities: entities.length, pairs })
  return entities.map((entity, member) => ({ ...entity, ...(results.get(member) ?? unscored(member)) }))
}

interface Counted {
  forecasts: number
  areAlike: boolean
  /** The release whose pairs can be built on. */
  since?: Since
}

/** Makes the view `counted` of all forecasts, each id once. */
async function countAll(database: Database): Promise<Counted> {
  const repeated = await createCounted(database)
  const [row] = await database.rows<{ forecasts: bigint }>(FORECAST_COUNT)
  return {
    forecasts: Number(row!.forecasts),
    areAlike: repeated === undefined || (await areAlike(database, repeated)),
  }
}

/**
 * The same from what came since a release. As all rows of an id are alike, `counted` may have an id more than
 * once.
 */
async function countFresh(
  { database, local, log }: ScoringContext,
  versions: Record<ScoredTable, TableVersion>,
  since: Since,
): Promise<Counted | undefined> {
  await attachFresh({ database, local }, versions, since)
  await createTouched(database, since)
  const forecasts = await countSince(database, since)
  if (forecasts === undefined) {
    log?.('sweeps every question', { reason: 'a forecast has come again as another' })
    return undefined
  }
  await database.run(`CREATE OR REPLACE TEMP VIEW counted AS FROM forecasts`)
  return { forecasts, areAlike: true, since }
}

type SweptWorld = Pick<OrderedWorld, 'voiceRule' | 'circumstances' | 'isSweptInFull'> & { pairs: Int32Array }

/**
 * Makes `scored`, the pairs of all entities in order, `question_pool`, and `swept`, the questions that were
 * swept.
 */
async function sweptInOrder(
  context: ScoringContext,
  entities: readonly (KnownEntity & Pick<OrderedEntity, 'retiredAtMs'>)[],
  questions: readonly (ResolvedQuestion & AskedQuestion)[],
  since: Since | undefined,
): Promise<SweptWorld> {
  const { database, log } = context
  const built = since && (await sweepTouched(context, entities, questions, since))
  if (since && !built) await createCounted(database)
  const { kept, voices, voiceRule } = built ?? (await sweepAll(context, entities, questions))
  log?.('swept every question', { voice_rule: voiceRule })
  const met = entities.map((entity): MetEntity => ({ ...entity, isRetired: entity.retiredAtMs !== null }))
  const { circumstances, pairs, poolsOfQuestions } = circumstancesOf(met, voices, questions, kept)
  const [agents, forecasters] = poolsOfQuestions as [Int32Array, Int32Array]
  const numbers = Int32Array.from(questions.keys())
  await keep(database, 'question_pool', QUESTION_POOLS, {
    question: numbers,
    agent_pool: agents,
    forecaster_pool: forecasters,
  })
  await orderPairs(database)
  log?.('ordered the pairs', {})
  return { circumstances, pairs, voiceRule, isSweptInFull: built === undefined }
}
