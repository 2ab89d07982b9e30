// The spans of a question's life in which no standing forecast changes (METHODOLOGY §1).
import { type RawForecast, distinctForecasts } from './forecasts.ts'

/** Times are integer milliseconds UTC; 1 = yes, 0 = no. */
export interface PlainQuestion {
  openedAtMs: number
  closesAtMs: number
  resolvedAtMs: number
  outcome: 0 | 1
}

export interface Standing {
  entity: string
  ppm: number
}

export interface Span {
  fromMs: number
  spanMs: number
  /** The entities that have a forecast standing, in the order of their first rows. */
  standing: Standing[]
}

/** The effective close c. */
function closeOf({ closesAtMs, resolvedAtMs }: PlainQuestion): number {
  return Math.min(closesAtMs, resolvedAtMs)
}

/** The rows made before c, withdrawals among them, in order. */
export function rowsBeforeClose(question: PlainQuestion, rows: readonly RawForecast[]): RawForecast[] {
  return distinctForecasts(rows).filter(({ atMs }) => atMs < closeOf(question))
}

/**
 * From opening to c; nothing for a question that ends before it opens. `rows` are those before c, in order.
 */
export function spansOf(question: PlainQuestion, rows: readonly RawForecast[]): Span[] {
  const { openedAtMs } = question
  const closeMs = closeOf(question)
  if (closeMs <= openedAtMs) return []
  const entities = [...new Set(rows.map(({ entity }) => entity))]
  const changes = rows.map(({ atMs }) => Math.max(atMs, openedAtMs))
  const breakpoints = [...new Set([openedAtMs, ...changes, closeMs])].sort((a, b) => a - b)
  return breakpoints.slice(1).map((toMs, i) => {
    const fromMs = breakpoints[i]!
    const standing = entities.flatMap((entity): Standing[] => {
      const latest = rows.findLast((row) => row.entity === entity && row.atMs <= fromMs)
      return latest === undefined || latest.ppm === null ? [] : [{ entity, ppm: latest.ppm }]
    })
    return { fromMs, spanMs: toMs - fromMs, standing }
  })
}
