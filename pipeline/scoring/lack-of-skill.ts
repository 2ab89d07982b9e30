// Decides from published numbers whether a record shows a skill above 0, which the higher titles take
// (METHODOLOGY §3).
import type { EntityMetrics } from '../../schemas/metrics.ts'
import type { Methodology } from './methodology.ts'

/** The published numbers that decide. */
export type SkillGrounds = Pick<
  EntityMetrics,
  'clusters' | 'evidence' | 'skill_interval' | 'strict_skill_interval'
>

/** An interval that is null is not above 0. */
export function isAboveZero(interval: EntityMetrics['skill_interval']): boolean {
  return interval !== null && interval.lower > 0
}

/** Why a record does not show a skill above 0; undefined if it does. */
export function lackOfSkill(
  { parameters }: Methodology,
  { clusters, evidence, skill_interval, strict_skill_interval }: SkillGrounds,
): string | undefined {
  if (clusters < parameters.certified_clusters) {
    return `its questions are of ${clusters} clusters, fewer than ${parameters.certified_clusters}`
  }
  if (evidence < parameters.least_evidence) {
    return `its evidence is ${evidence}, less than ${parameters.least_evidence}`
  }
  if (!isAboveZero(skill_interval)) return 'the interval of its skill is not above 0'
  if (!isAboveZero(strict_skill_interval)) return 'the strict interval of its skill is not above 0'
  return undefined
}
