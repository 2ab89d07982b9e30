// The spans of a question's life in which neither a standing forecast nor the price changes (METHODOLOGY §1).
import type { RawForecast } from './forecasts.ts'
import type { Asked } from './asked.ts'

/** What a market said. Null: no market stands. */
export interface Price {
  atMs: number
  ppm: number | null
}

export interface Span {
  fromMs: number
  spanMs: number
  /** Whether titles look at it. */
  isJudged: boolean
  /** The forecasts that stand, in ppm. */
  standing: ReadonlyMap<string, number>
  /** The price that stands, in ppm. */
  price: number | null
}

const PRICE_MS = 24 * 3_600_000

/** From opening to c. `rows` and `prices` are in order; those made at or after c count for nothing. */
export function spansOf(asked: Asked, rows: readonly RawForecast[], prices: readonly Price[]): Span[] {
  const { openedAtMs, endMs, judgedUntilMs } = asked
  const times = [
    openedAtMs,
    judgedUntilMs,
    endMs,
    ...rows.map(({ atMs }) => atMs),
    ...prices.flatMap(({ atMs }) => [atMs, atMs + PRICE_MS]),
  ].filter((atMs) => atMs >= openedAtMs && atMs <= endMs)
  const breakpoints = [...new Set(times)].sort((a, b) => a - b)
  const entities = [...new Set(rows.map(({ entity }) => entity))]
  return breakpoints.slice(0, -1).map((fromMs, i): Span => {
    const standing = entities.flatMap((entity): [string, number][] => {
      const ppm = rows.findLast((row) => row.entity === entity && row.atMs <= fromMs)?.ppm ?? null
      return ppm === null ? [] : [[entity, ppm]]
    })
    const price = prices.findLast(({ atMs }) => atMs <= fromMs)
    return {
      fromMs,
      spanMs: breakpoints[i + 1]! - fromMs,
      isJudged: fromMs < judgedUntilMs,
      standing: new Map(standing),
      price: price === undefined || fromMs >= price.atMs + PRICE_MS ? null : price.ppm,
    }
  })
}

/** The rows that stand at some instant before c. */
export function countedRows(asked: Asked, own: readonly RawForecast[]): RawForecast[] {
  return own.filter(({ atMs, ppm }, i) => {
    const untilMs = Math.min(own[i + 1]?.atMs ?? Infinity, asked.endMs)
    return ppm !== null && untilMs > Math.max(atMs, asked.openedAtMs)
  })
}
