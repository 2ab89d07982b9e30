// Makes the pages of a release that list the entities of a kind in order.
import type { EntityMetrics } from '../../schemas/metrics.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { canonical } from '../proof/canonical.ts'
import { leaderboardPath } from '../store/paths.ts'
import { type ListedEntity, type Provenance, nameIn, nameOf, retirementOf } from './payloads.ts'
import { MICRO, roundHalfEven } from '../scoring/round.ts'
import type { OutputFile } from './shards.ts'

export const ENTRIES_PER_PAGE = 100

/** Yields all pages of a kind of entity, ordered by `inOrder`. */
export function* leaderboardFiles(
  entityType: EntityType,
  entities: readonly ListedEntity[],
  provenance: Provenance,
): Iterable<OutputFile> {
  const ordered = entities.toSorted(inOrder)
  for (let from = 0; from < ordered.length; from += ENTRIES_PER_PAGE) {
    const members = ordered.slice(from, from + ENTRIES_PER_PAGE)
    yield leaderboardPage(entityType, from / ENTRIES_PER_PAGE, members, provenance)
  }
}

/** Makes a page, given its number from 0. */
export function leaderboardPage(
  entityType: EntityType,
  page: number,
  members: readonly ListedEntity[],
  provenance: Provenance,
): OutputFile {
  const bytes = canonical({ ...provenance, entity_type: entityType, entries: members.map(entryOf) })
  return { path: leaderboardPath(entityType, page), rows: members.length, bytes }
}

/** The place of an entity on the leaderboard of its kind. */
export interface LeaderboardPlace {
  /** Null for an entity without a rank, as is `pool`. */
  pool_size: number | null
  pool: string | null
  /** The skill in whole 1e-6 of an entity with a rank, the number of contested questions of another. */
  value: number
}

/**
 * Returns the keys of the order. The largest pool comes first, pools of one size by their names, and entities
 * without a rank last. Inside each the greater value comes first, then the lesser id: the ranks of a pool
 * follow its skills.
 */
export function placeOf({
  rank,
  skill,
  contested_questions,
  pool,
  pool_size,
}: Pick<EntityMetrics, 'rank' | 'skill' | 'contested_questions' | 'pool' | 'pool_size'>): LeaderboardPlace {
  if (rank === null) return { pool_size: null, pool: null, value: contested_questions }
  return { pool_size, pool, value: roundHalfEven(skill! * MICRO) }
}

function inOrder(a: ListedEntity, b: ListedEntity): number {
  return inOrderOfPlaces(placeOf(a.metrics), placeOf(b.metrics)) || (a.entityId < b.entityId ? -1 : 1)
}

/** Compares places; 0 for two that only the ids order. */
export function inOrderOfPlaces(one: LeaderboardPlace, other: LeaderboardPlace): number {
  if (one.pool_size !== other.pool_size) return (other.pool_size ?? 0) - (one.pool_size ?? 0)
  if (one.pool !== other.pool) return one.pool! < other.pool! ? -1 : 1
  return other.value - one.value
}

function entryOf(entity: ListedEntity): object {
  const { rank, rank_interval, skill_interval, board_interval, pool, pool_size } = entity.metrics
  const { skill, median_skill, contested_questions, answered_share, peer_score, brier } = entity.metrics
  const { entityType, modelType, organizationName, listing } = entity
  const made = { model_type: modelType, organization_name: organizationName }
  return {
    ...nameOf(entity),
    ...nameIn(entity),
    ...(entityType === 'agent' ? made : {}),
    ...entity.award,
    ...retirementOf(entity),
    rank,
    rank_interval,
    skill,
    skill_interval,
    board_interval,
    pool,
    pool_size,
    contested_questions,
    peer_score,
    brier,
    median_skill,
    answered_share,
    trend: entity.metrics.eligible ? listing.trend : [],
  }
}
