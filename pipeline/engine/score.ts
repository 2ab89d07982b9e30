// Scores every entity from the tables: DuckDB sorts, one sweep per question folds, DuckDB adds integers.
import { ServiceError } from '../../schemas/errors.ts'
import { ENTITY_TYPES, type EntityType, type ScoredTable } from '../../schemas/tables.ts'
import { type Database, literal } from '../duckdb.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { type EntityQuestions, type EntityScores, type EntitySums, scoreEntity } from '../scoring/entity.ts'
import {
  ENTITY_QUESTIONS,
  ENTITY_QUESTION_KINDS,
  ENTITY_SUMS,
  SCORES,
  createCounted,
  createDimensions,
} from './queries.ts'
import { attachAll } from '../tables/views.ts'
import type { LocalFiles } from '../store/local-files.ts'
import { sweepQuestions } from './sweep.ts'
import type { TableVersion } from '../tables/delta-log.ts'

export interface ScoredEntity {
  entityType: EntityType
  entityId: string
  scores: EntityScores
}

export interface ScoredWorld {
  /** In the order (entity_type, entity_id): every agent and forecaster, whether it took part or not. */
  entities: ScoredEntity[]
  pairs: number
  /** Writes a Parquet file with one row per entity and question, beside whatever else the database is doing. */
  writeScores: (path: string) => Promise<void>
}

export interface ScoringContext {
  methodology: Methodology
  /** A fresh database: scoring leaves its tables behind. */
  database: Database
  local: LocalFiles
  /** Told of every stage that is done. */
  log?: (event: string, fields: object) => void
}

/** Scores the tables at the given versions, as of an instant: outcomes that became known later do not count. */
export async function scoreEveryone(
  { methodology, database, local, log }: ScoringContext,
  versions: Record<ScoredTable, TableVersion>,
  asOf: Date,
): Promise<ScoredWorld> {
  await attachAll(database, local, versions)
  await createDimensions(database, asOf)
  await createCounted(database)
  log?.('checked the forecasts for repetitions', {})
  const names = await database.rows<{ entity_type: string; entity_id: string }>(
    `SELECT entity_type, entity_id FROM entity ORDER BY entity`,
  )
  const pairs = await sweepQuestions(methodology, database, names.length)
  log?.('swept every question', { pairs })
  const scores = await scoreEntities(methodology, database)
  log?.('scored every entity', { entities: names.length })
  const nobody = scoreEntity(methodology)
  const entities = names.map(({ entity_type, entity_id }, index): ScoredEntity => ({
    entityType: entityTypeOf(entity_type),
    entityId: entity_id,
    scores: scores.get(index) ?? nobody,
  }))
  return {
    entities,
    pairs,
    writeScores: (path) =>
      database.runBeside(
        `COPY (${SCORES}) TO ${literal(path)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880)`,
      ),
  }
}

/** The scores of the entities that took part, by their number. */
async function scoreEntities(
  methodology: Methodology,
  database: Database,
): Promise<Map<number, EntityScores>> {
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
    if (current >= 0) scores.set(current, scoreEntity(methodology, sums.get(current), questions))
  }
  for await (const { rowCount, columns } of database.columns(ENTITY_QUESTIONS, ENTITY_QUESTION_KINDS)) {
    const [entity, ppm, yes, weightedBrier, weightedReference] = columns
    for (let index = 0; index < rowCount; index++) {
      if (entity[index] !== current) {
        finish()
        current = entity[index]!
        questions = newEntityQuestions()
      }
      questions.closingPpm.push(ppm[index]!)
      questions.outcome.push(yes[index]!)
      questions.weightedBrier.push(weightedBrier[index]!)
      questions.weightedReference.push(weightedReference[index]!)
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

function entityTypeOf(text: string): EntityType {
  const type = ENTITY_TYPES.find((name) => name === text)
  if (!type) throw new ServiceError('corrupt', `not a type of entity: ${JSON.stringify(text)}`)
  return type
}
