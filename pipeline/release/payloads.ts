// What a release says of each entity: its payloads, its shard, its row in entities.parquet and in a snapshot.
import { parquetWriteBuffer } from 'hyparquet-writer'
import type { PublicationKind, ReleaseShard, SnapshotShard } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { ScoredEntity } from '../engine/score.ts'
import type { EntityScores } from '../scoring/entity.ts'
import { PARAMETERS } from '../scoring/methodology.ts'
import { type Standing, badgeOf, certificationOf, rank } from '../scoring/ranking.ts'
import { rounded, roundedOrNull } from '../scoring/round.ts'
import { canonical } from '../proof/canonical.ts'
import { shardPath } from '../store/paths.ts'

/** What every payload of a release says of the release itself. */
export interface Provenance {
  methodology_version: string
  release: number
  as_of: string
  environment: 'production' | 'sandbox'
}

export interface RankedEntity extends ScoredEntity {
  standing: Standing
  /** Entities of the same kind: all, and those that are ranked. */
  population: number
  eligiblePopulation: number
}

/** Entities to a shard: a shard is read whole, so a few hundred keep it near a megabyte. */
const ENTITIES_PER_SHARD = 256

/** Ranks each kind of entity among its own. */
export function rankEntities(entities: readonly ScoredEntity[], entityType: EntityType): RankedEntity[] {
  const own = entities.filter((entity) => entity.entityType === entityType)
  const { eligible, standings } = rank(own.map(({ scores }) => scores))
  return own.map((entity, index) => ({
    ...entity,
    standing: standings[index]!,
    population: own.length,
    eligiblePopulation: eligible,
  }))
}

function payloadsOf(entity: RankedEntity, provenance: Provenance): Record<PublicationKind, object> {
  const { scores, standing } = entity
  const name = entity.entityType === 'agent' ? { agent_id: entity.entityId } : { user_id: entity.entityId }
  const skill = scores.eligible ? roundedOrNull(scores.skill) : null
  const interval = intervalOf(scores)
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

function titleOf({
  entityType,
  scores,
  standing,
}: RankedEntity): { certification: string } | { badge: string } {
  return entityType === 'agent'
    ? { certification: certificationOf(scores, standing) }
    : { badge: badgeOf(scores, standing) }
}

function intervalOf({ skillInterval }: EntityScores): object | null {
  if (!skillInterval) return null
  const { lower, upper } = skillInterval
  return { lower: rounded(lower), upper: rounded(upper), level: PARAMETERS.interval_level }
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

/** A file of a release or a snapshot, under its path there. */
export interface OutputFile {
  path: string
  rows: number
  bytes: Uint8Array
}

/** Runs of entities that share a shard; the shard is named by the first. Entities are in the order of their ids. */
function* shardsOf(
  entities: readonly RankedEntity[],
): Iterable<{ path: string; members: readonly RankedEntity[] }> {
  for (let from = 0; from < entities.length; from += ENTITIES_PER_SHARD) {
    const members = entities.slice(from, from + ENTITIES_PER_SHARD)
    const [first] = members
    if (first) yield { path: shardPath(first.entityType, first.entityId), members }
  }
}

/** The shards of one kind of entity; `sign` gives a payload's signature, or null where signing is off. */
export function* releaseShards(
  entities: readonly RankedEntity[],
  provenance: Provenance,
  sign: (bytes: Uint8Array) => string | null,
): Iterable<OutputFile> {
  const publish = (payload: object) => ({ payload, signature: sign(canonical(payload)) })
  for (const { path, members } of shardsOf(entities)) {
    const publications = members.map((entity): [string, object] => {
      const { verification, metrics, rankings, advanced_metrics } = payloadsOf(entity, provenance)
      const signed = {
        verification: publish(verification),
        metrics: publish(metrics),
        rankings: publish(rankings),
        advanced_metrics: publish(advanced_metrics),
      }
      return [entity.entityId, signed]
    })
    const shard: Record<keyof ReleaseShard, unknown> = {
      release: provenance.release,
      entity_type: members[0]!.entityType,
      entities: Object.fromEntries(publications),
    }
    yield { path, rows: members.length, bytes: canonical(shard) }
  }
}

export function* snapshotShards(
  entities: readonly RankedEntity[],
  date: string,
  { release, methodology_version }: Provenance,
): Iterable<OutputFile> {
  for (const { path, members } of shardsOf(entities)) {
    const rows = members.map((entity): [string, object] => [
      entity.entityId,
      {
        date,
        release,
        rank: entity.standing.rank,
        percentile: entity.standing.percentile,
        skill: entity.scores.eligible ? roundedOrNull(entity.scores.skill) : null,
        ...titleOf(entity),
        population: entity.eligiblePopulation,
        methodology_version,
      },
    ])
    const shard: Record<keyof SnapshotShard, unknown> = {
      date,
      entity_type: members[0]!.entityType,
      entities: Object.fromEntries(rows),
    }
    yield { path, rows: members.length, bytes: canonical(shard) }
  }
}

type ParquetType = 'STRING' | 'INT32' | 'DOUBLE' | 'BOOLEAN'

/** entities.parquet: one row per entity with the numbers of its payloads. */
export function entitiesFile(entities: readonly RankedEntity[], provenance: Provenance): OutputFile {
  const rows = entities.map((entity): Record<string, unknown> => {
    const { metrics, rankings, advanced_metrics } = payloadsOf(entity, provenance) as Record<
      string,
      Record<string, unknown>
    >
    const { calibration, skill_interval } = metrics as Record<string, Record<string, number> | null>
    return {
      ...metrics,
      ...advanced_metrics,
      ...rankings,
      skill: metrics!['skill'],
      entity_type: entity.entityType,
      entity_id: entity.entityId,
      title: rankings!['certification'] ?? rankings!['badge'],
      skill_lower: skill_interval?.['lower'],
      skill_upper: skill_interval?.['upper'],
      closing_brier: calibration?.['brier'],
      miscalibration: calibration?.['miscalibration'],
      discrimination: calibration?.['discrimination'],
      uncertainty: calibration?.['uncertainty'],
    }
  })
  const columnData = Object.entries(ENTITY_COLUMNS).map(([name, type]) => ({
    name,
    type,
    data: rows.map((row) => row[name] ?? null),
  }))
  const bytes = new Uint8Array(parquetWriteBuffer({ columnData, createdBy: 'forecast-verification-service' }))
  return { path: 'entities.parquet', rows: rows.length, bytes }
}

const ENTITY_COLUMNS: Record<string, ParquetType> = {
  entity_type: 'STRING',
  entity_id: 'STRING',
  title: 'STRING',
  eligible: 'BOOLEAN',
  rank: 'INT32',
  percentile: 'DOUBLE',
  skill: 'DOUBLE',
  skill_lower: 'DOUBLE',
  skill_upper: 'DOUBLE',
  resolved_questions: 'INT32',
  forecasts: 'INT32',
  imported_share: 'DOUBLE',
  coverage_sum: 'DOUBLE',
  brier: 'DOUBLE',
  log_score: 'DOUBLE',
  baseline_score: 'DOUBLE',
  peer_score: 'DOUBLE',
  closing_brier: 'DOUBLE',
  miscalibration: 'DOUBLE',
  discrimination: 'DOUBLE',
  uncertainty: 'DOUBLE',
  expected_calibration_error: 'DOUBLE',
  skill_stability: 'DOUBLE',
  skill_deviation: 'DOUBLE',
  windows: 'INT32',
  conviction: 'DOUBLE',
  conviction_gap: 'DOUBLE',
  responsiveness: 'DOUBLE',
  updates: 'INT32',
  updates_per_question: 'DOUBLE',
  flip_flop: 'DOUBLE',
}
