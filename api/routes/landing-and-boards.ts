// The landing page and the leaderboards.
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { boardPageQuery } from '../../schemas/requests.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import type { Published } from '../published/published.ts'
import type { Release } from '../published/release-payloads.ts'
import { withoutHidden } from '../published/hidden.ts'
import { pagesOf } from '../published/leaderboard.ts'
import { movesOn } from '../published/moves.ts'
import { type LandingView, landingPage } from '../pages/landing.ts'
import { leaderboardPage } from '../pages/leaderboard.ts'
import { LEADERBOARD_PATHS } from '../../schemas/entity-paths.ts'
import { type PoolBoard, type NamedEntry, boardsOf, populationOf } from '../pages/ranking.ts'
import type { Route } from '../http/route.ts'
import { pageRoute } from './page-route.ts'
import { topicBoard } from './topic-pages.ts'

export function landingAndBoards({ parameters }: Methodology): Route[] {
  return [landing(parameters), ...ENTITY_TYPES.map((entityType) => leaderboard(entityType, parameters))]
}

function landing(rules: Methodology['parameters']): Route {
  return pageRoute({
    path: '/',
    operationId: 'showLanding',
    summary: 'What the service is, and who leads',
    render: ({ site }, context, release) => {
      const isSandboxSeeded = context.isSandboxSeeded()
      const nextReleaseAt = context.promisedReleaseAt()
      const render = async () =>
        landingPage({
          site,
          manifest: release.manifest,
          leaders: await leaders(context, release),
          rules,
          nextReleaseAt,
          isSigned: context.sign(new Uint8Array()) !== undefined,
          isSandboxSeeded,
        })
      return { state: `${nextReleaseAt?.toISOString()} ${isSandboxSeeded}`, render }
    },
  })
}

/** Returns the first agents, or the first people if no agent is ranked. */
async function leaders(context: Published, release: Release): Promise<LandingView['leaders']> {
  const { manifest } = release
  for (const entityType of ENTITY_TYPES) {
    const file = manifest && (await context.leaderboard.file(manifest, entityType, 0))
    const board = await mainBoard(context, release, entityType)
    if (file && board) return { entityType, entries: file.entries, board }
  }
  return { entityType: 'agent', entries: [], board: undefined }
}

function leaderboard(entityType: EntityType, rules: Methodology['parameters']): Route {
  const path = LEADERBOARD_PATHS[entityType]
  return pageRoute({
    path,
    operationId: entityType === 'agent' ? 'showAgents' : 'showForecasters',
    summary: `The ${entityType}s in order of rank`,
    query: boardPageQuery,
    namesRelease: true,
    render: ({ query: { page: pageNumber = 1, category }, site }, context, release) => {
      if (category !== undefined) {
        return topicBoard(context, release, { site, rules, entityType, category, pageNumber })
      }
      const { manifest } = release
      const numberOfPages = manifest ? pagesOf(manifest, entityType) : 0
      if (pageNumber > Math.max(1, numberOfPages)) {
        throw new ServiceError(
          'notFound',
          `there is no page ${pageNumber} of ${entityType}s: the last one is ${Math.max(1, numberOfPages)}`,
        )
      }
      const nextReleaseAt = context.promisedReleaseAt()
      const render = async () => {
        const published = manifest && (await context.leaderboard.file(manifest, entityType, pageNumber - 1))
        const file = published && {
          ...published,
          entries: await withoutHidden(release.earlierThan, published.entries),
        }
        return leaderboardPage({
          site,
          entityType,
          file,
          isReleased: manifest !== undefined,
          pageNumber,
          pages: numberOfPages,
          rules,
          population: manifest ? populationOf(manifest.counts, entityType) : 0,
          boards: await boards(context, release, entityType, file?.entries ?? []),
          main: await mainBoard(context, release, entityType),
          neighbours: {
            before: (await entriesOf(context, release, entityType, pageNumber - 2)).at(-1),
            after: (await entriesOf(context, release, entityType, pageNumber)).at(0),
          },
          references: manifest && file ? await context.references.beside(manifest, file.entries) : [],
          categories: manifest ? await context.categories.all(manifest) : [],
          nextReleaseAt,
          moves:
            file &&
            (await movesOn(context, manifest, entityType, { page: pageNumber - 1, entries: file.entries })),
        })
      }
      return { state: String(nextReleaseAt?.toISOString()), render }
    },
  })
}

/** Returns the boards of the ranked among some entries, in their order. */
async function boards(
  context: Published,
  release: Release,
  entityType: EntityType,
  entries: readonly NamedEntry[],
): Promise<PoolBoard[]> {
  const firsts = boardsOf(entries.filter(({ rank }) => rank !== null)).map((members) => members[0]!)
  return Promise.all(
    firsts.map(async (entry) => {
      const { size, first } = await context.leaderboard.board(release.manifest!, entityType, entry)
      return { pool: entry.pool, size, first: await withoutHidden(release.earlierThan, first) }
    }),
  )
}

/** The largest board of the release; undefined if nobody is ranked. */
async function mainBoard(
  context: Published,
  release: Release,
  entityType: EntityType,
): Promise<PoolBoard | undefined> {
  const { manifest } = release
  const file = manifest && (await context.leaderboard.file(manifest, entityType, 0))
  const [board] = await boards(context, release, entityType, file?.entries.slice(0, 1) ?? [])
  return board
}

/** The entries of a page, from 0 on; none of a page that there is not. */
async function entriesOf(
  { leaderboard: pagesOfRelease }: Published,
  { manifest }: Release,
  entityType: EntityType,
  page: number,
): Promise<readonly NamedEntry[]> {
  if (!manifest || page < 0) return []
  return (await pagesOfRelease.file(manifest, entityType, page))?.entries ?? []
}
