// Pages about releases: the list of all, and what one of them changed.
import pMap from 'p-map'
import { settledIn } from '../../pipeline/release/compare.ts'
import { thinnedAt } from '../../pipeline/release/read.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { listPageQuery, releaseParams } from '../../schemas/requests.ts'
import type { Intake } from '../http/intake.ts'
import type { Published } from '../published/published.ts'
import type { Release } from '../published/release-payloads.ts'
import { noSuchRelease } from '../http/not-published.ts'
import type { Route } from '../http/route.ts'
import { RELEASES_PATH } from '../pages/site.ts'
import { type ReleaseChange, MOST_CORRECTIONS, releasePage, releasesPage } from '../pages/releases.ts'
import { pageRoute } from './page-route.ts'
import { releasedNames } from './pasted-path.ts'
import { SERVICE } from '../turns.ts'
import { READS_AT_ONCE } from '../../pipeline/store/store.ts'

const RELEASES_PER_PAGE = 20

const list = pageRoute({
  path: RELEASES_PATH,
  operationId: 'showReleases',
  summary: 'All releases, and what each changed',
  query: listPageQuery,
  render: async ({ query: { page: pageNumber = 1 }, asker, site }, context, release) => {
    const last = release.manifest?.release ?? 0
    const pages = Math.max(1, Math.ceil(last / RELEASES_PER_PAGE))
    if (pageNumber > pages) {
      throw new ServiceError(
        'notFound',
        `there is no page ${pageNumber} of releases: the last one is ${pages}`,
      )
    }
    const newest = last - (pageNumber - 1) * RELEASES_PER_PAGE
    const numbers = Array.from({ length: Math.min(RELEASES_PER_PAGE, newest) }, (_, index) => newest - index)
    const nextReleaseAt = context.promisedReleaseAt()
    const render = async () => {
      const changes = await pMap(numbers, (number) => changeOf(context, release, number), {
        concurrency: READS_AT_ONCE,
      })
      return releasesPage({ site, releases: changes, pageNumber, pages, nextReleaseAt })
    }
    return {
      state: String(nextReleaseAt?.toISOString()),
      count: () => asker.countMore(numbers.length),
      render,
    }
  },
})

const one = pageRoute({
  path: `${RELEASES_PATH}/{release}`,
  operationId: 'showRelease',
  summary: 'What one release changed',
  params: releaseParams,
  needsQuestions: true,
  render: async ({ params, asker, site }, context, release) => {
    const { store, questions } = context
    const number = Number(params.release)
    const current = release.manifest?.release ?? 0
    if (number > current) throw noSuchRelease(number, current)
    const thinned = await thinnedAt(store, number)
    const render = async () => {
      const change = await changeOf(context, release, number)
      const questionTitles = await titlesIn(context, change)
      // Names of then may have been hidden or erased since.
      const names = await releasedNames(context, release, change.titles?.first ?? [], SERVICE)
      return releasePage({ site, ...change, current, thinnedAt: thinned, questionTitles, names })
    }
    return { state: `${thinned} ${questions.version}`, count: () => asker.countMore(1), render }
  },
})

export const releasePages: Route[] = [list, one]

async function changeOf(context: Published, release: Release, number: number): Promise<ReleaseChange> {
  const [manifest, previous] = await Promise.all([
    manifestOf(context, release, number),
    number > 1 ? manifestOf(context, release, number - 1) : undefined,
  ])
  const questions = settledIn(manifest) - settledIn(previous)
  return { manifest, questions, titles: await context.titleChanges(manifest, previous) }
}

async function manifestOf(
  { files }: Published,
  { manifest }: Release,
  number: number,
): Promise<ReleaseManifest> {
  return number === manifest?.release ? manifest : files.at(number)
}

async function titlesIn(
  { questions }: Pick<Intake, 'questions'>,
  { manifest: { corrections } }: ReleaseChange,
): Promise<Map<string, string>> {
  const all = corrections.slice(0, MOST_CORRECTIONS)
  const ids = [...new Set(all.map(({ question_id }) => question_id))]
  const known = new Map<string, string>()
  for (const [index, title] of (await questions.titlesOf(ids)).entries()) {
    if (title !== null) known.set(ids[index]!, title)
  }
  return known
}
