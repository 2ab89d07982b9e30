// `fvs stage parts`: numbers the part of the scores and the part of the entities that each shard is in.
import { PART_SIZES, type ReleasePart, type ShardCount, partsOf } from '../release/parts.ts'
import { type Format, type Input, inOrderOf, lineOf, linesIn, strictly, wholeOf } from './lines.ts'
import { entityTypeOf } from './tally.ts'

const COLUMNS = ['shard', 'entity_type', 'entities', 'pairs'] as const
const SHARDS: Format = {
  of: 'a shard',
  columns: COLUMNS,
  compare: strictly(inOrderOf(COLUMNS, { shard: 'number' })),
}

/** Returns a line for each shard. */
export async function partLines(input: Input, sizes = PART_SIZES): Promise<string> {
  const shards: ShardCount[] = []
  for await (const lines of linesIn(input, SHARDS)) {
    for (const [, entityType, entities, pairs] of lines as [string, string, string, string][]) {
      shards.push({
        entityType: entityTypeOf(entityType),
        entities: wholeOf(entities),
        pairs: wholeOf(pairs),
      })
    }
  }
  const numbers = (parts: readonly ReleasePart[]) =>
    parts.flatMap(({ shards: count }, number) => Array.from({ length: count }, () => number))
  const entities = numbers(partsOf('entities', shards, sizes))
  const scores = numbers(partsOf('scores', shards, sizes))
  return shards.map((_, shard) => lineOf([shard, entities[shard]!, scores[shard]!])).join('')
}
