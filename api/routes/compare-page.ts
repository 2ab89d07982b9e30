// The page that puts up to four agents or forecasters side by side, from the comparisons of each two.
import { profilePath } from '../../schemas/entity-paths.ts'
import type { EntityMetrics } from '../../schemas/metrics.ts'
import { compareForm } from '../../schemas/requests.ts'
import type { ApiContext } from '../http/context.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { Release } from '../published/release-payloads.ts'
import { callsOfShown } from '../limits/page-calls.ts'
import { LETTERS, type Open, comparePage, comparisonPath } from '../pages/compare.ts'
import type { ComparedPair, Side } from '../pages/compared-sides.ts'
import { linkTo } from '../pages/site.ts'
import type { ReleasedEntity } from './pasted-path.ts'
import { pageRoute } from './page-route.ts'
import { soughtEntity } from './sought-entity.ts'
import type { Asker } from '../turns.ts'

export const comparePageRoute = pageRoute({
  path: '/view/compare',
  operationId: 'showComparison',
  summary: 'Up to four agents or forecasters side by side',
  needsQuestions: true,
  query: compareForm,
  render: async ({ query, asker }, context, release) => {
    const { site } = context
    const asked = LETTERS.flatMap((letter) => query[letter] ?? [])
    const named: ReleasedEntity[] = []
    const open: Open[] = []
    for (const text of asked) {
      const sought = await soughtEntity(context, release, text, asker)
      if (!('entity' in sought)) open.push({ text, ...sought })
      else if (named.every(({ entityId }) => entityId !== sought.entity.entityId)) named.push(sought.entity)
    }
    const ids = named.map(({ entityId }) => entityId)
    const isPlain = asked.every((text, index) => text === ids[index]) && asked.length === given(query)
    // The address with ids stays true whoever takes a name later.
    if (open.length === 0 && ids.length > 0 && !isPlain) return { to: linkTo(site, comparisonPath(ids)) }
    const sides = await Promise.all(named.map((entity) => sideOf(release, entity)))
    const isReady = open.length === 0 && named.length > 1 && release.manifest !== undefined
    const pairs = isReady ? await pairsOf(context, release.manifest, named, asker) : []
    await asker.countMore(callsOfShown(Math.max(0, ...pairs.map(({ shared }) => shared.length))))
    return comparePage({
      site,
      sides,
      open,
      pairs,
      release: release.manifest,
      titles: await titlesOf(context, pairs),
    })
  },
})

/** How many fields are full if they are filled from the first one on. */
function given(query: Record<string, string | undefined>): number {
  return LETTERS.findLastIndex((letter) => query[letter] !== undefined) + 1
}

async function sideOf(release: Release, entity: ReleasedEntity): Promise<Side> {
  const { entityType, entityId, name } = entity
  const metrics = (await release.find(entityType, entityId, 'metrics'))?.payload as EntityMetrics | undefined
  return {
    entityType,
    id: entityId,
    name,
    path: profilePath(entityType, entityId),
    curve: metrics?.calibration_curve ?? [],
  }
}

/** Compares two after two, because each may take a look at all forecasts. */
async function pairsOf(
  { comparisons }: ApiContext,
  manifest: ReleaseManifest,
  named: readonly ReleasedEntity[],
  asker: Asker,
): Promise<ComparedPair[]> {
  const pairs: ComparedPair[] = []
  for (const [first, one] of named.entries()) {
    for (const [further, other] of named.slice(first + 1).entries()) {
      const comparison = await comparisons.of(manifest, [one, other], asker)
      pairs.push({ sides: [first, first + 1 + further], ...comparison })
    }
  }
  return pairs
}

/** Returns the titles of all questions that a table may show. */
async function titlesOf(
  { questions }: ApiContext,
  pairs: readonly ComparedPair[],
): Promise<Map<string, string | null>> {
  const ids = [...new Set(pairs.flatMap(({ shared }) => shared.map(({ questionId }) => questionId)))]
  const titles = await questions.titlesOf(ids)
  return new Map(ids.map((id, index) => [id, titles[index]!]))
}
