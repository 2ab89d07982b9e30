// The numbers of a row of a board, from the settled pairs that the row is about.
import type { EntityMetrics } from '../../schemas/metrics.ts'
import { exactSum } from './exact-sum.ts'
import type { Methodology } from './methodology.ts'
import type { ContestedPairs, SkillPairs } from './pairs.ts'
import { PICO, ratio } from './round.ts'
import { alphaOf, intervalOf, skillAgainst } from './skill.ts'

export interface BoardScores {
  skill: number
  /** At the level of every board. Null in one cluster. */
  board_interval: EntityMetrics['board_interval']
  contested_questions: number
  resolved_questions: number
  brier: number
}

/** Scores pairs of which at least one is contested. */
export function boardScores(
  methodology: Methodology,
  { rowCount, columns: { brier_part, coverage } }: SkillPairs,
  contested: ContestedPairs,
): BoardScores {
  const skill = skillAgainst(methodology, contested, contested.standard)
  const interval = intervalOf(methodology, skill, alphaOf(methodology, null))
  return {
    skill: skill.skill!,
    board_interval: interval && { lower: interval.lower, upper: interval.upper },
    contested_questions: contested.own.length,
    resolved_questions: rowCount,
    brier: ratio(exactSum(brier_part) / PICO, exactSum(coverage) / PICO)!,
  }
}
