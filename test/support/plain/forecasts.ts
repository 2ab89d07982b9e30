// The forecasts of one question as raw rows, and as the columns that the fast scorer takes.

/** A forecast of one question as it was recorded. Rows are in no order and may repeat. */
export interface RawForecast {
  forecastId: string
  entity: string
  atMs: number
  ppm: number
  recordedAtMs: number
  imported: boolean
}

/** One row for each forecast_id, the one recorded first, in the order (time, forecast_id). */
export function distinctForecasts(rows: readonly RawForecast[]): RawForecast[] {
  const first = new Map<string, RawForecast>()
  for (const row of rows) {
    const other = first.get(row.forecastId)
    if (other === undefined || row.recordedAtMs < other.recordedAtMs) first.set(row.forecastId, row)
  }
  return [...first.values()].sort((a, b) => a.atMs - b.atMs || (a.forecastId < b.forecastId ? -1 : 1))
}

/** The forecasts as columns for the fast scorer. An entity's number is its index in `entities`. */
export function columnsOf(rows: readonly RawForecast[], entities: readonly string[]) {
  const forecasts = distinctForecasts(rows)
  return {
    count: forecasts.length,
    entity: Int32Array.from(forecasts, ({ entity }) => entities.indexOf(entity)),
    atMs: Float64Array.from(forecasts, ({ atMs }) => atMs),
    ppm: Int32Array.from(forecasts, ({ ppm }) => ppm),
    imported: Int32Array.from(forecasts, ({ imported }) => (imported ? 1 : 0)),
  }
}
