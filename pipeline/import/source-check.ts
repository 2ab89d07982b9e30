// The forecasts and the scores that the files of a platform have, for a comparison with those of this
// service.
import type { Database } from '../duckdb.ts'
import { normal } from './cells.ts'
import type { ImportKind } from './columns.ts'
import { rowsWithIds } from './ids.ts'
import { rowsFrom, valueOf } from './row.ts'
import { type ImportSource, formTable } from './source.ts'
import { type Keyed, judgedRows } from './source-rows.ts'
import { countOf } from './take-in.ts'

/**
 * Makes the table `said` of the forecasts that the files have on questions of yes and no with an outcome,
 * whatever became of the rows. Grain: one row per forecast; a withdrawal has no probability. The outcome of
 * a row that has one itself is its own. Returns whether there is any.
 */
export async function stageSaid(database: Database, source: ImportSource): Promise<boolean> {
  if (!['forecasts', 'resolutions'].every((kind) => source.rows.some((rows) => rows.kind === kind))) {
    return false
  }
  // A row that the source itself leaves out says nothing.
  const rows = (kind: ImportKind) => `(${judgedRows(kind)} WHERE own_reason IS NULL)`
  await database.run(
    `CREATE OR REPLACE TEMP TABLE said AS
     WITH outcomes AS (
       SELECT question_id, arg_min(outcome, (reason IS NOT NULL, record)) AS outcome
       FROM ${rows('resolutions')} GROUP BY question_id)
     SELECT DISTINCT f.entity_id, f.question_id, f.${valueOf('forecast_at')} AS forecast_at,
       try_cast(f.probability AS DOUBLE) AS probability, coalesce(own.outcome, outcomes.outcome) AS outcome
     FROM ${rows('forecasts')} f
     LEFT JOIN ${rows('resolutions')} own USING (file, origin)
     LEFT JOIN outcomes ON outcomes.question_id = f.question_id
     WHERE coalesce(own.outcome, outcomes.outcome) IN ('yes', 'no') AND (f.probability = 'withdrawn'
       OR coalesce(try_cast(f.probability AS DOUBLE) BETWEEN 0 AND 1, false))`,
  )
  return (await countOf({ database }, 'said')) > 0
}

/**
 * Makes the table `published` of the scores that the files have. Grain: one row per score of a forecaster on
 * a question. `stageRows` must have defined the ids of people. Returns whether there is any.
 */
export async function stageScores(
  database: Database,
  source: ImportSource,
  { idsSecret }: Keyed,
): Promise<boolean> {
  const { scores = [], namespace } = source
  if (scores.length === 0) return false
  const isKeyed = idsSecret !== undefined
  const scoreRows = scores.map(({ form, columns: { entity_id, question_id, score, value } }) =>
    rowsFrom(`${formTable(form)} r`, {
      entity: normal(entity_id),
      question: normal(question_id),
      score,
      value: `try_cast(${value} AS DOUBLE)`,
    }),
  )
  const known = `(FROM (${scoreRows.join(' UNION ALL ')}) WHERE entity IS NOT NULL AND score IS NOT NULL AND value IS NOT NULL)`
  const identified = rowsWithIds(known, {
    entity_id: { text: 'entity', namespace, isKeyed },
    question_id: { text: 'question', namespace },
  })
  await database.run(
    `CREATE OR REPLACE TEMP TABLE published AS SELECT DISTINCT entity_id, question_id, score, value FROM (${identified})`,
  )
  return (await countOf({ database }, 'published')) > 0
}
