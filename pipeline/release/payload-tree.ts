// Finds the path of a payload in the tree of its kind of entity: first inside its shard, then over the roots
// of the shards (docs/data.md, Trees).
import type { PublicationKind } from '../../schemas/metric.ts'
import type { ReleaseTrees } from '../../schemas/manifests.ts'
import type { ReleaseShard } from '../../schemas/payloads.ts'
import { hashOfBase64 } from '../proof/base64.ts'
import { canonical } from '../proof/canonical.ts'
import { MerkleTree, leafHash } from '../proof/merkle.ts'
import type { Path } from '../proof/tlog-proof.ts'
import { ENTITIES_PER_SHARD, LEAVES } from './shards.ts'

/** The subtree over the payloads of a shard. */
export interface ShardTree {
  /** In the order of the tree. */
  entityIds: readonly string[]
  subtree: MerkleTree
}

export function shardTree({ entities }: Pick<ReleaseShard, 'entities'>): ShardTree {
  const leaves = Object.values(entities).flatMap((entity) =>
    LEAVES.map((kind) => leafHash(canonical(entity[kind].payload))),
  )
  return { entityIds: Object.keys(entities), subtree: new MerkleTree(leaves) }
}

/**
 * Returns the path of a payload, given the number of its shard from 0; undefined if the shard lacks the
 * entity.
 */
export function payloadPath(
  { shards }: Pick<NonNullable<ReleaseTrees['agent']>, 'shards'>,
  shardNumber: number,
  { entityIds, subtree }: ShardTree,
  entityId: string,
  kind: PublicationKind,
): Path | undefined {
  const entity = entityIds.indexOf(entityId)
  if (entity < 0) return undefined
  const leaf = entity * LEAVES.length + LEAVES.indexOf(kind)
  // All shards but the last are full, so the path over their roots continues the path inside a shard.
  const above = new MerkleTree(shards.map(hashOfBase64)).inclusionPath(shardNumber)
  return {
    index: shardNumber * ENTITIES_PER_SHARD * LEAVES.length + leaf,
    hashes: [...subtree.inclusionPath(leaf), ...above],
  }
}
