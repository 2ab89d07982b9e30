// Checks the payloads in shards against the trees that the log commits to.
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { ReleaseShard } from '../../schemas/payloads.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { base64Of, hashOfBase64 } from '../proof/base64.ts'
import { decoded } from '../proof/canonical.ts'
import { MerkleTree } from '../proof/merkle.ts'
import { shardStart } from '../store/paths.ts'
import { type ShardTree, shardTree } from './payload-tree.ts'
import { shardsOf } from './read.ts'
import { ENTITIES_PER_SHARD, LEAVES } from './shards.ts'

/** The place of a shard among those of its kind of entity, and the range of its ids. */
interface ShardPosition {
  type: EntityType
  /** From 0. */
  number: number
  start: string
  /** The first id of the next shard; undefined for the last. */
  end: string | undefined
}

function positionsOf(manifest: ReleaseManifest): ReadonlyMap<string, ShardPosition> {
  const positions = new Map<string, ShardPosition>()
  for (const type of ENTITY_TYPES) {
    const paths = shardsOf(manifest, type).map(({ path }) => path)
    const starts = paths.map((path) => shardStart(path, type)!)
    for (const [number, path] of paths.entries()) {
      positions.set(path, { type, number, start: starts[number]!, end: starts[number + 1] })
    }
  }
  return positions
}

/**
 * Returns a check of a shard against its place in the tree, and of each payload against the entity that it is
 * stored under.
 */
export function shardCheck(manifest: ReleaseManifest): (path: string, bytes: Uint8Array) => string[] {
  const positions = positionsOf(manifest)
  return (path, bytes) => {
    const shard = readableShard(bytes)
    if (!shard) return ['has the SHA-256 of its manifest, and is no shard']
    const position = positions.get(path)!
    return [...placeFaults(shard, position, manifest), ...payloadFaults(shard, position, manifest)]
  }
}

function placeFaults(
  { entityIds, subtree }: ReadableShard,
  { type, number, start, end }: ShardPosition,
  { trees }: ReleaseManifest,
): string[] {
  const faults: string[] = []
  const [expected, found] = [trees[type]?.shards[number], base64Of(subtree.root)]
  if (expected !== found) {
    faults.push(`its payloads have the root ${found}, and the manifest says ${expected ?? 'none'}`)
  }
  if (end !== undefined && entityIds.length !== ENTITIES_PER_SHARD) {
    faults.push(`has ${entityIds.length} entities and is not the last: expected ${ENTITIES_PER_SHARD}`)
  }
  const isAscending = entityIds.every(
    (id, i) => id > (entityIds[i - 1] ?? '') && (end === undefined || id < end),
  )
  if (entityIds[0] !== start || !isAscending) {
    faults.push('its entities are not those from its name on, each once and in ascending order')
  }
  return faults
}

function payloadFaults(
  { entities }: ReadableShard,
  { type }: ShardPosition,
  { release, as_of, environment }: ReleaseManifest,
): string[] {
  const name = type === 'agent' ? 'agent_id' : 'user_id'
  return Object.entries(entities).flatMap(([id, entity]) => {
    const isOwn = LEAVES.every((kind) => {
      const payload = entity[kind].payload as Record<string, unknown>
      const found = [payload[name], payload['release'], payload['as_of'], payload['environment']]
      return [id, release, as_of, environment].every((value, i) => found[i] === value)
    })
    return isOwn ? [] : [`a payload under ${id} is of another entity or release`]
  })
}

type ReadableShard = ShardTree & Pick<ReleaseShard, 'entities'>

/** Returns undefined for bytes that are no shard, and if an entity lacks a payload. */
function readableShard(bytes: Uint8Array): ReadableShard | undefined {
  try {
    const { entities } = JSON.parse(decoded(bytes)) as ReleaseShard
    return { entities, ...shardTree({ entities }) }
  } catch {
    return undefined
  }
}

/**
 * Returns the faults of the roots of the trees. They must follow from the roots of the shards, which the
 * manifest has even if the shards are gone.
 */
export function rootFaults(manifest: ReleaseManifest): string[] {
  return ENTITY_TYPES.flatMap((type) => {
    const shards = shardsOf(manifest, type)
    const rows = shards.reduce((sum, file) => sum + file.rows, 0)
    const { root, size, shards: roots } = manifest.trees[type] ?? { root: '', size: 0, shards: [] }
    const found = roots.length === 0 ? '' : base64Of(new MerkleTree(roots.map(hashOfBase64)).root)
    if (found === root && size === rows * LEAVES.length && roots.length === shards.length) return []
    return [
      `its tree ${type} has the root ${root} of ${size} leaves; its ${shards.length} shards of ${rows} entities give ${found}`,
    ]
  })
}
