// What a release says of each entity, by the publication.
import type { PublicationKind } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { ScoredEntity } from '../engine/score.ts'
import type { EntityScores } from '../scoring/entity.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { type Standing, badgeOf, certificationOf, rank } from '../scoring/ranking.ts'
import { rounded, roundedOrNull } from '../scoring/round.ts'

/** What every payload of a release says of the release itself. */
export interface Provenance {
  methodology_version: string
  release: number
  as_of: string
  environment: 'production' | 'sandbox'
}

export interface RankedEntity extends ScoredEntity {
  /** By which it was scored. */
  methodology: Methodology
  standing: Standing
  /** Entities of the same kind: all, and those that are ranked. */
  population: number
  eligiblePopulation: number
}

/** Ranks each kind of entity among its own. */
export function rankEntities(
  methodology: Methodology,
  entities: readonly ScoredEntity[],
  entityType: EntityType,
): RankedEntity[] {
  const own = entities.filter((entity) => entity.entityType === entityType)
  const { eligible, standings } = rank(own.map(({ scores }) => scores))
  return own.map((entity, index) => ({
    ...entity,
    methodology,
    standing: standings[index]!,
    population: own.length,
    eligiblePopulation: eligible,
  }))
}

export function payloadsOf(entity: RankedEntity, provenance: Provenance): Record<PublicationKind, object> {
  const { scores, standing } = entity
  const name = entity.entityType === 'agent' ? { agent_id: entity.entityId } : { user_id: entity.entityId }
  const skill = scores.eligible ? roundedOrNull(scores.skill) : null
  const interval = intervalOf(entity)
  return {
    verification: {
      ...name,
      ...titleOf(entity),
      skill,
      percentile: standing.percentile,
      skill_interval: interval,
      resolved_questions: scores.questions,
      ...provenance,
    },
    metrics: {
      ...name,
      eligible: scores.eligible,
      resolved_questions: scores.questions,
      forecasts: scores.forecasts,
      imported_share: roundedOrNull(scores.importedShare),
      coverage_sum: rounded(scores.coverageSum),
      brier: roundedOrNull(scores.brier),
      log_score: roundedOrNull(scores.logScore),
      baseline_score: roundedOrNull(scores.baselineScore),
      peer_score: roundedOrNull(scores.peerScore),
      skill: roundedOrNull(scores.skill),
      skill_interval: interval,
      calibration: calibrationOf(scores),
      calibration_curve: scores.calibrationCurve.map((bin) => ({
        lower: rounded(bin.lower),
        upper: rounded(bin.upper),
        count: bin.count,
        mean_probability: roundedOrNull(bin.meanProbability),
        observed_frequency: roundedOrNull(bin.observedFrequency),
        wilson_lower: roundedOrNull(bin.wilsonLower),
        wilson_upper: roundedOrNull(bin.wilsonUpper),
      })),
      expected_calibration_error: roundedOrNull(scores.expectedCalibrationError),
      ...provenance,
    },
    rankings: {
      ...name,
      ...titleOf(entity),
      eligible: scores.eligible,
      rank: standing.rank,
      percentile: standing.percentile,
      skill,
      eligible_population: entity.eligiblePopulation,
      population: entity.population,
      resolved_questions: scores.questions,
      ...provenance,
    },
    advanced_metrics: {
      ...name,
      resolved_questions: scores.questions,
      skill_stability: roundedOrNull(scores.skillStability),
      skill_deviation: roundedOrNull(scores.skillDeviation),
      windows: scores.windows,
      conviction: roundedOrNull(scores.conviction),
      conviction_gap: roundedOrNull(scores.convictionGap),
      responsiveness: roundedOrNull(scores.responsiveness),
      updates: scores.updates,
      updates_per_question: roundedOrNull(scores.updatesPerQuestion),
      flip_flop: roundedOrNull(scores.flipFlop),
      ...provenance,
    },
  }
}

export function titleOf({
  methodology,
  entityType,
  scores,
  standing,
}: RankedEntity): { certification: string } | { badge: string } {
  return entityType === 'agent'
    ? { certification: certificationOf(methodology, scores, standing) }
    : { badge: badgeOf(methodology, scores, standing) }
}

function intervalOf({ methodology, scores }: RankedEntity): object | null {
  if (!scores.skillInterval) return null
  const { lower, upper } = scores.skillInterval
  return { lower: rounded(lower), upper: rounded(upper), level: methodology.parameters.interval_level }
}

function calibrationOf({ calibration }: EntityScores): object | null {
  if (!calibration) return null
  return {
    brier: rounded(calibration.brier),
    miscalibration: rounded(calibration.miscalibration),
    discrimination: rounded(calibration.discrimination),
    uncertainty: rounded(calibration.uncertainty),
  }
}
