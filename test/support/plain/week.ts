// The week of an instant (METHODOLOGY §1).

const DAY_MS = 86_400_000

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
