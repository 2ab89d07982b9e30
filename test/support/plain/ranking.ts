// Rank on the board, percentile in the field, and their intervals, all from published numbers (METHODOLOGY
// §3, Rank).
import { roundHalfEven } from './rounding.ts'

export interface Range {
  lower: number
  upper: number
}

/** An eligible entity. */
export interface Ranked {
  skill: number
  skill_interval: Range | null
  board_interval: Range | null
}

export interface PlainRank {
  rank: number
  rank_interval: Range
}

export interface PlainPercentile {
  percentile: number
  percentile_interval: Range
}

const EVERYTHING: Range = { lower: -Infinity, upper: Infinity }

/** `board` has all eligible entities of the entity's pool and kind, itself among them. */
export function rankPlainly(board: readonly Ranked[], own: Ranked): PlainRank {
  const count = (holds: (other: Ranked) => boolean) => board.filter(holds).length
  const bar = (entity: Ranked) => entity.board_interval ?? EVERYTHING
  return {
    rank: 1 + count(({ skill }) => skill > own.skill),
    rank_interval: {
      lower: 1 + count((other) => bar(other).lower > bar(own).upper),
      upper: board.length - count((other) => bar(other).upper < bar(own).lower),
    },
  }
}

/** `field` has the eligible voices of the entity's pool and kind, and itself. */
export function percentilePlainly(field: readonly Ranked[], own: Ranked): PlainPercentile {
  const E = field.length
  const { lower, upper } = own.skill_interval ?? EVERYTHING
  const count = (holds: (skill: number) => boolean) => field.filter(({ skill }) => holds(skill)).length
  const below = count((skill) => skill < own.skill)
  const tied = count((skill) => skill === own.skill)
  const l = 1 + count((skill) => skill > upper)
  const u = count((skill) => skill >= lower)
  const percentileAt = (r: number) => roundHalfEven((5000 * (2 * (E - r) + 1)) / E) / 100
  return {
    percentile: roundHalfEven((5000 * (2 * below + tied)) / E) / 100,
    percentile_interval: { lower: percentileAt(u), upper: percentileAt(l) },
  }
}
