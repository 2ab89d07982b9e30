// The JSON files of a release and of a snapshot: runs of entities in order of id, each file named by its first.
import type { ReleaseShard, SnapshotShard } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { canonical } from '../proof/canonical.ts'
import { rankedSkill } from '../scoring/ranking.ts'
import { shardPath } from '../store/paths.ts'
import { type Provenance, type RankedEntity, payloadsOf } from './payloads.ts'

/** Entities to a shard: a shard is read whole, so a few hundred keep it near a megabyte. */
export const ENTITIES_PER_SHARD = 256

/** A file of a release or a snapshot, under its path there. */
export interface OutputFile {
  path: string
  rows: number
  bytes: Uint8Array
  /** Of a part: the first entity that it speaks of. A shard's path names its own. */
  first?: { entity_type: EntityType; first_entity_id: string }
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
        skill: rankedSkill(entity.scores),
        ...entity.award,
        population: entity.standing.eligible_population,
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
