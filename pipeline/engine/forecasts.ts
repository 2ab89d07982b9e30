// Reads the forecasts for the sweep, question by question, in the order that fixes every bit of the scores.
import type { Database } from '../duckdb.ts'
import type { ForecastColumns } from '../scoring/question.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { FORECAST_COLUMNS, TIED_COLUMNS, createTable, forecastsInOrder, tiedForecasts } from './queries.ts'
import { runsOf } from './rows.ts'
import type { ForecastQuestion } from './sweep.ts'

/**
 * Yields first the questions without ties, in the order of their numbers, then those with ties, in the same
 * order.
 */
export async function* forecastsByQuestion(
  database: Database,
  methodology: Methodology,
): AsyncIterable<ForecastQuestion> {
  await database.run(createTable('tied', TIED_COLUMNS))
  const tied = await database.appender('tied', TIED_COLUMNS)
  let tiedCount = 0
  for await (const { question, forecasts } of read(database, forecastsInOrder(methodology))) {
    if (isTied(forecasts)) {
      tied.columns.question[tied.row] = question
      tied.next()
      tiedCount += 1
    } else yield { question, forecasts }
  }
  tied.close()
  if (tiedCount > 0) yield* read(database, tiedForecasts(methodology))
}

async function* read(database: Database, sql: string): AsyncIterable<ForecastQuestion> {
  const blocks = database.columns(sql, FORECAST_COLUMNS)
  for await (const { number, rows } of runsOf(blocks, FORECAST_COLUMNS, 'question')) {
    yield { question: number, forecasts: { count: rows.rowCount, ...rows.columns } }
  }
}

/**
 * Up to this many forecasts, the sum of squared errors stays below 2^53, so that it is exact in any order.
 */
const EXACT_FORECASTS = Math.floor(2 ** 53 / 1e12)

/**
 * Whether the order of forecast_ids could change the question's scores. The forecasts must be in the order
 * (time, entity). METHODOLOGY orders forecasts of the same millisecond by forecast_id. Between different
 * entities that order changes no bit as long as the sums over them are exact.
 */
function isTied({ count, atMs, entity }: ForecastColumns): boolean {
  for (let row = 1; row < count; row++) {
    if (atMs[row] !== atMs[row - 1]) continue
    if (entity[row] === entity[row - 1] || count > EXACT_FORECASTS) return true
  }
  return false
}
