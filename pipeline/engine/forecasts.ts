// Reads the forecasts and prices for the sweep, question by question, in the order that fixes every bit of
// the scores.
import type { ColumnKinds } from '../../schemas/columns.ts'
import type { Database } from '../duckdb.ts'
import type { ForecastColumns } from '../scoring/question.ts'
import type { Methodology } from '../scoring/methodology.ts'
import {
  FORECAST_COLUMNS,
  PRICE,
  TIED_COLUMNS,
  createTable,
  forecastsInOrder,
  tiedForecasts,
} from './queries.ts'
import { Rows, runsOf } from './rows.ts'
import type { ForecastQuestion } from './sweep.ts'

const PRICE_COLUMNS = { atMs: 'double', ppm: 'int32' } as const satisfies ColumnKinds

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
  for await (const each of read(database, forecastsInOrder(methodology))) {
    if (isTied(each.forecasts)) {
      tied.columns.question[tied.row] = each.question
      tied.next()
      tiedCount += 1
    } else yield each
  }
  tied.close()
  if (tiedCount > 0) yield* read(database, tiedForecasts(methodology))
}

async function* read(database: Database, sql: string): AsyncIterable<ForecastQuestion> {
  const blocks = database.columns(sql, FORECAST_COLUMNS)
  const prices = new Rows(PRICE_COLUMNS)
  for await (const { number, rows } of runsOf(blocks, FORECAST_COLUMNS, 'question')) {
    const forecasts = { ...rows.columns, count: takeOutPrices(rows, prices) }
    if (forecasts.count === 0) continue
    yield { question: number, forecasts, prices: { count: prices.rowCount, ...prices.columns } }
  }
}

/**
 * Moves the prices of a question to `prices`, and the forecasts together. Returns how many forecasts there
 * are.
 */
function takeOutPrices(
  { rowCount, columns: { entity, atMs, ppm, witnessed } }: Rows<typeof FORECAST_COLUMNS>,
  prices: Rows<typeof PRICE_COLUMNS>,
): number {
  prices.clear()
  let count = 0
  for (let row = 0; row < rowCount; row++) {
    if (entity[row] === PRICE) {
      prices.columns.atMs[prices.row] = atMs[row]!
      prices.columns.ppm[prices.row] = ppm[row]!
      prices.next()
      continue
    }
    if (count < row) {
      for (const column of [entity, atMs, ppm, witnessed]) column[count] = column[row]!
    }
    count += 1
  }
  return count
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
