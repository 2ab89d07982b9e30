// Badges show in one line what the current release says of an entity, as a picture and for shields.io.
import { z } from 'zod'
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import { badgeText } from '../../schemas/answers.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import type { Intake, Published } from '../http/context.ts'
import {
  type Badge,
  type BadgeSubject,
  type Verification,
  badgeJson,
  badgeOf,
  badgeSvg,
} from '../pages/charts/badge.ts'
import type { Publication } from '../published/release-payloads.ts'
import { type Reply, type Route, route } from '../http/route.ts'
import { ENTITIES } from './entities.ts'

/**
 * A badge appears in other people's pages, whose proxies keep it. It brings its own style and loads nothing.
 */
const PICTURE_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'cross-origin',
}
const KEPT = 'public, max-age=3600, stale-while-revalidate=86400'
/** For the badge of an entity without a release, because it may get one at any moment. */
const SHORTLY = 'public, max-age=60'

const EXAMPLE: Badge = {
  label: 'forecasts',
  message: 'certified +0.12 [+0.05, +0.19]',
  color: '#1a7f37',
  isSandbox: false,
}

export function badges({ parameters }: Methodology): Route[] {
  return ENTITY_TYPES.flatMap((entityType) => [
    badge(entityType, parameters.eligible_questions, {
      ending: 'svg',
      mediaType: 'image/svg+xml',
      schema: z.string(),
      body: (shown) => new TextEncoder().encode(badgeSvg(shown).text),
      example: badgeSvg(EXAMPLE).text,
      headers: PICTURE_HEADERS,
    }),
    badge(entityType, parameters.eligible_questions, {
      ending: 'json',
      schema: badgeText,
      body: badgeJson,
      example: badgeJson(EXAMPLE),
      headers: {},
    }),
  ])
}

interface Form {
  ending: 'svg' | 'json'
  /** JSON if it is left out. */
  mediaType?: string
  schema: z.ZodType
  body: (badge: Badge) => object
  example: object | string
  headers: Record<string, string>
}

function badge(entityType: EntityType, eligibleQuestions: number, form: Form): Route {
  const { path, idName, example: exampleId } = ENTITIES[entityType]
  const { ending, mediaType, schema, body, example, headers } = form
  const replyOf = (subject: BadgeSubject, { site }: Published): Reply => {
    const shown = badgeOf(site.environment, entityType, subject, eligibleQuestions)
    const cache = typeof subject === 'string' ? SHORTLY : KEPT
    return { body: body(shown), headers: { ...headers, 'Cache-Control': cache } }
  }
  const summary = `The badge of an ${entityType} as ${ending.toUpperCase()}`
  return route({
    path: `${path}/badge.${ending}`,
    operationId: `get${entityType === 'agent' ? 'Agent' : 'Forecaster'}Badge${ending === 'svg' ? 'Picture' : 'Text'}`,
    tag: 'Verification',
    summary,
    description: `${summary}. One that is not known has a badge too, which says so.`,
    follows: true,
    needsStore: true,
    params: z.strictObject({ [idName]: uuid }),
    examples: { params: { [idName]: exampleId } },
    success: {
      description: 'A badge',
      body: schema,
      example,
      ...(mediaType !== undefined && { mediaType, headers: ['Cross-Origin-Resource-Policy'] }),
    },
    handle: async ({ params }, context) =>
      replyOf(await subjectOf(context, entityType, params[idName]!), context),
    prepared: {
      find: (id, { releases }) => releases.atHand(entityType, id, 'verification'),
      reply: (found, _caller, context) => replyOf((found as Publication).payload as Verification, context),
    },
  })
}

async function subjectOf(
  { releases, registry }: Published & Pick<Intake, 'registry'>,
  entityType: EntityType,
  id: string,
): Promise<BadgeSubject> {
  const found = await releases.find(entityType, id, 'verification')
  if (found) return found.payload as Verification
  const isRegistered = entityType === 'agent' && (await registry.findAgent(id)) !== undefined
  return isRegistered ? 'unreleased' : 'unknown'
}
