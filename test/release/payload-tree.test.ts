// Paths of payloads in trees of several shards, against a tree over all leaves.
import { expect, test } from 'vitest'
import { base64Of } from '../../pipeline/proof/base64.ts'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { MerkleTree, leafHash } from '../../pipeline/proof/merkle.ts'
import { payloadPath, shardTree } from '../../pipeline/release/payload-tree.ts'
import { ENTITIES_PER_SHARD } from '../../pipeline/release/shards.ts'
import type { ReleaseShard } from '../../schemas/payloads.ts'
import { uuidOf } from '../support/worlds/world.ts'

const IN_ORDER = ['advanced_metrics', 'metrics', 'rankings', 'verification'] as const
const payloadOf = (id: string, kind: string) => ({ id, kind })

function shardOf(ids: readonly string[]): Pick<ReleaseShard, 'entities'> {
  const kinds = [...IN_ORDER, 'profile']
  const entities = ids.map((id) => [
    id,
    Object.fromEntries(kinds.map((kind) => [kind, { payload: payloadOf(id, kind), signature: null }])),
  ])
  return { entities: Object.fromEntries(entities) as ReleaseShard['entities'] }
}

test.for([1, 2, 255, 256, 257, 512, 700, 1024, 1025])('of %d entities', (count) => {
  const ids = Array.from({ length: count }, (_, index) => uuidOf(1, index))
  const leaves = ids.flatMap((id) => IN_ORDER.map((kind) => leafHash(canonical(payloadOf(id, kind)))))
  const whole = new MerkleTree(leaves)
  const shards = Array.from({ length: Math.ceil(count / ENTITIES_PER_SHARD) }, (_, number) =>
    shardTree(shardOf(ids.slice(number * ENTITIES_PER_SHARD, (number + 1) * ENTITIES_PER_SHARD))),
  )
  const tree = { shards: shards.map(({ subtree }) => base64Of(subtree.root)) }
  for (const entity of new Set([0, 1, 100, 255, 256, 300, count - 2, count - 1])) {
    if (entity < 0 || entity >= count) continue
    const number = Math.floor(entity / ENTITIES_PER_SHARD)
    for (const [nth, kind] of IN_ORDER.entries()) {
      const path = payloadPath(tree, number, shards[number]!, ids[entity]!, kind)
      const index = entity * IN_ORDER.length + nth
      expect(path).toEqual({ index, hashes: whole.inclusionPath(index) })
    }
  }
  expect(payloadPath(tree, 0, shards[0]!, uuidOf(2, 0), 'metrics')).toBeUndefined()
})
