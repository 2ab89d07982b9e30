// Computes the numbers of one row of a board from settled pairs.
import type { EntityMetrics } from '../../schemas/metrics.ts'
import { meansOf } from './means.ts'
import type { Methodology } from './methodology.ts'
import { type EntityPairs, contestedRows } from './pairs.ts'
import { alphaOf, intervalOf, skillsOn } from './skill.ts'

export interface BoardScores {
  skill: number
  /** At the level of every board. Null in one cluster. */
  board_interval: EntityMetrics['board_interval']
  contested_questions: number
  resolved_questions: number
  brier: number
}

/** At least one of the pairs must be contested. */
export function boardScores(methodology: Methodology, pairs: EntityPairs): BoardScores {
  const skill = skillsOn(methodology, pairs, contestedRows(pairs))('average')
  const interval = intervalOf(methodology, skill, alphaOf(methodology, null))
  return {
    skill: skill.skill!,
    board_interval: interval && { lower: interval.lower, upper: interval.upper },
    contested_questions: skill.questions,
    resolved_questions: new Set(pairs.columns.unit.subarray(0, pairs.rowCount)).size,
    brier: meansOf(pairs).brier!,
  }
}
