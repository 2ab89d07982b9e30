// The leaderboard, page by page.
import type { z } from 'zod'
import { anyBoardPage } from '../../schemas/answers.ts'
import { MOST_FOUND, leaderboardParams, leaderboardQuery } from '../../schemas/requests.ts'
import type { Release } from '../published/release-payloads.ts'
import { isSearch } from '../published/board-names.ts'
import * as examples from '../openapi/examples.ts'
import { callsOfLookups, callsOfPage } from '../limits/page-calls.ts'
import { route } from '../http/route.ts'
import { noReleaseYet } from './releases.ts'

export const leaderboard = route({
  path: '/leaderboard/{entity_type}',
  operationId: 'listLeaderboard',
  tag: 'Records',
  summary: 'All agents or forecasters by pool and rank',
  description:
    'The ranked by pool, the largest first, and by rank in it; then those without a rank, who have retired or are not eligible, by ' +
    'their number of contested questions. `q` and `name` search among the names. ' +
    'Nobody is ranked with somebody whom no chain of common questions reaches. Two of a pool whose `board_interval`s overlap ' +
    'cannot be told apart. A cursor names its release, so that pages fit together whatever is released meanwhile. ' +
    '`release` names an earlier release, whose page is the same for good. ' +
    '`category` asks for the board of a category, which ranks and certifies nobody: it has everyone with at least 25 contested ' +
    'questions of the category, and each interval holds for it alone.',
  follows: true,
  needsStore: true,
  namesRelease: true,
  params: leaderboardParams,
  query: leaderboardQuery,
  countsAs: ({ query }) => (isSearch(query) ? callsOfLookups(limitOf(query)) : callsOfPage({ query })),
  examples: { params: { entity_type: 'agent' }, query: { q: 'agent', name: 'my-agent', limit: 10 } },
  success: {
    description: 'A page',
    body: anyBoardPage,
    cache: 'public, max-age=60',
    example: examples.leaderboardPage,
  },
  problems: {
    404: { type: 'not-released-yet', detail: examples.NO_RELEASE_YET },
    422: examples.invalid('query', 'limit', 'must be at most 1000'),
  },
  handle: async ({ params, query: { category, ...query } }, context, release) => {
    const { leaderboard: all, categories, rendered } = context
    const { manifest } = release
    if (!manifest) throw noReleaseYet(context)
    const request = { entityType: params.entity_type, ...query, limit: limitOf(query) }
    if (category !== undefined) return { body: await categories.page(manifest, category, request) }
    const isFirst = query.cursor === undefined && !isSearch(query) && !release.earlierThan
    if (!isFirst) return { body: await all.page(manifest, request) }
    const rendering = (its: Release) => ({ render: () => all.page(its.manifest!, request) })
    const url = `/leaderboard/${params.entity_type}?limit=${query.limit}`
    return { body: await rendered.get(release, url, rendering(release), rendering) }
  },
})

function limitOf(query: Omit<z.infer<typeof leaderboardQuery>, 'category'>): number {
  return isSearch(query) ? Math.min(query.limit, MOST_FOUND) : query.limit
}
