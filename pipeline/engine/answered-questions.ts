// The settled questions of a release with the last forecasts on them, as tables of DuckDB.
import type { Database } from '../duckdb.ts'
import { LAST_COLUMNS } from '../scoring/last-forecasts.ts'

/** A settled question with a forecast. */
export interface AnsweredQuestion {
  /** Its number. */
  question: number
  questionId: string
  outcome: 0 | 1
  /** The text of its course; null if the average never moved. */
  course: string | null
  /**
   * How many settled questions have a crowd, and on how many the crowd was further off than on this one; null
   * if this one has none.
   */
  crowds: number
  surprising: number | null
}

/**
 * The error of each crowd's average in parts per million, by the same rounding as in `crowdOf`. Grain: one
 * row per settled question on which a voice's forecast stood at the end.
 */
const CROWDS = `SELECT question, abs(round_even(sum(ppm)::DOUBLE / count(*), 0) - any_value(yes) * 1e6) AS error
  FROM last_forecast JOIN question USING (question) WHERE voice = 1 AND ppm >= 0 GROUP BY question`

/**
 * Makes two tables. `last_forecast` has one row per entity and settled question, with the columns of
 * `LAST_COLUMNS` in order. `answered_question` has one row per settled question with a forecast, numbered in
 * order. Returns how many rows `answered_question` has.
 */
export async function createAnswered(database: Database): Promise<number> {
  await database.run(
    `CREATE TEMP TABLE last_forecast AS
     SELECT question, entity, closing_probability AS ppm, coverage, (own = entity)::INTEGER AS voice,
       (entity.entity_type = 'forecaster' OR name IS NOT NULL)::INTEGER AS listed
     FROM scored JOIN voice USING (entity) JOIN entity USING (entity) WHERE settled = 1 ORDER BY question, entity`,
  )
  await database.run(
    `CREATE TEMP TABLE answered_question AS
     SELECT row_number() OVER (ORDER BY question) - 1 AS number, question, question_id, yes, course,
       count(error) OVER ()::INTEGER AS crowds,
       CASE WHEN error IS NOT NULL THEN (rank() OVER (ORDER BY error DESC NULLS LAST) - 1)::INTEGER END AS surprising
     FROM question SEMI JOIN last_forecast USING (question) LEFT JOIN told USING (question)
       LEFT JOIN (${CROWDS}) USING (question)`,
  )
  const [row] = await database.rows<{ questions: number }>(
    'SELECT count(*)::INTEGER AS questions FROM answered_question',
  )
  return row!.questions
}

/** Grain: one row per question whose `number` is at least `start` and below `end`, in order. */
export function answeredBetween(start: number, end: number): string {
  return `SELECT question, question_id AS "questionId", yes AS outcome, course, crowds, surprising FROM answered_question
    WHERE number >= ${start} AND number < ${end} ORDER BY number`
}

/** Grain: one row per entity and question, from one question to another, in order. */
export function lastForecastsOf(first: number, last: number): string {
  return `SELECT ${Object.keys(LAST_COLUMNS).join(', ')} FROM last_forecast
    WHERE question BETWEEN ${first} AND ${last} ORDER BY question, entity`
}
