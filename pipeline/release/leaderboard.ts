// Makes the pages of a release that list the entities of a kind in order.
import type { EntityType } from '../../schemas/tables.ts'
import { canonical } from '../proof/canonical.ts'
import { leaderboardPath } from '../store/paths.ts'
import { type ListedEntity, type Provenance, nameOf, rankedSkill } from './payloads.ts'
import { roundHalfEven } from '../scoring/round.ts'
import { UNIT } from '../scoring/strength.ts'
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

/**
 * Returns the keys of the order. Entities without a rank come last; within a rank the greater second number
 * comes first, then the lesser id.
 */
export function orderOf({ metrics }: ListedEntity): { rank: number | null; second: number } {
  const { rank, skill, contested_questions } = metrics
  return { rank, second: rank === null ? contested_questions : roundHalfEven(skill! * UNIT) }
}

function inOrder(a: ListedEntity, b: ListedEntity): number {
  const [one, other] = [orderOf(a), orderOf(b)]
  if (one.rank !== other.rank) return (one.rank ?? Infinity) - (other.rank ?? Infinity)
  return other.second - one.second || (a.entityId < b.entityId ? -1 : 1)
}

function entryOf(entity: ListedEntity): object {
  const { rank, rank_interval, skill_interval, contested_questions, peer_score, brier } = entity.metrics
  return {
    ...nameOf(entity),
    name: entity.name,
    ...entity.award,
    rank,
    rank_interval,
    skill: rankedSkill(entity.metrics),
    skill_interval,
    contested_questions,
    peer_score,
    brier,
  }
}
