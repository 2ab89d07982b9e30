// Reads all forecasts of one or two entities from the tables of a release, for answers that no release has.
import type { PipelineComponents } from '../components.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { type Database, literal, withDatabase } from '../duckdb.ts'
import { versionsOf } from './plan.ts'
import {
  type ComparedQuestion,
  type Comparison,
  type SidedForecast,
  compare,
  sharedTime,
} from '../scoring/comparison.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { ENDS_AT, attachCurrent, attachTable } from '../tables/views.ts'
import type { Joint } from '../scoring/pairs.ts'
import { IN_PPM, JOINT, UNIT, createCounted, createQuestions } from '../engine/queries.ts'

export interface NamedEntity {
  entityType: EntityType
  entityId: string
}

type SharedContext = Pick<PipelineComponents, 'store' | 'local' | 'openDatabase'>

/**
 * Works with a database that has the questions of a release as `createQuestions` makes them, and `counted`:
 * the forecasts of `entities` that may count, each id once. `side` is the index of the entity.
 */
async function withForecastsOf<T>(
  { store, local, openDatabase }: SharedContext,
  manifest: ReleaseManifest,
  entities: readonly NamedEntity[],
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const versions = await versionsOf(store, manifest)
  return local.reading(() =>
    withDatabase(openDatabase, async (database) => {
      for (const table of ['questions', 'events', 'resolutions'] as const) {
        await attachCurrent(database, local, { ...versions[table], table })
      }
      await attachTable(database, local, versions.forecasts)
      await createQuestions(database, new Date(manifest.as_of))
      const sides = entities.map(
        ({ entityType, entityId }, side) => `(${side}, ${literal(entityType)}, ${literal(entityId)})`,
      )
      await database.run(
        `CREATE TEMP TABLE theirs AS
         SELECT f.*, side FROM forecasts f
         JOIN (VALUES ${sides.join(', ')}) s(side, entity_type, entity_id) USING (entity_type, entity_id)
         WHERE entity_type <> 'agent' OR source <> 'import'`,
      )
      await createCounted(database, 'theirs', 'counted')
      return work(database)
    }),
  )
}

interface Row extends SidedForecast {
  question_id: string
  unit: string
  joint: Joint
  unitQuestions: number
  cluster: string
  week: string
  outcome: 0 | 1
  openedAtMs: number
  closesAtMs: number
  endsAtMs: number
}

/** Grain: one row per forecast or withdrawal on a settled question that both have forecast. */
const SHARED = `
  SELECT question_id, ${UNIT} AS unit, ${JOINT} AS joint, unit_questions AS "unitQuestions", cluster, week, yes AS outcome, opened_ms AS "openedAtMs",
    closes_ms AS "closesAtMs", ends_ms AS "endsAtMs", side::INTEGER AS side,
    epoch_ms(forecast_at)::DOUBLE AS "atMs", ${IN_PPM} AS ppm
  FROM counted JOIN question USING (question_id)
  WHERE settled = 1 AND question_id IN (SELECT question_id FROM counted GROUP BY ALL HAVING count(DISTINCT side) = 2)
  ORDER BY question_id, "atMs", forecast_id`

export interface ReleasedComparison extends Comparison {
  /** All shared questions, the greatest difference of the errors over the shared time first. */
  shared: ComparedQuestion[]
}

/** Compares two entities of a release. */
export async function compareEntities(
  context: SharedContext & { methodology: Methodology },
  manifest: ReleaseManifest,
  two: readonly [NamedEntity, NamedEntity],
): Promise<ReleasedComparison> {
  const shared = await sharedQuestions(context, manifest, two)
  const apart = ({ errors: [a, b] }: ComparedQuestion) => Math.abs(a - b)
  return {
    ...compare(context.methodology, shared),
    shared: shared.toSorted((a, b) => apart(b) - apart(a)),
  }
}

/** Returns the settled questions on which two entities had a forecast at the same time, in order of id. */
async function sharedQuestions(
  context: SharedContext,
  manifest: ReleaseManifest,
  two: readonly [NamedEntity, NamedEntity],
): Promise<ComparedQuestion[]> {
  return withForecastsOf(context, manifest, two, async (database) => {
    const shared: ComparedQuestion[] = []
    let own: Row[] = []
    const finish = () => {
      const [first] = own
      const time = first && sharedTime(first, own)
      if (time) {
        const { question_id: questionId, outcome, unit, joint, unitQuestions, cluster, week } = first
        shared.push({ questionId, outcome, unit, joint, unitQuestions, cluster, week, ...time })
      }
      own = []
    }
    for await (const rows of database.rowBlocks<Row>(SHARED)) {
      for (const row of rows) {
        if (row.question_id !== own[0]?.question_id) finish()
        own.push(row)
      }
    }
    finish()
    return shared
  })
}

/** A question with an outcome on which an entity has forecasts but no score. */
export interface UnscoredQuestion {
  question_id: string
  outcome: 'yes' | 'no' | 'annulled'
  /** Whether all its forecasts came at the effective close or later. */
  isLate: boolean
}

/**
 * Grain: one row per question that the entity had forecast by `as_of` and whose outcome was known then,
 * scored or not.
 */
const FORECAST_QUESTIONS = (asOf: string) => `
  SELECT question_id, r.outcome, min(forecast_at) >= any_value(${ENDS_AT}) AS "isLate"
  FROM counted JOIN current_questions q USING (question_id) JOIN current_resolutions r USING (question_id)
  WHERE r.outcome <> 'open' AND r.resolved_at <= ${literal(asOf)}::TIMESTAMPTZ
    AND forecast_at <= ${literal(asOf)}::TIMESTAMPTZ
  GROUP BY ALL ORDER BY question_id`

/** Returns the questions with an outcome that an entity forecast without a score, in order of id. */
export async function unscoredQuestions(
  context: SharedContext,
  manifest: ReleaseManifest,
  entity: NamedEntity,
  scored: ReadonlySet<string>,
): Promise<UnscoredQuestion[]> {
  return withForecastsOf(context, manifest, [entity], async (database) => {
    const rows = await database.rows<UnscoredQuestion>(FORECAST_QUESTIONS(manifest.as_of))
    return rows.filter(({ question_id }) => !scored.has(question_id))
  })
}
