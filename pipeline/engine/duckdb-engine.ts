// The engine for one machine: DuckDB numbers and sorts the inputs of the two steps, and keeps their results.
import type { ColumnKinds } from '../../schemas/columns.ts'
import type { VoiceRule } from '../../schemas/payloads.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import { type Database, literal } from '../duckdb.ts'
import { type Circumstances, type EntityScores, scoreEntity } from '../scoring/entity.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { NO_PAIRS, PAIR_COLUMNS, SCORED_COLUMNS } from '../scoring/pairs.ts'
import type { ForecastColumns, ResolvedQuestion } from '../scoring/question.ts'
import { type KnownEntity, voicesOf } from '../scoring/voices.ts'
import type { LocalFiles } from '../store/local-files.ts'
import type { TableVersion } from '../tables/delta.ts'
import { attachAll } from '../tables/views.ts'
import { KeptPairs, fit, voiceRuleOf } from './fit.ts'
import {
  FITTED_ENTITY,
  FITTED_QUESTION,
  FORECASTS_IN_ORDER,
  FORECAST_COLUMNS,
  FORECAST_COUNT,
  QUESTIONS,
  SCORED_PAIRS,
  SCORES_ROW_GROUP,
  TIED_COLUMNS,
  TIED_FORECASTS,
  createCounted,
  createDimensions,
  createTable,
  entitiesAt,
  orderPairs,
  publishedScores,
} from './queries.ts'
import { runsOf } from './rows.ts'
import { scoreEntities } from './score.ts'
import { type ForecastQuestion, sweepQuestions } from './sweep.ts'

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

/** Scores the given versions of the tables. Outcomes that became known after `asOf` do not count. */
export async function scoreEveryone(
  context: ScoringContext,
  versions: Record<ScoredTable, TableVersion>,
  asOf: Date,
): Promise<ScoredWorld> {
  const { methodology, database, local, log } = context
  await attachAll(database, local, versions)
  await createDimensions(database, asOf)
  await createCounted(database)
  log?.('looked for repeated forecasts', {})
  const [counted] = await database.rows<{ forecasts: bigint }>(FORECAST_COUNT)
  const known = await database.rows<Omit<ScoredEntity, 'pairs' | 'scores'>>(entitiesAt(asOf))
  const questions = await database.rows<ResolvedQuestion>(QUESTIONS)
  const { voiceRule, circumstances } = await sweepAndFit(context, known, questions)
  const results = new Map<number, Pick<ScoredEntity, 'pairs' | 'scores'>>()
  let pairs = 0
  const scored = database.columns(SCORED_PAIRS, SCORED_COLUMNS)
  for await (const { entity, ...result } of scoreEntities(methodology, circumstances, scored)) {
    results.set(entity, result)
    pairs += result.pairs
  }
  log?.('scored every entity', { entities: known.length, pairs })
  const unscored = (member: number) => ({
    pairs: 0,
    scores: scoreEntity(methodology, NO_PAIRS, circumstances[member]!),
  })
  return {
    entities: known.map((named, member) => ({
      ...named,
      ...(results.get(member) ?? unscored(member)),
    })),
    voiceRule,
    pairs,
    questions: questions.length,
    forecasts: Number(counted!.forecasts),
    writeScores: (path, start, end) =>
      database.runBeside(
        // Statistics find an entity, since the rows are in order.
        `COPY (${publishedScores(start, end)}) TO ${literal(path)}
         (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${SCORES_ROW_GROUP}, WRITE_BLOOM_FILTER false)`,
      ),
  }
}

/** Makes `scored`, the pairs of all entities in order, with their standard references. */
async function sweepAndFit(
  { methodology, database, log }: ScoringContext,
  entities: readonly KnownEntity[],
  questions: readonly ResolvedQuestion[],
): Promise<{ voiceRule: VoiceRule; circumstances: Circumstances[] }> {
  const sweep = async (voices: Uint8Array): Promise<KeptPairs> => {
    await database.run(createTable('pair', PAIR_COLUMNS))
    const swept = await database.appender('pair', PAIR_COLUMNS)
    const kept = new KeptPairs(swept)
    await sweepQuestions(methodology, voices, questions, forecastsByQuestion(database), kept)
    swept.close()
    return kept
  }
  let voices = voicesOf(entities, 'recorded')
  let kept = await sweep(voices)
  const voiceRule = voiceRuleOf(methodology, voices, kept)
  if (voiceRule === 'everyone') {
    voices = voicesOf(entities, voiceRule)
    kept = await sweep(voices)
  }
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
    voice: voices,
    strength,
  })
  await orderPairs(database, methodology, scale)
  return { voiceRule, circumstances }
}

/** Makes a table of the given columns. */
async function keep<Kinds extends ColumnKinds>(
  database: Database,
  name: string,
  kinds: Kinds,
  values: { [Name in keyof Kinds]: ArrayLike<number> },
): Promise<void> {
  await database.run(createTable(name, kinds))
  const rows = await database.appender(name, kinds)
  const columns = Object.keys(kinds)
  for (let at = 0; at < values[columns[0]!]!.length; at++) {
    for (const column of columns) rows.columns[column]![rows.row] = values[column]![at]!
    rows.next()
  }
  rows.close()
}

/** First the questions without ties, in the order of their numbers, and then those with ties, in the same order. */
async function* forecastsByQuestion(database: Database): AsyncIterable<ForecastQuestion> {
  await database.run(createTable('tied', TIED_COLUMNS))
  const tied = await database.appender('tied', TIED_COLUMNS)
  let tiedCount = 0
  for await (const { question, forecasts } of read(database, FORECASTS_IN_ORDER)) {
    if (isTied(forecasts)) {
      tied.columns.question[tied.row] = question
      tied.next()
      tiedCount += 1
    } else yield { question, forecasts }
  }
  tied.close()
  if (tiedCount > 0) yield* read(database, TIED_FORECASTS)
}

async function* read(database: Database, sql: string): AsyncIterable<ForecastQuestion> {
  const blocks = database.columns(sql, FORECAST_COLUMNS)
  for await (const { number, rows } of runsOf(blocks, FORECAST_COLUMNS, 'question')) {
    yield { question: number, forecasts: { count: rows.rowCount, ...rows.columns } }
  }
}

/** Up to this many forecasts, the sum of squared errors stays below 2^53, so that it is exact in any order. */
const EXACT_FORECASTS = Math.floor(2 ** 53 / 1e12)

/**
 * Whether the order of forecast_ids could change the question's scores, given its forecasts in the order (time,
 * entity). METHODOLOGY orders forecasts of the same millisecond by forecast_id. Between different entities that order
 * changes no bit as long as the sums over them are exact.
 */
function isTied({ count, atMs, entity }: ForecastColumns): boolean {
  for (let row = 1; row < count; row++) {
    if (atMs[row] !== atMs[row - 1]) continue
    if (entity[row] === entity[row - 1] || count > EXACT_FORECASTS) return true
  }
  return false
}
