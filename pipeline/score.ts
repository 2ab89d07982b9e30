// Scores every entity from the tables: DuckDB sorts, one sweep per question folds, DuckDB adds integers.
import { join } from 'node:path'
import { ServiceError } from '../schemas/errors.ts'
import { ENTITY_TYPES, type EntityType, type TableName } from '../schemas/tables.ts'
import { type Database, literal } from './duckdb.ts'
import { type EntityQuestions, type EntityScores, type EntitySums, scoreEntity } from './scoring/entity.ts'
import {
  type ForecastColumns,
  PAIR_COLUMNS,
  QuestionSweep,
  type ResolvedQuestion,
} from './scoring/question.ts'
import {
  CREATE_PAIRS,
  ENTITY_QUESTIONS,
  ENTITY_QUESTION_KINDS,
  ENTITY_SUMS,
  EVENTS,
  EVENT_KINDS,
  QUESTIONS,
  QUESTION_KINDS,
  SCORES,
  createCounted,
  createDimensions,
} from './sql/scoring.ts'
import { attachAll } from './sql/tables.ts'
import type { LocalFiles } from './store/open.ts'
import type { TableVersion } from './tables/log.ts'

export interface ScoredEntity {
  entityType: EntityType
  entityId: string
  scores: EntityScores
}

export interface ScoredWorld {
  /** In the order (entity_type, entity_id): every agent and forecaster, whether it took part or not. */
  entities: ScoredEntity[]
  /** A local Parquet file with one row per entity and question. */
  scoresFile: string
  pairs: number
}

export interface ScoringContext {
  /** A fresh database: scoring leaves its tables behind. */
  database: Database
  local: LocalFiles
  /** For files that the caller takes away. */
  directory: string
}

/** Scores the tables at the given versions, as of an instant: outcomes that became known later do not count. */
export async function scoreWorld(
  { database, local, directory }: ScoringContext,
  versions: Record<TableName, TableVersion>,
  asOf: Date,
): Promise<ScoredWorld> {
  await attachAll(database, local, versions)
  await createDimensions(database, asOf)
  await createCounted(database)
  const names = await database.rows<{ entity_type: string; entity_id: string }>(
    `SELECT entity_type, entity_id FROM entity ORDER BY entity`,
  )
  const pairs = await sweepQuestions(database, names.length)
  const scores = await scoreEntities(database)
  const scoresFile = join(directory, 'scores.parquet')
  await database.run(
    `COPY (${SCORES}) TO ${literal(scoresFile)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880)`,
  )
  const nobody = scoreEntity()
  const entities = names.map(({ entity_type, entity_id }, index): ScoredEntity => ({
    entityType: entityTypeOf(entity_type),
    entityId: entity_id,
    scores: scores.get(index) ?? nobody,
  }))
  return { entities, scoresFile, pairs }
}

/** Sweeps every question into the table `pair`; returns its rows. */
async function sweepQuestions(database: Database, entityCount: number): Promise<number> {
  const questions = await readQuestions(database)
  const sweep = new QuestionSweep(entityCount)
  const events = newForecastColumns()
  let pairs = 0
  await database.run(CREATE_PAIRS)
  const appender = await database.appender('pair', 1 + PAIR_COLUMNS.length)
  const row = new Array<number>(1 + PAIR_COLUMNS.length)
  let current = -1
  const finish = () => {
    if (events.count === 0) return
    row[0] = current
    sweep.run(questions[current]!, events, (pair) => {
      for (let index = 0; index < PAIR_COLUMNS.length; index++) row[index + 1] = pair[PAIR_COLUMNS[index]!]
      appender.append(row)
      pairs += 1
    })
    events.count = 0
  }
  for await (const { rowCount, columns } of database.columns(EVENTS, EVENT_KINDS)) {
    const [question, entity, atMs, ppm, imported] = columns
    for (let index = 0; index < rowCount; index++) {
      if (question![index] !== current) {
        finish()
        current = question![index]!
      }
      const at = events.count
      if (at === events.atMs.length) grow(events)
      events.entity[at] = entity![index]!
      events.atMs[at] = atMs![index]!
      events.ppm[at] = ppm![index]!
      events.imported[at] = imported![index]!
      events.count = at + 1
    }
  }
  finish()
  appender.close()
  return pairs
}

async function readQuestions(database: Database): Promise<ResolvedQuestion[]> {
  const questions: ResolvedQuestion[] = []
  for await (const { rowCount, columns } of database.columns(QUESTIONS, QUESTION_KINDS)) {
    const [openedMs, closesMs, resolvedMs, yes] = columns
    for (let index = 0; index < rowCount; index++) {
      questions.push({
        openedAtMs: openedMs![index]!,
        closesAtMs: closesMs![index]!,
        resolvedAtMs: resolvedMs![index]!,
        outcome: yes![index] === 1 ? 1 : 0,
      })
    }
  }
  return questions
}

/** The scores of the entities that took part, by their number. */
async function scoreEntities(database: Database): Promise<Map<number, EntityScores>> {
  const sums = new Map<number, EntitySums>()
  for (const row of await database.rows<EntitySumsRow>(ENTITY_SUMS)) {
    const { entity, forecasts, imported, updates, ...rest } = row
    sums.set(entity, {
      ...rest,
      forecasts: Number(forecasts),
      imported: Number(imported),
      updates: Number(updates),
    })
  }
  const scores = new Map<number, EntityScores>()
  let current = -1
  let questions = newEntityQuestions()
  const finish = () => {
    if (current >= 0) scores.set(current, scoreEntity(sums.get(current), questions))
  }
  for await (const { rowCount, columns } of database.columns(ENTITY_QUESTIONS, ENTITY_QUESTION_KINDS)) {
    const [entity, ppm, yes, weightedBrier, weightedReference] = columns
    for (let index = 0; index < rowCount; index++) {
      if (entity![index] !== current) {
        finish()
        current = entity![index]!
        questions = newEntityQuestions()
      }
      questions.closingPpm.push(ppm![index]!)
      questions.outcome.push(yes![index]!)
      questions.weightedBrier.push(weightedBrier![index]!)
      questions.weightedReference.push(weightedReference![index]!)
    }
  }
  finish()
  return scores
}

type EntitySumsRow = Omit<EntitySums, 'forecasts' | 'imported' | 'updates'> & {
  entity: number
  forecasts: bigint
  imported: bigint
  updates: bigint
}

function newEntityQuestions(): { [K in keyof EntityQuestions]: number[] } {
  return { closingPpm: [], outcome: [], weightedBrier: [], weightedReference: [] }
}

function newForecastColumns(): ForecastColumns {
  const capacity = 4096
  return {
    count: 0,
    entity: new Int32Array(capacity),
    atMs: new Float64Array(capacity),
    ppm: new Int32Array(capacity),
    imported: new Uint8Array(capacity),
  }
}

function grow(columns: ForecastColumns): void {
  const capacity = 2 * columns.atMs.length
  const { entity, atMs, ppm, imported } = columns
  columns.entity = new Int32Array(capacity)
  columns.atMs = new Float64Array(capacity)
  columns.ppm = new Int32Array(capacity)
  columns.imported = new Uint8Array(capacity)
  columns.entity.set(entity)
  columns.atMs.set(atMs)
  columns.ppm.set(ppm)
  columns.imported.set(imported)
}

function entityTypeOf(text: string): EntityType {
  const type = ENTITY_TYPES.find((name) => name === text)
  if (!type) throw new ServiceError('corrupt', `not a type of entity: ${JSON.stringify(text)}`)
  return type
}
