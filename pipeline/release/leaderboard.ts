// The pages of a release on which the entities of a kind stand in order.
import type { EntityType } from '../../schemas/tables.ts'
import { canonical } from '../proof/canonical.ts'
import { leaderboardPath } from '../store/paths.ts'
import { type Provenance, type RankedEntity, nameOf, rankedSkill } from './payloads.ts'
import type { OutputFile } from './shards.ts'

export const ENTRIES_PER_PAGE = 100

/** The ranked by rank, skill and id; then the others by their number of contested questions and by id. */
export function* leaderboardFiles(
  entityType: EntityType,
  entities: readonly RankedEntity[],
  provenance: Provenance,
): Iterable<OutputFile> {
  const ordered = entities.toSorted(inOrder)
  for (let from = 0; from < ordered.length; from += ENTRIES_PER_PAGE) {
    const members = ordered.slice(from, from + ENTRIES_PER_PAGE)
    const bytes = canonical({ ...provenance, entity_type: entityType, entries: members.map(entryOf) })
    yield { path: leaderboardPath(entityType, from / ENTRIES_PER_PAGE), rows: members.length, bytes }
  }
}

function inOrder(a: RankedEntity, b: RankedEntity): number {
  const byId = a.entityId < b.entityId ? -1 : 1
  const [first, second] = [a.metrics, b.metrics]
  if (first.rank === null || second.rank === null) {
    if (first.rank !== second.rank) return first.rank === null ? 1 : -1
    return second.contested_questions - first.contested_questions || byId
  }
  return first.rank - second.rank || second.skill! - first.skill! || byId
}

function entryOf(entity: RankedEntity): object {
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
