// The pages of topics: their list, the page of each, and its boards.
import { z } from 'zod'
import { ENTRIES_PER_PAGE } from '../../pipeline/release/board-order.ts'
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { CategoryBoardEntry } from '../../schemas/payloads.ts'
import { categoryName, releaseQuery } from '../../schemas/requests.ts'
import { type EntityType, ENTITY_TYPES } from '../../schemas/tables.ts'
import type { Published } from '../published/published.ts'
import type { Release } from '../published/release-payloads.ts'
import { type Site, TOPICS_PATH } from '../pages/site.ts'
import type { Route } from '../http/route.ts'
import { type TopicEntries, rankedIn, topicBoardPage, topicPage, topicsPage } from '../pages/topics.ts'
import type { NumberedCategory } from '../published/categories.ts'
import { withoutHidden } from '../published/hidden.ts'
import { type Named, namedEntry } from '../published/people.ts'
import type { Rendering } from '../published/rendered.ts'
import { pageRoute } from './page-route.ts'

/** Entries of each kind on the page of a topic. */
const FIRST_ENTRIES = 25

export function topicPages({ parameters }: Methodology): Route[] {
  return [topics, topic(parameters)]
}

const topics = pageRoute({
  path: TOPICS_PATH,
  operationId: 'showTopics',
  summary: 'The topics of the questions',
  query: releaseQuery,
  namesRelease: true,
  render: ({ site }, { categories }, { manifest }) => ({
    render: async () =>
      topicsPage({ site, categories: manifest ? await categories.all(manifest) : [], release: manifest }),
  }),
})

function topic(rules: Methodology['parameters']): Route {
  return pageRoute({
    path: `${TOPICS_PATH}/{category}`,
    operationId: 'showTopic',
    summary: 'A topic, and who forecasts it best',
    params: z.strictObject({ category: categoryName }),
    query: releaseQuery,
    namesRelease: true,
    render: async ({ params: { category }, site }, context, release) => {
      const { manifest, facts } = await soughtCategory(context, release, category)
      const render = async () => {
        const firsts = ENTITY_TYPES.map(async (entityType) => {
          return [entityType, await entriesOn(context, release, facts, entityType, 0, FIRST_ENTRIES)] as const
        })
        const boards = Object.fromEntries(await Promise.all(firsts)) as Record<EntityType, TopicEntries>
        return topicPage({ site, facts, boards, rules, release: manifest })
      }
      return { render }
    },
  })
}

interface TopicBoard {
  site: Site
  rules: Methodology['parameters']
  entityType: EntityType
  category: string
  /** The first is 1. */
  pageNumber: number
}

/** Renders a page of the board of a category. */
export async function topicBoard(
  context: Published,
  release: Release,
  { site, rules, entityType, category, pageNumber }: TopicBoard,
): Promise<Rendering> {
  const { categories } = context
  const { manifest, facts } = await soughtCategory(context, release, category)
  const numberOfPages = Math.max(1, Math.ceil(rankedIn(facts, entityType) / ENTRIES_PER_PAGE))
  if (pageNumber > numberOfPages) {
    throw new ServiceError(
      'notFound',
      `there is no page ${pageNumber} of ${entityType}s in this category: the last one is ${numberOfPages}`,
    )
  }
  const render = async () =>
    topicBoardPage({
      site,
      entityType,
      facts,
      categories: await categories.all(manifest),
      board: await entriesOn(context, release, facts, entityType, pageNumber - 1),
      pageNumber,
      pages: numberOfPages,
      rules,
      release: manifest,
    })
  return { render }
}

/** @throws ServiceError `notFound` if there is no release, or none of its categories has this name. */
export async function soughtCategory({ categories }: Published, { manifest }: Release, category: string) {
  if (!manifest) throw new ServiceError('notFound', 'there is no release yet, so there are no categories')
  return { manifest, facts: await categories.sought(manifest, category) }
}

/** Returns at most `most` entries of a page, from 0 on, with all that stands beside them. */
async function entriesOn(
  context: Published,
  release: Release,
  facts: NumberedCategory,
  entityType: EntityType,
  page: number,
  most = ENTRIES_PER_PAGE,
): Promise<TopicEntries> {
  const { categories, references } = context
  const manifest = release.manifest!
  const entriesOf = async (number: number) =>
    number < 0 ? [] : ((await categories.file(manifest, facts, entityType, number))?.entries ?? [])
  const onPage = await entriesOf(page)
  const entries = onPage.slice(0, most)
  return {
    entries: await namedEntries(context, release, entries),
    references: await references.beside(manifest, entries, facts.category),
    neighbours: {
      before: (await entriesOf(page - 1)).at(-1),
      after: onPage[most] ?? (await entriesOf(page + 1)).at(0),
    },
  }
}

/** Adds the names that pages show. */
function namedEntries(
  { people }: Published,
  { earlierThan }: Release,
  entries: readonly CategoryBoardEntry[],
): Promise<Named<CategoryBoardEntry>[]> {
  return withoutHidden(
    earlierThan,
    entries.map((entry) => namedEntry(people, entry)),
  )
}
