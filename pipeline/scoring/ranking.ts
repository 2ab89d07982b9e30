// Ranks entities of one kind among each other and says what they have earned (METHODOLOGY §3).
import type { Badge, Certification } from '../../schemas/payloads.ts'
import type { EntityScores } from './entity.ts'
import type { Methodology } from './methodology.ts'
import { rounded } from './round.ts'

export interface Standing {
  /** 1 + the number of eligible entities with a higher skill; null when not eligible. */
  rank: number | null
  /** 0..100, two decimals: 100·(lower + tied/2)/eligible, the entity itself among the tied. */
  percentile: number | null
}

export interface Standings {
  eligible: number
  /** In the order of the entities given. */
  standings: Standing[]
}

/** Ranks the eligible among `entities`, by skill as published (six decimals). */
export function rank(entities: readonly Pick<EntityScores, 'eligible' | 'skill'>[]): Standings {
  const skillOf = (entity: Pick<EntityScores, 'eligible' | 'skill'>) =>
    entity.eligible && entity.skill !== null ? rounded(entity.skill) : null
  const sorted = Float64Array.from(entities.map(skillOf).filter((skill) => skill !== null)).sort()
  const eligible = sorted.length
  const standings = entities.map((entity): Standing => {
    const skill = skillOf(entity)
    if (skill === null) return { rank: null, percentile: null }
    const lower = firstAtLeast(sorted, (value) => value >= skill)
    const notHigher = firstAtLeast(sorted, (value) => value > skill)
    return {
      rank: 1 + eligible - notHigher,
      percentile: rounded((100 * (lower + (notHigher - lower) / 2)) / eligible, 2),
    }
  })
  return { eligible, standings }
}

function firstAtLeast(sorted: Float64Array, holds: (value: number) => boolean): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(sorted[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}

/** The interval's lower bound as published lies above 0. */
function aboveChance({ skillInterval }: EntityScores): boolean {
  return skillInterval !== null && rounded(skillInterval.lower) > 0
}

export function certificationOf(
  { parameters }: Methodology,
  scores: EntityScores,
  { percentile }: Standing,
): Certification {
  const { questions } = scores
  if (questions < parameters.eligible_questions) return 'none'
  if (!aboveChance(scores) || questions < parameters.certified_questions) return 'provisional'
  const expert = questions >= parameters.expert_questions && percentile !== null
  return expert && percentile >= parameters.expert_percentile ? 'expert' : 'certified'
}

export function badgeOf({ parameters }: Methodology, scores: EntityScores, { percentile }: Standing): Badge {
  if (percentile === null) return 'none'
  if (aboveChance(scores)) {
    if (percentile >= parameters.platinum_percentile) return 'platinum'
    if (percentile >= parameters.gold_percentile) return 'gold'
  }
  if (percentile >= parameters.silver_percentile) return 'silver'
  return percentile >= parameters.bronze_percentile ? 'bronze' : 'none'
}
