// The leaderboards as whole tables, for spreadsheets and for programs that read CSV.
import { ServiceError } from '../../schemas/errors.ts'
import { boardTablePath } from '../../schemas/entity-paths.ts'
import {
  agentCategoryEntry,
  agentEntry,
  forecasterCategoryEntry,
  forecasterEntry,
} from '../../schemas/payloads.ts'
import { boardPageQuery } from '../../schemas/requests.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { columnsOf, csvReply, csvSuccess } from '../http/csv.ts'
import { type Route, route } from '../http/route.ts'
import { callsOfRows } from '../limits/page-calls.ts'
import { rankedIn } from '../pages/topics.ts'
import { listedCount } from '../published/leaderboard.ts'
import { soughtCategory } from './topic-pages.ts'

const CATEGORY_COLUMNS = {
  agent: columnsOf(agentCategoryEntry),
  forecaster: columnsOf(forecasterCategoryEntry),
}
/** A trend is no value of a cell. */
const BOARD_COLUMNS = {
  agent: columnsOf(agentEntry.omit({ trend: true })),
  forecaster: columnsOf(forecasterEntry.omit({ trend: true })),
}

export const boardTables: Route[] = ENTITY_TYPES.map(boardTable)

/** It belongs to the pages, whose addresses programs may also name, and is no part of the document. */
function boardTable(entityType: EntityType): Route {
  return route({
    path: boardTablePath(entityType),
    operationId: entityType === 'agent' ? 'getAgentTable' : 'getForecasterTable',
    isDocumented: false,
    limit: 'page',
    tag: 'Service',
    summary: `All ${entityType}s of the leaderboard as CSV`,
    description:
      'A line for each entry of the release, or of the board of a category, in its order, with its members as columns.',
    follows: true,
    needsStore: true,
    namesRelease: true,
    query: boardPageQuery.pick({ release: true, category: true }),
    success: csvSuccess(['agent_id', 'name']),
    handle: async (request, context, release) => {
      const { query, asker } = request
      const { category } = query
      const { leaderboard, categories } = context
      const { manifest } = release
      if (!manifest) throw new ServiceError('notFound', 'there is no release yet')
      const sought = category === undefined ? undefined : await soughtCategory(context, release, category)
      const entries = sought ? rankedIn(sought.facts, entityType) : listedCount(manifest, entityType)
      await asker.countMore(callsOfRows(entries) - 1)
      const filename = `${entityType}s-release-${manifest.release}`
      return sought
        ? csvReply(request, {
            filename,
            source: [manifest.release, category!],
            columns: CATEGORY_COLUMNS[entityType],
            groups: () => categories.entries(manifest, sought.facts, entityType),
          })
        : csvReply(request, {
            filename,
            source: [manifest.release],
            columns: BOARD_COLUMNS[entityType],
            groups: () => leaderboard.entries(manifest, entityType),
          })
    },
  })
}
