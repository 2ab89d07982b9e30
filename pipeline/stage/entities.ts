// `fvs stage publish shards` and `publish entities`: read entities with their scores, rank them, and put
// files.
import { ServiceError } from '../../schemas/errors.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { partPath } from '../release/parts.ts'
import { categoryEntries } from '../release/categories.ts'
import { EntitiesFile } from '../release/entities-parquet.ts'
import { type RankedEntity, isListed, listed, rankAmong } from '../release/payloads.ts'
import { snapshotDate } from '../release/read.ts'
import { entryOf, releaseShards } from '../release/shards.ts'
import { snapshotFile } from '../release/snapshot-file.ts'
import type { ReleaseContext } from '../release/state.ts'
import type { Listing } from '../scoring/categories.ts'
import type { EntityScores } from '../scoring/entity.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { type Boards, boardsOf } from '../scoring/ranking.ts'
import { type Fields, type Input, formatOf, jsonOf, wholeOf, wholeOrNull } from './lines.ts'
import { categoryLine, entityLine, planned, unitsIn } from './planned.ts'
import { type FieldOfRelease, entityTypeOf, readTally, shardAt } from './tally.ts'

const COLUMNS = [
  'unit',
  'entity',
  'entity_type',
  'entity_id',
  'names',
  'registered_ms',
  'retired_ms',
  'last_forecast_ms',
  'open_forecasts',
  'next_close_ms',
  'overdue_forecasts',
  'pairs',
  'scores',
  'listing',
] as const
const ENTITIES = formatOf('an entity', COLUMNS, { entity: 'number' })
const AT = ENTITIES.at

/** Puts shards. Yields a line for each shard and for each entity that is in lists. */
export async function* shardLines(
  context: ReleaseContext,
  release: number,
  tally: string,
  input: Input,
): AsyncIterable<string> {
  const { plan, provenance, sign, put } = await planned(context, release)
  const field = await readTally(context.store, release, tally)
  const rank = rankedIn(context.methodology, field)
  yield* unitsIn(input, ENTITIES, (opening) => {
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
        const [file] = releaseShards(members, field.voiceRule, provenance, sign, plan.brings_snapshot)
        const copy = snapshotFile(file!, snapshotDate(plan.as_of))
        const inLists = members.filter(isListed)
        const line = await put(file!, {
          pairs: members.reduce((sum, { pairs }) => sum + pairs, 0),
          owned: inLists.filter(({ ownerId }) => ownerId !== null).length,
          listed: inLists.length,
          categories: inLists.reduce((sum, { listing }) => sum + listing.categories.length, 0),
          ...(copy ? { copy: entryOf(copy) } : {}),
        })
        const entries = inLists.flatMap(categoryEntries).map(categoryLine)
        return line + inLists.map((entity) => entityLine(listed(entity))).join('') + entries.join('')
      },
    }
  })
}

/** Puts parts of the entities. Yields a line for each. */
export async function* entityPartLines(
  context: ReleaseContext,
  release: number,
  tally: string,
  input: Input,
): AsyncIterable<string> {
  const { put, provenance } = await planned(context, release)
  const rank = rankedIn(context.methodology, await readTally(context.store, release, tally))
  yield* unitsIn(input, ENTITIES, (opening) => {
    const file = new EntitiesFile(provenance)
    let first: RankedEntity | undefined
    let rows = 0
    return {
      take(fields) {
        const entity = rank(fields)
        first ??= entity
        file.add(entity)
        rows += 1
      },
      end() {
        const { entityType: entity_type, entityId: first_entity_id } = first!
        const path = partPath('entities', wholeOf(opening[AT.unit]!))
        return put({ path, rows, bytes: file.finish(), entity_type, first_entity_id })
      },
    }
  })
}

/** Returns a function that ranks the entity of a line. */
function rankedIn(methodology: Methodology, { voiceRule, tallies }: FieldOfRelease) {
  const boards = Object.fromEntries(
    ENTITY_TYPES.map((entityType) => [entityType, boardsOf(tallies[entityType])]),
  ) as Record<EntityType, Boards>
  return (fields: Fields): RankedEntity => {
    const text = (name: keyof typeof AT) => fields[AT[name]]!
    const entityType = entityTypeOf(text('entity_type'))
    const { name, model_type, organization_name, owner_id } = jsonOf(text('names')) as Record<
      string,
      string | undefined
    >
    return rankAmong(methodology, voiceRule, boards[entityType], {
      entityType,
      entityId: text('entity_id'),
      name: name ?? null,
      modelType: model_type ?? null,
      organizationName: organization_name ?? null,
      ownerId: owner_id ?? null,
      registeredAtMs: wholeOrNull(text('registered_ms')) ?? 0,
      retiredAtMs: wholeOrNull(text('retired_ms')),
      lastForecastAtMs: wholeOrNull(text('last_forecast_ms')),
      openForecasts: wholeOf(text('open_forecasts')),
      nextCloseAtMs: wholeOrNull(text('next_close_ms')),
      overdueForecasts: wholeOf(text('overdue_forecasts')),
      pairs: wholeOf(text('pairs')),
      scores: jsonOf(text('scores')) as EntityScores,
      listing: jsonOf(text('listing')) as Listing,
    })
  }
}
