// The known forecasts that a file of questions or resolutions makes void, because their question then closes,
// or its outcome is then known, before they were made.
import type { Database } from '../duckdb.ts'
import { RESOLVED } from '../tables/views.ts'
import type { ImportKind } from './columns.ts'

export interface VoidForecasts {
  forecasts: number
  /** The forecasters and agents who made them. */
  entities: number
}

const knownAt = (row: string) =>
  `if(${row}.outcome <> 'open', least(${row}.resolved_at, ${row}.known_at), NULL)`

/** Grain: one row per question in `fresh`, with its effective close before and after the import. */
const CLOSES = {
  questions: `
    SELECT question_id, least(standing.closes_at, known_at) AS closed_before, least(fresh.closes_at, known_at) AS closes_now
    FROM fresh JOIN standing USING (question_id)
    LEFT JOIN (SELECT question_id, least(resolved_at, known_at) AS known_at FROM ${RESOLVED}) USING (question_id)`,
  resolutions: `
    SELECT question_id, least(closes_at, ${knownAt('standing')}) AS closed_before, least(closes_at, ${knownAt('fresh')}) AS closes_now
    FROM fresh JOIN (SELECT question_id, closes_at FROM current_questions) USING (question_id)
    LEFT JOIN standing USING (question_id)`,
}

/** Counts the forecasts that count before an import and not after it. */
export async function voidForecasts(database: Database, kind: ImportKind): Promise<VoidForecasts> {
  if (kind !== 'questions' && kind !== 'resolutions') return { forecasts: 0, entities: 0 }
  const [found] = await database.rows<{ forecasts: bigint; entities: bigint }>(
    `SELECT count(*) AS forecasts, count(DISTINCT (entity_type, entity_id)) AS entities
     FROM forecasts JOIN (FROM (${CLOSES[kind]}) WHERE closes_now < closed_before) moved USING (question_id)
     WHERE forecast_at >= closes_now AND forecast_at < closed_before AND probability IS NOT NULL
       AND (entity_type = 'forecaster' OR forecasts.source = 'api')`,
  )
  return { forecasts: Number(found!.forecasts), entities: Number(found!.entities) }
}
