// The page that puts up to four agents or forecasters side by side, from the comparisons of each two.
import { profilePath } from '../../schemas/entity-paths.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { EntityMetrics } from '../../schemas/metrics.ts'
import { compareForm } from '../../schemas/requests.ts'
import { ENTITY_TYPES } from '../../schemas/tables.ts'
import type { ApiContext } from '../http/context.ts'
import { callsOfShown, callsOfLookups } from '../limits/page-calls.ts'
import { type Open, LETTERS, comparePage, comparisonPath } from '../pages/compare/compare.ts'
import type { ComparedPair, Side } from '../pages/compare/compared.ts'
import { idOf } from '../pages/ranking.ts'
import { linkTo } from '../pages/site.ts'
import type { Release } from '../published/release-payloads.ts'
import type { Asker } from '../turns.ts'
import { pageRoute } from './page-route.ts'
import { type ReleasedEntity, pastedAnywhere, releasedEntity } from './pasted-path.ts'

export const comparePageRoute = pageRoute({
  path: '/view/compare',
  operationId: 'showComparison',
  summary: 'Up to four agents or forecasters side by side',
  needsQuestions: true,
  query: compareForm,
  render: async ({ query, asker }, context, release) => {
    const { site } = context
    const wantedTexts = LETTERS.flatMap((letter) => query[letter] ?? [])
    const named: ReleasedEntity[] = []
    const open: Open[] = []
    for (const text of wantedTexts) {
      const sought = await soughtEntity(context, release, text, asker)
      if (!('entity' in sought)) open.push({ text, ...sought })
      else if (named.every(({ entityId }) => entityId !== sought.entity.entityId)) named.push(sought.entity)
    }
    const ids = named.map(({ entityId }) => entityId)
    const isPlain =
      wantedTexts.every((text, index) => text === ids[index]) && wantedTexts.length === given(query)
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
      const comparison = await comparisons.comparisonOf(manifest, [one, other], asker)
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

/** Of each kind, to choose from. */
const MOST_CHOICES = 10

type Sought =
  | { entity: ReleasedEntity }
  /** All who may be meant, or the first of them; nobody if the list is empty. */
  | { choices: readonly ReleasedEntity[]; total: number }

const NOBODY: Sought = { choices: [], total: 0 }

/** A name that only one has is theirs, also if it is a part of other names. */
async function soughtEntity(
  context: ApiContext,
  release: Release,
  text: string,
  asker: Asker,
): Promise<Sought> {
  const { site, leaderboard } = context
  const { manifest } = release
  const pasted = pastedAnywhere(site, text)
  if (pasted.kind === 'entity' && pasted.environment !== site.environment) return NOBODY
  if (pasted.kind === 'entity' || pasted.kind === 'id') {
    const entity = await releasedEntity(context, release, pasted.id, asker)
    return entity && (entity.entityType === 'forecaster' || entity.name !== null) ? { entity } : NOBODY
  }
  if (!manifest) return NOBODY
  await asker.countMore(callsOfLookups(ENTITY_TYPES.length * MOST_CHOICES))
  const choices: ReleasedEntity[] = []
  const whole: ReleasedEntity[] = []
  let total = 0
  for (const entityType of ENTITY_TYPES) {
    const found = await leaderboard.found(manifest, entityType, text, { most: MOST_CHOICES })
    const entities = found.entries.map((entry) => ({ entityType, entityId: idOf(entry), name: entry.name }))
    choices.push(...entities)
    whole.push(...entities.slice(0, found.whole))
    total += found.total
  }
  const only = whole.length === 1 ? whole[0] : total === 1 ? choices[0] : undefined
  return only ? { entity: only } : { choices, total }
}
