// Rank, percentile and their intervals, certification and badge, all from published numbers (METHODOLOGY §3).
import { roundHalfEven } from './rounding.ts'
import type { PlainInterval } from './skill.ts'
import type { VoiceRule } from './voices.ts'

export interface PlainRank {
  rank: number
  rank_interval: { lower: number; upper: number }
  percentile: number
  percentile_interval: { lower: number; upper: number }
}

/** `field` holds the skills of the entity's field, its own among them. */
export function rankPlainly(
  field: readonly number[],
  skill: number,
  interval: Pick<PlainInterval, 'lower' | 'upper'> | null,
): PlainRank {
  const E = field.length
  const lower = interval?.lower ?? -Infinity
  const upper = interval?.upper ?? Infinity
  const count = (holds: (other: number) => boolean) => field.filter(holds).length
  const rank_interval = {
    lower: 1 + count((other) => other > upper),
    upper: count((other) => other >= lower),
  }
  const percentileAt = (rank: number) => roundHalfEven((5000 * (2 * (E - rank) + 1)) / E) / 100
  const below = count((other) => other < skill)
  const tied = count((other) => other === skill)
  return {
    rank: 1 + count((other) => other > skill),
    rank_interval,
    percentile: roundHalfEven((5000 * (2 * below + tied)) / E) / 100,
    percentile_interval: {
      lower: percentileAt(rank_interval.upper),
      upper: percentileAt(rank_interval.lower),
    },
  }
}

/** What a certificate or a badge follows from. */
export interface PlainEvidence {
  contested_questions: number
  clusters: number
  skill_interval: PlainInterval | null
  crowd_skill_interval: PlainInterval | null
  percentile: number | null
}

const above = (interval: PlainInterval | null): boolean => interval !== null && interval.lower > 0

export function certificationPlainly(
  {
    contested_questions: n,
    clusters,
    skill_interval,
    crowd_skill_interval,
  }: Omit<PlainEvidence, 'percentile'>,
  rule: VoiceRule,
): 'none' | 'provisional' | 'certified' | 'expert' {
  if (n < 25) return 'none'
  if (rule === 'everyone' || n < 50 || clusters < 25 || !above(skill_interval)) return 'provisional'
  return n >= 100 && above(crowd_skill_interval) ? 'expert' : 'certified'
}

export function badgePlainly(
  { clusters, skill_interval, percentile }: Pick<PlainEvidence, 'clusters' | 'skill_interval' | 'percentile'>,
  rule: VoiceRule,
): 'none' | 'bronze' | 'silver' | 'gold' | 'platinum' {
  // The percentile is null for those who are not eligible.
  if (percentile === null || percentile < 50) return 'none'
  if (rule === 'everyone') return 'bronze'
  const proven = clusters >= 25 && above(skill_interval)
  if (proven && percentile >= 99) return 'platinum'
  if (proven && percentile >= 90) return 'gold'
  return percentile >= 75 ? 'silver' : 'bronze'
}
