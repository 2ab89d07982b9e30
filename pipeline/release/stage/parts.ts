// `fvs stage parts`: numbers the part of the scores and the part of the entities that each shard is in.
import { PART_SIZES, type ReleasePart, type ShardCount, partsOf } from '../parts.ts'
import { type Input, formatOf, lineOfFields, linesIn, wholeOf } from './lines.ts'
import { entityTypeOf } from './tally.ts'

const SHARDS = formatOf('a shard', ['shard', 'entity_type', 'entities', 'pairs'], { shard: 'number' })

/** Returns a line for each shard. */
export async function partLines(input: Input, sizes = PART_SIZES): Promise<string> {
  const { at } = SHARDS
  const shards: ShardCount[] = []
  for await (const lines of linesIn(input, SHARDS)) {
    for (const fields of lines) {
      shards.push({
        entityType: entityTypeOf(fields[at.entity_type]!),
        entities: wholeOf(fields[at.entities]!),
        pairs: wholeOf(fields[at.pairs]!),
      })
    }
  }
  const numbers = (parts: readonly ReleasePart[]) =>
    parts.flatMap(({ shards: count }, number) => Array.from({ length: count }, () => number))
  const entities = numbers(partsOf('entities/', shards, sizes))
  const scores = numbers(partsOf('scores/', shards, sizes))
  return shards.map((_, shard) => lineOfFields([shard, entities[shard]!, scores[shard]!])).join('')
}
