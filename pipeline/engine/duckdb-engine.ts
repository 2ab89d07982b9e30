// The engine for one machine: DuckDB numbers and sorts the inputs of the two steps, and keeps their results.
import type { VoiceRule } from '../../schemas/payloads.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import type { Database } from '../duckdb.ts'
import { type Circumstances, type EntityScores, scoreEntity } from '../scoring/entity.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { NO_PAIRS, SCORED_COLUMNS } from '../scoring/pairs.ts'
import type { ResolvedQuestion } from '../scoring/question.ts'
import type { KnownEntity } from '../scoring/voices.ts'
import type { LocalFiles } from '../store/local-files.ts'
import type { TableVersion } from '../tables/delta.ts'
import { attachAll } from '../tables/views.ts'
import { fit } from './fit.ts'
import { sweepAll, sweepTouched } from './pairs.ts'
import {
  FITTED_ENTITY,
  FITTED_QUESTION,
  FORECAST_COUNT,
  QUESTIONS,
  SCORED_PAIRS,
  createCounted,
  createDimensions,
  entitiesAt,
  keep,
  orderPairs,
  scoredBetween,
  writeScores,
} from './queries.ts'
import { scoreEntities } from './score.ts'
import { type Since, areAlike, attachFresh, countSince, createTouched } from './since.ts'

/** What an entity did by `asOf`. */
export interface Activity {
  lastForecastAtMs: number | null
  /** Open questions on which it has a forecast, and the close of the first of them. */
  openForecasts: number
  nextCloseAtMs: number | null
}

export interface ScoredEntity extends KnownEntity, Activity {
  /** As registered or imported; a forecaster may have none. */
  name: string | null
  /** Of an agent. */
  modelType: string | null
  organizationName: string | null
  retiredAtMs: number | null
  /** The number of questions it is scored on. */
  pairs: number
  scores: EntityScores
}

export interface ScoredWorld {
  /** Every agent and forecaster in the order (entity_type, entity_id), including those without a scored question. */
  entities: ScoredEntity[]
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
   * Writes the scores of consecutive entities as a Parquet file, even while the database runs other queries. The
   * entities are those of the pairs from `start` up to `end`, counted from 0.
   */
  writeScores: (path: string, start: number, end: number) => Promise<void>
}

export interface ScoringContext {
  methodology: Methodology
  /** A fresh database. Scoring leaves its tables in it. */
  database: Database
  local: LocalFiles
  /** Called after every stage. */
  log?: (event: string, fields: object) => void
}

/**
 * Scores the given versions of the tables. Outcomes that became known after `asOf` do not count. With `since`, only questions
 * that something has touched since that release are swept, to the same scores.
 */
export async function scoreEveryone(
  context: ScoringContext,
  versions: Record<ScoredTable, TableVersion>,
  asOf: Date,
  since?: Since,
): Promise<ScoredWorld> {
  const { database, local, log } = context
  await attachAll(database, local, versions)
  await createDimensions(database, asOf)
  const counted = (since && (await countFresh(context, versions, since))) ?? (await countAll(database))
  log?.('looked for repeated forecasts', {})
  const known = await database.rows<Known>(entitiesAt(asOf))
  const questions = await database.rows<ResolvedQuestion>(QUESTIONS)
  const { voiceRule, circumstances, isSweptInFull } = await sweepAndFit(
    context,
    known,
    questions,
    counted.since,
  )
  const entities = await scoreKnown(context, known, circumstances)
  const pairs = entities.reduce((sum, entity) => sum + entity.pairs, 0)
  log?.('scored every entity', { entities: known.length, pairs })
  return {
    entities,
    voiceRule,
    pairs,
    questions: questions.length,
    forecasts: counted.forecasts,
    isBase: counted.areAlike,
    isSweptInFull,
    writeScores: (path, start, end) => writeScores(database, path, scoredBetween(start, end)),
  }
}

type Known = Omit<ScoredEntity, 'pairs' | 'scores'>

/** A function of its own, so that what the caller returns does not hold the results in memory. */
async function scoreKnown(
  { methodology, database }: ScoringContext,
  known: readonly Known[],
  circumstances: readonly Circumstances[],
): Promise<ScoredEntity[]> {
  const results = new Map<number, Pick<ScoredEntity, 'pairs' | 'scores'>>()
  const scored = database.columns(SCORED_PAIRS, SCORED_COLUMNS)
  for await (const { entity, ...result } of scoreEntities(methodology, circumstances, scored)) {
    results.set(entity, result)
  }
  const unscored = (member: number) => ({
    pairs: 0,
    scores: scoreEntity(methodology, NO_PAIRS, circumstances[member]!),
  })
  return known.map((named, member) => ({ ...named, ...(results.get(member) ?? unscored(member)) }))
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

/** The same from what came since a release. As all rows of an id are alike, `counted` may have an id more than once. */
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

/** Makes `scored`, the pairs of all entities in order, with their standard references, and `swept`, the questions that were swept. */
async function sweepAndFit(
  context: ScoringContext,
  entities: readonly KnownEntity[],
  questions: readonly ResolvedQuestion[],
  since: Since | undefined,
): Promise<{ voiceRule: VoiceRule; circumstances: Circumstances[]; isSweptInFull: boolean }> {
  const { methodology, database, log } = context
  const built = since && (await sweepTouched(context, entities, questions, since))
  if (since && !built) await createCounted(database)
  const { kept, voices, voiceRule } = built ?? (await sweepAll(context, entities, questions))
  log?.('swept every question', { voice_rule: voiceRule })
  const { circumstances, scale, weight, weighted, strength } = fit(
    methodology,
    entities,
    voices,
    questions,
    kept,
  )
  log?.('fitted strengths', { scale })
  await keep(database, 'fitted_question', FITTED_QUESTION, {
    question: weight.map((_, at) => at),
    weight,
    weighted,
  })
  await keep(database, 'fitted_entity', FITTED_ENTITY, {
    entity: strength.map((_, at) => at),
    strength,
  })
  await orderPairs(database, methodology, scale)
  return { voiceRule, circumstances, isSweptInFull: built === undefined }
}
