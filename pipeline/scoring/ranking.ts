// Ranks the entities of one kind, and decides their certifications and badges (METHODOLOGY §3).
import type { EntityMetrics } from '../../schemas/metrics.ts'
import type { Badge, Certification } from '../../schemas/payloads.ts'
import type { EntityScores } from './entity.ts'
import type { Methodology } from './methodology.ts'
import { rounded } from './round.ts'

/** An entity's position among its kind, computed from a tally and the entity's own skill. */
export type Standing = Pick<EntityMetrics, 'rank' | 'percentile' | 'eligible_population' | 'population'>

/** The skill by which an entity is ranked: as published, with six decimals. Null if it is not eligible. */
export function rankedSkill({ eligible, skill }: Pick<EntityScores, 'eligible' | 'skill'>): number | null {
  return eligible && skill !== null ? rounded(skill) : null
}

/** The distribution of skill over the eligible entities of a kind. */
export interface Tally {
  /** The entities of the kind, eligible or not. */
  population: number
  eligible: number
  /** For each skill, the numbers of eligible entities with a lower skill, and with one that is not higher. */
  places: ReadonlyMap<number, readonly [lower: number, notHigher: number]>
}

/** Counts the ranked skills of all entities of a kind, in any order. Null is an entity that is not eligible. */
export function tallyOf(rankedSkills: Iterable<number | null>): Tally {
  const counts = new Map<number, number>()
  let population = 0
  for (const skill of rankedSkills) {
    population += 1
    if (skill !== null) counts.set(skill, (counts.get(skill) ?? 0) + 1)
  }
  const places = new Map<number, [lower: number, notHigher: number]>()
  let eligible = 0
  for (const skill of Float64Array.from(counts.keys()).sort()) {
    const lower = eligible
    eligible += counts.get(skill)!
    places.set(skill, [lower, eligible])
  }
  return { population, eligible, places }
}

/** The standing of an entity with this ranked skill. The tally must include the entity. */
export function standingIn({ population, eligible, places }: Tally, skill: number | null): Standing {
  const kind = { eligible_population: eligible, population }
  if (skill === null) return { rank: null, percentile: null, ...kind }
  const [lower, notHigher] = places.get(skill)!
  return {
    rank: 1 + eligible - notHigher,
    percentile: rounded((100 * (lower + (notHigher - lower) / 2)) / eligible, 2),
    ...kind,
  }
}

/** Whether the lower bound of the skill's interval, as published, is above 0. */
function aboveZero({ skill_interval }: EntityScores): boolean {
  return skill_interval !== null && rounded(skill_interval.lower) > 0
}

export function certificationOf(
  { parameters }: Methodology,
  scores: EntityScores,
  { percentile }: Pick<Standing, 'percentile'>,
): Certification {
  const { resolved_questions: questions } = scores
  if (questions < parameters.eligible_questions) return 'none'
  if (!aboveZero(scores) || questions < parameters.certified_questions) return 'provisional'
  const expert = questions >= parameters.expert_questions && percentile !== null
  return expert && percentile >= parameters.expert_percentile ? 'expert' : 'certified'
}

export function badgeOf(
  { parameters }: Methodology,
  scores: EntityScores,
  { percentile }: Pick<Standing, 'percentile'>,
): Badge {
  if (percentile === null) return 'none'
  if (aboveZero(scores)) {
    if (percentile >= parameters.platinum_percentile) return 'platinum'
    if (percentile >= parameters.gold_percentile) return 'gold'
  }
  if (percentile >= parameters.silver_percentile) return 'silver'
  return percentile >= parameters.bronze_percentile ? 'bronze' : 'none'
}
