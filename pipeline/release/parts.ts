// Divides the Parquet files of a release into parts, so that memory never holds all scores or all entities. A
// part covers a run of whole shards.
import type { EntityType } from '../../schemas/tables.ts'
import { padded } from '../store/paths.ts'
import { SCORES_FOLDER } from './row-groups.ts'
import { ENTITIES_PER_SHARD } from './shards.ts'

/**
 * A part ends with the shard with which it reaches this many pairs (scores) or entities, or with the last
 * shard of its kind.
 */
export const PART_SIZES = { pairs: 4_000_000, entities: 1_000_000 }
export type PartSizes = typeof PART_SIZES

export const ENTITIES_FOLDER = 'entities/'
export type PartFolder = typeof SCORES_FOLDER | typeof ENTITIES_FOLDER

/** The size of a shard. */
export interface ShardCount {
  entityType: EntityType
  entities: number
  pairs: number
}

export interface ReleasePart extends ShardCount {
  path: string
  /** How many entities and pairs come before it, of all kinds. */
  firstEntity: number
  firstPair: number
  /** The number of its shards. */
  shards: number
}

/** The path of a part, by its number from 0. */
export function partPath(folder: PartFolder, number: number): string {
  return `${folder}${padded(number, 3)}.parquet`
}

/** Divides the entities of one kind, in order, into shards. */
export function shardsOf(entities: readonly { entityType: EntityType; pairs: number }[]): ShardCount[] {
  const shards: ShardCount[] = []
  for (let from = 0; from < entities.length; from += ENTITIES_PER_SHARD) {
    const members = entities.slice(from, from + ENTITIES_PER_SHARD)
    const pairs = members.reduce((sum, member) => sum + member.pairs, 0)
    shards.push({ entityType: members[0]!.entityType, entities: members.length, pairs })
  }
  return shards
}

/**
 * Returns the parts of `folder`, numbered through all kinds of entities. `shards` are all shards in order.
 */
export function partsOf(folder: PartFolder, shards: readonly ShardCount[], sizes: PartSizes): ReleasePart[] {
  const parts: ReleasePart[] = []
  let [firstEntity, firstPair] = [0, 0]
  let open: ReleasePart | undefined
  for (const [index, { entityType, entities, pairs }] of shards.entries()) {
    if (!open) {
      const path = partPath(folder, parts.length)
      open = { path, entityType, firstEntity, firstPair, entities: 0, pairs: 0, shards: 0 }
      parts.push(open)
    }
    open.entities += entities
    open.pairs += pairs
    open.shards += 1
    firstEntity += entities
    firstPair += pairs
    const isFull = folder === SCORES_FOLDER ? open.pairs >= sizes.pairs : open.entities >= sizes.entities
    if (isFull || shards[index + 1]?.entityType !== entityType) open = undefined
  }
  return parts
}
