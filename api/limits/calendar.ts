// The UTC day and month of a time. The last day is cached, because writing the date twice for each call with
// a key costs up to a tenth of the rate of reads (`npm run bench -- --only reads`).
import { DAY_MS } from '../../schemas/values.ts'

export interface Day {
  /** The date, as `2026-01-31`. */
  name: string
  /** The month, as `2026-01`. */
  month: string
  startMs: number
  monthStartMs: number
  nextMonthMs: number
}

let last: Day | undefined

export function dayOf(at: Date): Day {
  const ms = at.getTime()
  if (!last || ms < last.startMs || ms >= last.startMs + DAY_MS) last = dayAt(at)
  return last
}

function dayAt(at: Date): Day {
  const name = at.toISOString().slice(0, 10)
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
  return {
    name,
    month: name.slice(0, 7),
    startMs: Date.UTC(year, month, at.getUTCDate()),
    monthStartMs: Date.UTC(year, month),
    nextMonthMs: Date.UTC(year, month + 1),
  }
}
