// The parts that the Parquet files of a release are made in, so that none has to be held whole: runs of whole shards.
import type { EntityType } from '../../schemas/tables.ts'
import { ENTITIES_PER_SHARD } from './shards.ts'
import type { RankedEntity } from './payloads.ts'

/** A part ends with the shard by which it has this many pairs (scores) or entities, or with the last shard of its kind. */
export const PART_SIZES = { pairs: 4_000_000, entities: 1_000_000 }

export interface Part {
  path: string
  entityType: EntityType
  members: readonly RankedEntity[]
  /** The pairs of the entities before it, of all kinds, and its own. */
  firstPair: number
  pairs: number
}

/** The parts of `folder`, numbered through all kinds of entities. */
export function partsOf(
  folder: 'scores' | 'entities',
  kinds: readonly (readonly RankedEntity[])[],
  sizes: typeof PART_SIZES,
): Part[] {
  const parts: Part[] = []
  let firstPair = 0
  for (const entities of kinds) {
    let start = 0
    let pairs = 0
    for (let end = 0; end < entities.length;) {
      const next = Math.min(end + ENTITIES_PER_SHARD, entities.length)
      for (; end < next; end++) pairs += entities[end]!.pairs
      const isFull = folder === 'scores' ? pairs >= sizes.pairs : end - start >= sizes.entities
      if (!isFull && end < entities.length) continue
      const path = `${folder}/${String(parts.length).padStart(3, '0')}.parquet`
      const members = entities.slice(start, end)
      parts.push({ path, entityType: members[0]!.entityType, members, firstPair, pairs })
      firstPair += pairs
      start = end
      pairs = 0
    }
  }
  return parts
}
