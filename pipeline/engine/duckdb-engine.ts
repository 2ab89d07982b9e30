// The engine for one machine: DuckDB numbers and sorts the inputs of the two steps, and keeps their results.
import type { PipelineComponents } from '../components.ts'
import type { HeldFacts } from '../../schemas/entity-facts.ts'
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
import { type TimedQuestion, type MetEntity, circumstancesOf } from './circumstances.ts'
import { sweepAll } from './pairs.ts'
import {
  FORECAST_COUNT,
  QUESTION_ROWS,
  QUESTION_POOLS,
  SCORED_PAIRS,
  createCounted,
  createEntities,
  createQuestions,
  entitiesAt,
  keep,
  orderPairs,
} from './queries.ts'
import { type ReleaseStamp, scoredBetween, writeScores } from './scores-file.ts'
import { scoreEntities } from './score.ts'

export interface OrderedEntity extends Omit<KnownEntity, 'firstOfOwner' | 'ownerId'> {
  /** Retirement and activity are as known at `asOf`. */
  facts: HeldFacts
  /** How many pairs it has. */
  pairs: number
}

export interface ScoredEntity extends OrderedEntity {
  scores: EntityScores
  listing: Listing
}

/** All pairs in the order of entities, ready for scoring. */
export interface OrderedWorld {
  /**
   * All forecasters, and all agents that have made a forecast, in the order (entity_type, entity_id). Some
   * have no pair.
   */
  entities: OrderedEntity[]
  /** For each entity. */
  circumstances: Circumstances[]
  voiceRule: VoiceRule
  pairs: number
  /** The questions that score. */
  questions: number
  /** All forecasts, each id once. */
  forecasts: number
  /**
   * Writes the scores of consecutive entities as a Parquet file, even while the database runs other queries.
   * The entities are those of the pairs from `start` up to `end`, counted from 0.
   */
  writeScores: (path: string, start: number, end: number, stamp: ReleaseStamp) => Promise<void>
}

/**
 * `database` must be a fresh one, since scoring leaves its tables in it. `log` is called after every stage.
 */
export type ScoringContext = Pick<PipelineComponents, 'methodology' | 'database' | 'local'> &
  Partial<Pick<PipelineComponents, 'log'>>

/**
 * Sweeps the given versions of the tables, finds the circumstances of each entity, and orders the pairs.
 * Outcomes that became known after `asOf` do not count. `furtherPairs` is as in `sweepAll`.
 */
export async function orderEveryone(
  { methodology, database, local, log }: ScoringContext,
  versions: Record<ScoredTable, TableVersion>,
  asOf: Date,
  furtherPairs?: string,
): Promise<OrderedWorld> {
  // Number the questions, the forecasts that count, and the entities.
  await attachAll(database, local, versions)
  await createQuestions(database, asOf)
  await createCounted(database)
  const [counted] = await database.rows<{ forecasts: bigint }>(FORECAST_COUNT)
  log?.('looked for repeated forecasts', {})
  await createEntities(database, asOf)
  const known = await knownEntities(database, asOf)
  // Make the pairs, question by question.
  const questions = await database.rows<ResolvedQuestion & TimedQuestion>(QUESTION_ROWS)
  const { kept, voices, voiceRule } = await sweepAll(
    { methodology, database },
    known,
    questions,
    furtherPairs,
  )
  log?.('swept every question', { voice_rule: voiceRule })
  // Find who shares pools with whom.
  const { circumstances, pairs, poolsOfQuestions } = circumstancesOf(known, voices, questions, kept)
  const [agents, forecasters] = poolsOfQuestions as [Int32Array, Int32Array]
  await keep(database, 'question_pool', QUESTION_POOLS, {
    question: Int32Array.from(questions.keys()),
    agent_pool: agents,
    forecaster_pool: forecasters,
  })
  // Sort the pairs by entity.
  await orderPairs(database)
  log?.('ordered the pairs', {})
  return {
    entities: known.map(({ entityType, entityId, facts }, member) => {
      return { entityType, entityId, facts, pairs: pairs[member]! }
    }),
    circumstances,
    voiceRule,
    pairs: pairs.reduce((sum, own) => sum + own, 0),
    questions: questions.length,
    forecasts: Number(counted!.forecasts),
    writeScores: (path, start, end, stamp) => writeScores(database, path, scoredBetween(start, end), stamp),
  }
}

async function knownEntities(
  database: Database,
  asOf: Date,
): Promise<(MetEntity & Pick<OrderedEntity, 'facts'>)[]> {
  type Row = Pick<KnownEntity, 'entityType' | 'entityId' | 'firstOfOwner'> & HeldFacts
  const rows = await database.rows<Row>(entitiesAt(asOf))
  return rows.map(({ entityType, entityId, firstOfOwner, ...facts }) => {
    const isRetired = facts.retired_at !== null
    return { entityType, entityId, firstOfOwner, ownerId: facts.owner_id, isRetired, facts }
  })
}

/** Scores every entity of a world. The database may write the scores to a file at the same time. */
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
