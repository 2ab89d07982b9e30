// Checks the payloads in the shards of a logged release against the trees that the log commits to.
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import type { ReleaseShard } from '../../schemas/payloads.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { base64Of, hashOfBase64 } from '../proof/base64.ts'
import { decoded } from '../proof/canonical.ts'
import { MerkleTree } from '../proof/merkle.ts'
import { shardTree } from '../release/payload-tree.ts'
import { ENTITIES_PER_SHARD, LEAVES } from '../release/shards.ts'
import { manifestPath, shardStart } from '../store/paths.ts'
import type { Findings } from './findings.ts'

/** The place of a shard among those of its kind of entity, and the range of its ids. */
interface ShardPosition {
  type: EntityType
  /** From 0. */
  number: number
  start: string
  /** The first id of the next shard; undefined for the last. */
  end: string | undefined
}

export function placesOf(files: readonly ManifestFile[]): ReadonlyMap<string, ShardPosition> {
  const places = new Map<string, ShardPosition>()
  for (const type of ENTITY_TYPES) {
    const shards = files.flatMap(({ path }) => {
      const start = shardStart(path, type)
      return start === undefined ? [] : [{ path, start }]
    })
    for (const [number, { path, start }] of shards.entries()) {
      places.set(path, { type, number, start, end: shards[number + 1]?.start })
    }
  }
  return places
}

/**
 * Checks a shard against its place in the tree, and each payload against the entity that it is stored under.
 */
export function checkShard(
  findings: Findings,
  path: string,
  bytes: Uint8Array,
  { type, number, start, end }: ShardPosition,
  { release, as_of, environment, trees }: ReleaseManifest,
): void {
  const shard = readableShard(bytes)
  if (!shard) {
    findings.fault(path, 'has the SHA-256 of its manifest, and is no shard')
    return
  }
  const { entities, entityIds, subtree } = shard
  const [expected, found] = [trees?.[type]?.shards[number], base64Of(subtree.root)]
  if (expected !== found) {
    findings.fault(path, `its payloads have the root ${found}, and the manifest says ${expected ?? 'none'}`)
  }
  if (end !== undefined && entityIds.length !== ENTITIES_PER_SHARD) {
    findings.fault(
      path,
      `has ${entityIds.length} entities and is not the last: expected ${ENTITIES_PER_SHARD}`,
    )
  }
  const isAscending = entityIds.every(
    (id, i) => id > (entityIds[i - 1] ?? '') && (end === undefined || id < end),
  )
  if (entityIds[0] !== start || !isAscending) {
    findings.fault(path, 'its entities are not those from its name on, each once and in ascending order')
  }
  const name = type === 'agent' ? 'agent_id' : 'user_id'
  for (const [id, entity] of Object.entries(entities)) {
    const isOwn = LEAVES.every((kind) => {
      const payload = entity[kind].payload as Record<string, unknown>
      const said = [payload[name], payload['release'], payload['as_of'], payload['environment']]
      return [id, release, as_of, environment].every((value, i) => said[i] === value)
    })
    if (!isOwn) findings.fault(path, `a payload under ${id} is of another entity or release`)
  }
}

/** Returns undefined for bytes that are no shard, or whose entities lack a payload. */
function readableShard(bytes: Uint8Array) {
  try {
    const { entities } = JSON.parse(decoded(bytes)) as ReleaseShard
    return { entities, ...shardTree({ entities }) }
  } catch {
    return undefined
  }
}

/**
 * Checks the roots of the trees against those of their shards, which the manifest has even if the shards are
 * gone.
 */
export function checkRoots(
  findings: Findings,
  { release, files }: ReleaseManifest,
  trees: NonNullable<ReleaseManifest['trees']>,
): void {
  for (const type of ENTITY_TYPES) {
    const shards = files.filter(({ path }) => shardStart(path, type) !== undefined)
    const rows = shards.reduce((sum, file) => sum + file.rows, 0)
    const { root, size, shards: roots } = trees[type] ?? { root: '', size: 0, shards: [] }
    const found = roots.length === 0 ? '' : base64Of(new MerkleTree(roots.map(hashOfBase64)).root)
    if (found === root && size === rows * LEAVES.length && roots.length === shards.length) continue
    findings.fault(
      manifestPath(release),
      `its tree ${type} has the root ${root} of ${size} leaves; its ${shards.length} shards of ${rows} entities give ${found}`,
    )
  }
}
