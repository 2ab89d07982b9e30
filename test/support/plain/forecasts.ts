// The forecasts of a question as raw rows. A row without a probability withdraws what stood (METHODOLOGY §1).
import { inByteOrder } from './order.ts'

/** A forecast or a withdrawal as it was recorded. Rows are in no order and may repeat. */
export interface RawForecast {
  forecastId: string
  entity: string
  atMs: number
  /** Null withdraws. */
  ppm: number | null
  recordedAtMs: number
  imported: boolean
  /** True also for everything that an agent says. */
  witnessed: boolean
}

/** One row for each forecast_id, the one recorded first, in the order (time, forecast_id). */
export function distinctForecasts<Row extends RawForecast>(rows: readonly Row[]): Row[] {
  const first = new Map<string, Row>()
  for (const row of rows) {
    const other = first.get(row.forecastId)
    if (other === undefined || row.recordedAtMs < other.recordedAtMs) first.set(row.forecastId, row)
  }
  return [...first.values()].sort((a, b) => a.atMs - b.atMs || inByteOrder(a.forecastId, b.forecastId))
}
