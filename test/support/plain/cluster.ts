// The cluster of a question: its event, or the week of its category (METHODOLOGY §1).

const DAY_MS = 86_400_000

export interface Clustered {
  category: string | null
  event_id: string | null
  closes_at_ms: number
}

export function clusterOf({ category, event_id, closes_at_ms }: Clustered): string {
  if (event_id !== null && event_id !== '') return `event:${event_id}`
  return `week:${category ?? ''}|${isoWeek(closes_at_ms)}`
}

/** The week of ISO 8601 in UTC, such as 2026-W48. A week has the year of its Thursday. */
export function isoWeek(atMs: number): string {
  const date = new Date(atMs)
  const daysSinceMonday = (date.getUTCDay() + 6) % 7
  const midnightMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate())
  const thursday = new Date(midnightMs + (3 - daysSinceMonday) * DAY_MS)
  const year = thursday.getUTCFullYear()
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS))
  return `${year}-W${String(week).padStart(2, '0')}`
}
