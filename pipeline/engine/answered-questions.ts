// The settled questions of a release with what was forecast on them in the end, as tables of DuckDB.
import type { Database } from '../duckdb.ts'
import { LAST_COLUMNS } from '../scoring/last-forecasts.ts'

/** A settled question that somebody forecast. */
export interface AnsweredQuestion {
  /** Its number. */
  question: number
  questionId: string
  outcome: 0 | 1
  /** The text of its course; null if the average never moved. */
  course: string | null
  /**
   * How many of the settled questions have a crowd, and in how many of them it was further off; null if this
   * one has none.
   */
  crowds: number
  surprising: number | null
}

/**
 * The error of each crowd in parts per million, as `crowdOf` has its average. Grain: one row per settled
 * question with a voice whose forecast stood at the end.
 */
const CROWDS = `SELECT question, abs(round_even(sum(ppm)::DOUBLE / count(*), 0) - any_value(yes) * 1e6) AS error
  FROM last_forecast JOIN question USING (question) WHERE voice = 1 AND ppm >= 0 GROUP BY question`

/**
 * Makes `last_forecast`, one row per entity and settled question in the order of `LAST_COLUMNS`, and
 * `answered_question`, one row per settled question that somebody forecast, by their numbers in order.
 * Returns how many `answered_question` has.
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

/** Grain: one row per question from one number in `answered_question` up to another, in order. */
export function answeredBetween(start: number, end: number): string {
  return `SELECT question, question_id AS "questionId", yes AS outcome, course, crowds, surprising FROM answered_question
    WHERE number >= ${start} AND number < ${end} ORDER BY number`
}

/** Grain: one row per entity and question, from one question to another, in order. */
export function lastForecastsOf(first: number, last: number): string {
  return `SELECT ${Object.keys(LAST_COLUMNS).join(', ')} FROM last_forecast
    WHERE question BETWEEN ${first} AND ${last} ORDER BY question, entity`
}
