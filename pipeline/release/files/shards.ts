// Shards: the signed payloads of a run of entities of one type.
import { ServiceError } from '../../../schemas/errors.ts'
import { ENTITY_TYPES, type EntityType } from '../../../schemas/tables.ts'
import { boardPlace } from '../board-order.ts'
import { categoryEntries, placeInCategory } from '../category-boards.ts'
import { type OutputFile, entryOf } from '../output.ts'
import { type RankedEntity, isListed, asListed } from '../payloads.ts'
import { snapshotDate } from '../read.ts'
import { rootFaults, shardCheck } from '../shard-check.ts'
import { ENTITIES_PER_SHARD, releaseShards } from '../shards.ts'
import { snapshotFile } from '../snapshot-file.ts'
import { ENTITY_LINES, rankedIn } from '../stage/entity-lines.ts'
import { type Input, lineOfFields, wholeOf } from '../stage/lines.ts'
import type { Publishing } from '../stage/publishing.ts'
import type { FileFacts, StagedFile } from '../stage/staged-file.ts'
import { type StagedFiles, runsOfSize } from '../stage/staged-files.ts'
import { shardAt } from '../stage/tally.ts'
import { unitsIn } from '../stage/units.ts'
import type { ScoredKind } from './kind.ts'

const { at: AT } = ENTITY_LINES

/**
 * Reads entities with their scores, and puts the shards. Yields a line for each shard, and lines for each
 * entity in lists, from which later stages make the lists.
 */
async function* publish(stage: Publishing, input: Input): AsyncIterable<string> {
  const field = await stage.field()
  const rank = rankedIn(stage.context.methodology, field)
  yield* unitsIn(input, ENTITY_LINES, (opening) => {
    const unit = wholeOf(opening[AT.unit]!)
    const place = shardAt(field, unit)
    if (!place) throw new ServiceError('invalid', `there is no shard ${unit}`)
    const members: RankedEntity[] = []
    return {
      take(fields) {
        const entity = rank(fields)
        const number = wholeOf(fields[AT.entity]!)
        if (number !== place.first + members.length || entity.entityType !== place.entityType) {
          throw new ServiceError('invalid', `entity ${number} is not the next one of shard ${unit}`)
        }
        members.push(entity)
      },
      async end() {
        if (members.length !== place.count) {
          throw new ServiceError('invalid', `shard ${unit} has ${members.length} of ${place.count} entities`)
        }
        const { voiceRule } = field
        const { put, plan, ...made } = stage
        const [file] = releaseShards(members, { ...made, voiceRule, bringsSnapshot: plan.brings_snapshot })
        const line = await put(file!, { counts: countsOf(members), copy: copyOf(file!, plan.as_of) })
        return line + members.filter(isListed).map(boardLines).join('')
      },
    }
  })
}

/** Returns the size and the hash of the copy in the snapshot of a day; undefined if the shard brings none. */
function copyOf(file: OutputFile, asOf: string): FileFacts['copy'] {
  const copy = snapshotFile(file, snapshotDate(asOf))
  if (!copy) return undefined
  const { size_bytes, sha256 } = entryOf(copy)
  return { size_bytes, sha256 }
}

/** Returns the counts with which other kinds of files must agree. */
function countsOf(members: readonly RankedEntity[]): Record<string, number> {
  const inLists = members.filter(isListed)
  return {
    pairs: members.reduce((sum, { pairs }) => sum + pairs, 0),
    owned: inLists.filter(({ facts }) => facts.owner_id !== null).length,
    listed: inLists.length,
    'entries by category': inLists.reduce((sum, { listing }) => sum + listing.categories.length, 0),
  }
}

/** Returns the line of an entity for leaderboards and owners, and the lines of its entries by category. */
function boardLines(entity: RankedEntity): string {
  const { entityType, entityId, facts } = entity
  const { pool_size, pool, value } = boardPlace(entity.metrics)
  const owner = facts.owner_id === null ? null : orderedOwner(facts.owner_id)
  const content = JSON.stringify(asListed(entity))
  const line = lineOfFields(['entity', entityType, entityId, pool_size, pool, value, owner, null, content])
  return line + categoryEntries(entity).map(categoryLine).join('')
}

function categoryLine({ category, entry }: ReturnType<typeof categoryEntries>[number]): string {
  const { entityType, entityId } = entry
  const { pool_size, pool, value } = placeInCategory(entry)
  const place = [pool_size, pool, value]
  return lineOfFields(['category', entityType, entityId, ...place, null, category, JSON.stringify(entry)])
}

/** Encodes an owner in hexadecimal digits that sort as its UTF-16 code units do. */
function orderedOwner(owner: string): string {
  return Buffer.from(owner, 'utf16le').swap16().toString('hex')
}

/** Takes the shards of a type of entity, in order of their first entities. */
function shardsOfType(staged: StagedFiles, entityType: EntityType): StagedFile[] {
  const folder = `${entityType}/`
  const paths = staged.pathsIn(folder)
  const sizes = runsOfSize(staged.field.tallies[entityType].population, ENTITIES_PER_SHARD)
  staged.assertEqual(folder, 'shards', paths.length, sizes.length)
  return sizes.map((rows, index) => staged.take(paths[index]!, { rows }))
}

export const SHARDS: ScoredKind = {
  name: 'shards',
  places: ENTITY_TYPES.map((entityType) => `${entityType}/`),
  isSigned: true,
  *make(release) {
    for (const entityType of ENTITY_TYPES) {
      const members = release.ranked.filter((entity) => entity.entityType === entityType)
      yield* releaseShards(members, release)
    }
  },
  sizes: { entities_per_shard: ENTITIES_PER_SHARD },
  publish,
  arrange: (staged) => ENTITY_TYPES.flatMap((entityType) => shardsOfType(staged, entityType)),
  check: { files: shardCheck, manifest: rootFaults },
}
