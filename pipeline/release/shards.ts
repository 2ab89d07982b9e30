// The JSON shards of a release and of a snapshot: each holds a run of entities in order of id, and has the
// name of the first.
import type { VoiceRule } from '../../schemas/payloads.ts'
import { PUBLICATIONS } from '../../schemas/metric.ts'
import { canonicalText, membersInOrder } from '../proof/canonical.ts'
import { GrowingText } from '../proof/growing-text.ts'
import { type Hash, MerkleTree, leafHash } from '../proof/merkle.ts'
import { shardPath } from '../store/paths.ts'
import type { OutputFile, SignBytes } from './output.ts'
import { type Provenance, type RankedEntity, idMember, payloadsOf } from './payloads.ts'
import { snapshotDate } from './read.ts'

/** A shard is read whole, so it holds a few hundred entities, about a megabyte. */
export const ENTITIES_PER_SHARD = 256

/** Room for most shards. */
const SHARD_BYTES = 2 ** 21

/**
 * Adds a payload with its signature, in canonical JSON. Returns the payload's own bytes, which are valid
 * until the text is cleared.
 */
function addPublished(text: GrowingText, payload: Record<string, unknown>, sign: SignBytes): Uint8Array {
  text.add('{"payload":')
  const bytes = text.add(canonicalText(membersInOrder(payload)))
  text.add(`,"signature":${canonicalText(sign(bytes))}}`)
  return bytes
}

/** An entity has these payloads as leaves in the tree of its kind, in this order (docs/data.md, Trees). */
export const LEAVES = PUBLICATIONS.toSorted()

/** The part of the plan that decides the bytes of shards. */
export interface ShardsMake {
  voiceRule: VoiceRule
  provenance: Provenance
  sign: SignBytes
  bringsSnapshot: boolean
}

/** Yields the shards of one type of entity. `entities` must be in order of id. */
export function* releaseShards(
  entities: readonly RankedEntity[],
  { voiceRule, provenance, sign, bringsSnapshot }: ShardsMake,
): Iterable<OutputFile> {
  const text = new GrowingText(SHARD_BYTES)
  for (let from = 0; from < entities.length; from += ENTITIES_PER_SHARD) {
    const members = entities.slice(from, from + ENTITIES_PER_SHARD)
    const { entityType, entityId } = members[0]!
    const leaves: Hash[] = []
    // A `ReleaseShard`, whose members are added in canonical order.
    text.clear()
    text.add('{"entities":{')
    for (const [index, entity] of members.entries()) {
      const payloads: Record<string, Record<string, unknown>> = payloadsOf(entity, voiceRule, provenance)
      if (bringsSnapshot) payloads['snapshot'] = snapshotRow(entity, provenance)
      text.add(`${index === 0 ? '' : ','}${canonicalText(entity.entityId)}:`)
      for (const [nth, kind] of Object.keys(payloads).sort().entries()) {
        text.add(`${nth === 0 ? '{' : ','}${canonicalText(kind)}:`)
        const bytes = addPublished(text, payloads[kind]!, sign)
        if (LEAVES.some((leaf) => leaf === kind)) leaves.push(leafHash(bytes))
      }
      text.add('}')
    }
    text.add(`},"entity_type":${canonicalText(entityType)},"release":${canonicalText(provenance.release)}}`)
    const { root, size } = new MerkleTree(leaves)
    yield {
      path: shardPath(entityType, entityId),
      rows: members.length,
      bytes: text.bytes(),
      subtree: { tree: entityType, root, size },
    }
  }
}

/**
 * Makes a row of the snapshot. It names the entity and the environment too, so that its signature holds for
 * nothing else.
 */
function snapshotRow(
  entity: RankedEntity,
  { release, as_of, environment, methodology_version }: Provenance,
): Record<string, unknown> {
  const { metrics, award } = entity
  return {
    ...idMember(entity),
    date: snapshotDate(as_of),
    release,
    environment,
    rank: metrics.rank,
    rank_interval: metrics.rank_interval,
    percentile: metrics.percentile,
    skill: metrics.skill,
    skill_interval: metrics.skill_interval,
    resolved_questions: metrics.resolved_questions,
    contested_questions: metrics.contested_questions,
    ...award,
    population: metrics.population,
    methodology_version,
  }
}
