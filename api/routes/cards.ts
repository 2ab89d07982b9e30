// Cards: pictures of what the current release says of an entity, to be shown in chats and on other pages.
import { z } from 'zod'
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import { callPath } from '../../schemas/entity-paths.ts'
import { type EntityType, ENTITY_TYPES } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import type { ApiContext } from '../http/context.ts'
import type { Release } from '../published/release-payloads.ts'
import { notPublished } from '../http/not-published.ts'
import { type Route, bytes, route } from '../http/route.ts'
import { type Card, cardOf, emptyCard, cardSvg } from '../pages/cards/card.ts'
import { CALLS_OF_DRAWING } from '../limits/page-calls.ts'
import type { Html } from '../pages/html.ts'
import type { Payloads } from '../pages/profile/subject.ts'
import { cardPng } from '../published/card-picture.ts'
import { nameOfEntity } from '../published/people.ts'
import { ANYWHERE, PICTURE_HEADERS, SHORTLY, subjectOf } from './badges.ts'
import { ENTITIES } from './entities.ts'

/** No cache may show a name for longer. */
const KEPT = 'public, max-age=3600'

const ENDINGS = ['svg', 'png'] as const
type Ending = (typeof ENDINGS)[number]

export function cards(methodology: Methodology): Route[] {
  const { eligible_questions: eligibleQuestions } = methodology.parameters
  return ENTITY_TYPES.flatMap((entityType) =>
    ENDINGS.map((ending) => card(entityType, ending, eligibleQuestions)),
  )
}

const DRAWERS: Record<Ending, (card: Card) => Html | Promise<Uint8Array>> = { svg: cardSvg, png: cardPng }

function card(entityType: EntityType, ending: Ending, eligibleQuestions: number): Route {
  const { path, words, idName, example } = ENTITIES[entityType]
  const isPicture = ending === 'png'
  return route({
    path: `${path}/card.${ending}`,
    operationId: `get${entityType === 'agent' ? 'Agent' : 'Forecaster'}Card${isPicture ? 'Picture' : 'Drawing'}`,
    tag: 'Verification',
    summary: `The card of ${words} as ${ending.toUpperCase()}`,
    description:
      'A picture of 1200 × 630 for chats and other pages: name, title, skill, interval, questions and place by the current release, with a QR code of the ' +
      'address of their page where the service knows its own. One that is not known has a card too, which says so.',
    follows: true,
    needsStore: true,
    params: z.strictObject({ [idName]: uuid }),
    examples: { params: { [idName]: example } },
    success: {
      description: 'A card',
      body: isPicture ? bytes : z.string(),
      example: isPicture
        ? 'the bytes of the picture'
        : '<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630">…</svg>\n',
      mediaType: isPicture ? 'image/png' : 'image/svg+xml',
      headers: ['Cross-Origin-Resource-Policy'],
    },
    handle: async ({ params, asker }, context, release) => {
      const id = params[idName]!
      const { rendered, site } = context
      const subject = await subjectOf(context, release, entityType, id, asker)
      const isKnown = typeof subject !== 'string'
      // All unknown ids share a card, so that they fill no memory.
      const url = `${callPath(entityType, isKnown ? id : subject)}/card.${ending}`
      const body = await rendered.get(release, url, {
        ...(isPicture && { count: () => asker.countMore(CALLS_OF_DRAWING) }),
        render: async () => {
          if (!isKnown) return DRAWERS[ending](emptyCard(site, entityType, subject))
          const { name, place } = await namedAndPlaced(context, release, entityType, id)
          const cardSubject = { entityType, entityId: id, name, verification: subject, place }
          return DRAWERS[ending](cardOf(site, cardSubject, eligibleQuestions, isPicture))
        },
      })
      const headers = isPicture ? ANYWHERE : PICTURE_HEADERS
      return { body, headers: { ...headers, 'Cache-Control': isKnown ? KEPT : SHORTLY } }
    },
  })
}

/** @throws ServiceError `notFound` if the method of the release publishes neither. */
async function namedAndPlaced(context: ApiContext, release: Release, entityType: EntityType, id: string) {
  const { leaderboard, people } = context
  const [profile, rankings] = await Promise.all([
    release.find(entityType, id, 'profile'),
    release.find(entityType, id, 'rankings'),
  ])
  if (!profile || !rankings) throw await notPublished(context, release, entityType, id)
  const name = nameOfEntity(people, entityType, id, profile.payload)
  const ranked = rankings.payload as Payloads['rankings']
  const { rank, rank_interval: range } = ranked
  const place =
    rank === null || range === null
      ? undefined
      : { ...range, boardSize: await leaderboard.boardSize(release.manifest!, entityType, ranked) }
  return { name, place }
}
