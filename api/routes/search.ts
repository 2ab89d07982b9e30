// Finds people, agents, owners and questions by name, and leads to what an id or an address names.
import { profilePath } from '../../schemas/entity-paths.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { type SearchedList, areTitleWords, searchForm, wordsOf } from '../../schemas/requests.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { ApiContext } from '../http/context.ts'
import type { Release } from '../published/release-payloads.ts'
import type { Route } from '../http/route.ts'
import { callsOfLookups } from '../limits/page-calls.ts'
import { ownerPath, questionPath, topicPath, linkTo } from '../pages/site.ts'
import { idOf } from '../pages/ranking.ts'
import { type Found, searchPage } from '../pages/search.ts'
import { pageRoute } from './page-route.ts'
import { pastedPath } from './pasted-path.ts'

/** Of each kind, on the page of all kinds. */
const MOST_OF_KIND = 10
/** On a page of one list. */
const MOST_OF_LIST = 100
const KINDS = 4

const ENTITY_OF_LIST: Record<Exclude<SearchedList, 'owners'>, EntityType> = {
  people: 'forecaster',
  agents: 'agent',
}

/** @param leastQuestions how many shared questions make an entity ranked. */
export function searchRoute(leastQuestions: number): Route {
  return pageRoute({
    path: '/view/search',
    operationId: 'showSearch',
    summary: 'People, agents, owners and questions by name',
    needsQuestions: true,
    query: searchForm,
    render: async ({ query: { q = '', in: list, page: pageNumber = 1 }, asker }, context, release) => {
      const { site } = context
      const view = { site, text: q, list, pageNumber, perPage: MOST_OF_LIST, leastQuestions }
      if (q === '') return searchPage({ ...view, found: undefined })
      const path = list === undefined ? await pastedPath(context, release, q, asker) : undefined
      if (path !== undefined) return { to: path }
      const calls = list === undefined ? callsOfLookups(KINDS * MOST_OF_KIND) : callsOfLookups(MOST_OF_LIST)
      await asker.countMore(calls - 1)
      if (list === undefined) {
        const found = await ofAllKinds(context, release, q)
        const only = onlyPath(found)
        return only === undefined ? searchPage({ ...view, found }) : { to: linkTo(site, only) }
      }
      const found = await ofList(context, release, list, q, pageNumber)
      const total = Object.values(found)[0]?.total ?? 0
      const pages = Math.max(1, Math.ceil(total / MOST_OF_LIST))
      if (release.manifest === undefined || pageNumber <= pages) return searchPage({ ...view, found })
      throw new ServiceError(
        'notFound',
        `there is no page ${pageNumber} of these ${list}: the last one is ${pages}`,
      )
    },
  })
}

async function ofAllKinds(context: ApiContext, { manifest }: Release, text: string): Promise<Found> {
  const { questions, now } = context
  const q = wordsOf(text)
  const list = areTitleWords(text)
    ? questions.page({ q, limit: MOST_OF_KIND, cursor: undefined, now: now() })
    : undefined
  const found = {
    questions: { listed: list?.questions ?? [], hasMore: (list?.next_cursor ?? null) !== null },
  }
  if (!manifest) return found
  const most = { most: MOST_OF_KIND }
  return {
    people: await context.leaderboard.found(manifest, 'forecaster', text, most),
    agents: await context.leaderboard.found(manifest, 'agent', text, most),
    owners: await context.owners.found(manifest, text, most),
    topics: (await context.categories.all(manifest))
      .filter(({ category }) => category.toLowerCase().includes(text.toLowerCase()))
      .slice(0, MOST_OF_KIND),
    ...found,
  }
}

async function ofList(
  { leaderboard, owners }: ApiContext,
  { manifest }: Release,
  list: SearchedList,
  text: string,
  pageNumber: number,
): Promise<Omit<Found, 'questions' | 'topics'>> {
  if (!manifest) return {}
  const shown = { from: (pageNumber - 1) * MOST_OF_LIST, most: MOST_OF_LIST }
  if (list === 'owners') return { owners: await owners.found(manifest, text, shown) }
  return { [list]: await leaderboard.found(manifest, ENTITY_OF_LIST[list], text, shown) }
}

/** Returns the path of the only hit; undefined where there are several, or none. */
function onlyPath(found: Found): string | undefined {
  const paths = pathsOf(found)
  return paths.length === 1 && found.questions?.hasMore !== true ? paths[0] : undefined
}

function pathsOf({ people, agents, owners, topics, questions }: Found): string[] {
  return [
    ...(people?.entries ?? []).map((entry) => profilePath('forecaster', idOf(entry))),
    ...(agents?.entries ?? []).map((entry) => profilePath('agent', idOf(entry))),
    ...(owners?.owners ?? []).map(({ ownerId }) => ownerPath(ownerId)),
    ...(topics ?? []).map(({ category }) => topicPath(category)),
    ...(questions?.listed ?? []).map(({ question_id: id }) => questionPath(id)),
  ]
}
