// Pages that list the entities of a type in the order of their board.
import { ServiceError } from '../../../schemas/errors.ts'
import { LISTED_METRICS } from '../../../schemas/payloads.ts'
import { ENTITY_TYPES, type EntityType } from '../../../schemas/tables.ts'
import { BY_PLACE, ENTRIES_PER_PAGE, boardPagePath, inOrderOfPlaces, boardPlace } from '../board-order.ts'
import { listFile, pagesOf } from '../list-file.ts'
import type { OutputFile } from '../output.ts'
import { type ListedEntity, type Provenance, agentFacts, isListed, idMember } from '../payloads.ts'
import { type Input, formatOf, jsonInField, wholeOf } from '../stage/lines.ts'
import type { Publishing } from '../stage/publishing.ts'
import { runsOfSize } from '../stage/staged-files.ts'
import { entityTypeOf } from '../stage/tally.ts'
import { unitsIn } from '../stage/units.ts'
import type { ScoredKind } from './kind.ts'

const LEADERBOARDS_FOLDER = 'leaderboard/'

/** The folder of the pages of a type of entity. */
export function leaderboardFolder(entityType: EntityType): string {
  return `${LEADERBOARDS_FOLDER}${entityType}/`
}

/** The path of a page, by its number from 0. */
export function leaderboardPath(entityType: EntityType, page: number): string {
  return boardPagePath(leaderboardFolder(entityType), page)
}

/** Yields all pages of a type of entity. */
export function* leaderboardFiles(
  entityType: EntityType,
  entities: readonly ListedEntity[],
  provenance: Provenance,
): Iterable<OutputFile> {
  for (const [page, members] of pagesOf(entities.toSorted(entitiesByPlace), ENTRIES_PER_PAGE).entries()) {
    yield leaderboardPage(entityType, page, members, provenance)
  }
}

function leaderboardPage(
  entityType: EntityType,
  page: number,
  members: readonly ListedEntity[],
  provenance: Provenance,
): OutputFile {
  const common = { ...provenance, entity_type: entityType }
  return listFile(leaderboardPath(entityType, page), 'entries', members.map(entryOf), common)
}

function entitiesByPlace(a: ListedEntity, b: ListedEntity): number {
  return inOrderOfPlaces(boardPlace(a.metrics), boardPlace(b.metrics)) || (a.entityId < b.entityId ? -1 : 1)
}

function entryOf(entity: ListedEntity): object {
  const metrics = LISTED_METRICS.map((name) => [name, entity.metrics[name]])
  return {
    ...idMember(entity),
    ...agentFacts(entity, ['name', 'model_type', 'organization_name', 'retired_at']),
    ...entity.award,
    ...(Object.fromEntries(metrics) as object),
    trend: entity.metrics.eligible ? entity.listing.trend : [],
  }
}

const LEADERBOARD_LINE_COLUMNS = [
  'page',
  'entity_type',
  'entity_id',
  'pool_size',
  'pool',
  'value',
  'content',
] as const
const LEADERBOARD_LINES = formatOf('a leaderboard', LEADERBOARD_LINE_COLUMNS, {
  entity_type: 'text',
  page: 'number',
  ...BY_PLACE,
})

function publish({ provenance, put }: Publishing, input: Input): AsyncIterable<string> {
  const { at } = LEADERBOARD_LINES
  return unitsIn(
    input,
    LEADERBOARD_LINES,
    (first) => {
      const page = wholeOf(first[at.page]!)
      const members: ListedEntity[] = []
      return {
        take(fields) {
          members.push(jsonInField(fields[at.content]!) as ListedEntity)
          if (members.length > ENTRIES_PER_PAGE) {
            throw new ServiceError('invalid', `page ${page} has too many entries`)
          }
        },
        end: () => put(leaderboardPage(entityTypeOf(first[at.entity_type]!), page, members, provenance)),
      }
    },
    ['page', 'entity_type'],
  )
}

export const LEADERBOARDS: ScoredKind = {
  name: 'leaderboards',
  places: [LEADERBOARDS_FOLDER],
  *make({ ranked, provenance }) {
    const listed = ranked.filter(isListed)
    for (const entityType of ENTITY_TYPES) {
      const members = listed.filter((entity) => entity.entityType === entityType)
      yield* leaderboardFiles(entityType, members, provenance)
    }
  },
  sizes: { entries_per_page: ENTRIES_PER_PAGE },
  publish,
  arrange: (staged) =>
    ENTITY_TYPES.flatMap((entityType) =>
      runsOfSize(staged.sum('listed', `${entityType}/`), ENTRIES_PER_PAGE).map((rows, page) =>
        staged.take(leaderboardPath(entityType, page), { rows }),
      ),
    ),
}
