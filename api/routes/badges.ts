// Badges show in one line what the current release says of an entity, as a picture and for shields.io. The
// picture carries the credential of its entity, if there is one, so that the file alone can be checked.
import { z } from 'zod'
import { bakedSvg } from '../../pipeline/credentials/baking.ts'
import { CERTIFIED } from '../../pipeline/credentials/documents.ts'
import { canonicalText, encoded } from '../../pipeline/proof/canonical.ts'
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import { badgeText } from '../../schemas/answers.ts'
import { type EntityType, ENTITY_TYPES } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import type { Intake } from '../http/intake.ts'
import type { Published } from '../published/published.ts'
import type { Release } from '../published/release-payloads.ts'
import { titleOf } from '../pages/wording.ts'
import {
  type Badge,
  type BadgeSubject,
  type Verification,
  badgeJson,
  badgeOf,
  badgeSvg,
} from '../pages/charts/badge.ts'
import { type Reply, type Route, route } from '../http/route.ts'
import type { Asker } from '../turns.ts'
import { ENTITIES } from './entities.ts'

/** A badge appears in other people's pages, whose proxies keep it. */
export const ANYWHERE = { 'Cross-Origin-Resource-Policy': 'cross-origin' }
/** It brings its own style and loads nothing. */
export const PICTURE_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  ...ANYWHERE,
}
const KEPT = 'public, max-age=3600, stale-while-revalidate=86400'
/** For the badge of an entity without a release, because it may get one at any moment. */
export const SHORTLY = 'public, max-age=60'

const EXAMPLE: Badge = {
  label: 'forecasts',
  message: 'certified +0.12 [+0.05, +0.19]',
  color: '#1a7f37',
  isSandbox: false,
}

export function badges(methodology: Methodology): Route[] {
  const { eligible_questions: eligibleQuestions } = methodology.parameters
  return ENTITY_TYPES.flatMap((entityType) => [
    badgePicture(entityType, eligibleQuestions),
    badgeWords(entityType, eligibleQuestions),
  ])
}

/** The parts that the badges of one kind of entity share. */
function badge(entityType: EntityType, ending: 'svg' | 'json', name: string) {
  const { path, idName, example } = ENTITIES[entityType]
  const summary = `The badge of an ${entityType} as ${ending.toUpperCase()}`
  return {
    path: `${path}/badge.${ending}`,
    operationId: `get${entityType === 'agent' ? 'Agent' : 'Forecaster'}Badge${name}`,
    tag: 'Verification',
    summary,
    follows: true,
    needsStore: true,
    params: z.strictObject({ [idName]: uuid }),
    examples: { params: { [idName]: example } },
    idIn: (params: Record<string, string>) => params[idName]!,
  } as const
}

function badgePicture(entityType: EntityType, eligibleQuestions: number): Route {
  const { idIn, ...shared } = badge(entityType, 'svg', 'Picture')
  const pictureOfSubject = (subject: BadgeSubject, { site }: Published) =>
    badgeSvg(badgeOf(site.environment, entityType, subject, eligibleQuestions)).text
  return route({
    ...shared,
    description:
      `${shared.summary}. One that is not known has a badge too, which says so. The badge of an entity that has a credential ` +
      'carries it, as Open Badges 3.0 says.',
    success: {
      description: 'A badge',
      body: z.string(),
      example: badgeSvg(EXAMPLE).text,
      mediaType: 'image/svg+xml',
      headers: ['Cross-Origin-Resource-Policy'],
    },
    handle: async ({ params, asker }, context, release) => {
      const id = idIn(params)
      const subject = await subjectOf(context, release, entityType, id, asker)
      const picture = pictureOfSubject(subject, context)
      const { credentials } = context
      const isAwaited = isCertified(subject) && credentials.issuer !== undefined
      if (!isAwaited) return kept(encoded(picture), subject, PICTURE_HEADERS)
      const found = await credentials.find(release.manifest!.release, entityType, id)
      if (!found) return { body: encoded(picture), headers: { ...PICTURE_HEADERS, 'Cache-Control': SHORTLY } }
      const credential = canonicalText(found.document)
      return kept(encoded(bakedSvg(picture, credential)), subject, PICTURE_HEADERS)
    },
  })
}

function badgeWords(entityType: EntityType, eligibleQuestions: number): Route {
  const { idIn, ...shared } = badge(entityType, 'json', 'Text')
  const replyOf = (subject: BadgeSubject, { site }: Published): Reply =>
    kept(badgeJson(badgeOf(site.environment, entityType, subject, eligibleQuestions)), subject, {})
  return route({
    ...shared,
    description: `${shared.summary}. One that is not known has a badge too, which says so.`,
    success: { description: 'A badge', body: badgeText, example: badgeJson(EXAMPLE) },
    handle: async ({ params, asker }, context, release) =>
      replyOf(await subjectOf(context, release, entityType, idIn(params), asker), context),
  })
}

function kept(body: object, subject: BadgeSubject, headers: Record<string, string>): Reply {
  const cache = typeof subject === 'string' ? SHORTLY : KEPT
  return { body, headers: { ...headers, 'Cache-Control': cache } }
}

/** Whether credentials are issued for the title of a subject. */
function isCertified(subject: BadgeSubject): boolean {
  return typeof subject !== 'string' && titleOf(subject) === CERTIFIED
}

export async function subjectOf(
  { registry }: Pick<Intake, 'registry'>,
  release: Release,
  entityType: EntityType,
  id: string,
  asker: Asker,
): Promise<BadgeSubject> {
  const found = await release.find(entityType, id, 'verification', asker)
  if (found) return found.payload as Verification
  const isRegistered = entityType === 'agent' && (await registry.findAgent(id)) !== undefined
  return isRegistered ? 'unreleased' : 'unknown'
}
