// The payloads of an agent or a forecaster in the current release or an earlier one, with the same five calls
// for both.
import { z } from 'zod'
import { RESPONSES } from '../../schemas/json-schemas.ts'
import type { PublicationKind } from '../../schemas/metric.ts'
import { releaseQuery } from '../../schemas/requests.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import type { Publication } from '../published/release-payloads.ts'
import type { Caller } from '../limits/callers.ts'
import { notPublished } from '../http/not-published.ts'
import * as examples from '../openapi/examples.ts'
import { componentName } from '../openapi/schemas.ts'
import { type Reply, type Route, type Tag, route } from '../http/route.ts'
import { signatureHeader } from '../published/signature.ts'
import { ENTITIES } from './entities.ts'

interface PublicationCall {
  kind: PublicationKind | 'profile'
  /** The last part of the path; the profile is at the path of the entity itself. */
  name: 'verification' | 'metrics' | 'rankings' | 'advanced-metrics' | 'profile'
  tag: Tag
  /** The kind of entity follows this text. */
  summary: string
  description: string
}

const CALLS: PublicationCall[] = [
  {
    kind: 'profile',
    name: 'profile',
    tag: 'Records',
    summary: 'The profile of',
    description:
      'Who it says that it is, and what it has done by the current release. Names are claims, not identities: show them beside ' +
      'the id.',
  },
  {
    kind: 'verification',
    name: 'verification',
    tag: 'Verification',
    summary: 'The signed verification of',
    description:
      'Whether the current release certifies it, how skilled it is and on how many questions. The signature covers ' +
      'the exact bytes of the body; the guide for verifiers shows how to check it. Calls with a key count toward the ' +
      'monthly quota of its account, calls without one toward those of their address, for the month and for the minute.',
  },
  {
    kind: 'metrics',
    name: 'metrics',
    tag: 'Records',
    summary: 'All scores and the calibration of',
    description: 'Every score in the current release, and how well calibrated the forecasts are.',
  },
  {
    kind: 'rankings',
    name: 'rankings',
    tag: 'Records',
    summary: 'The rank of',
    description:
      'The rank by skill among the eligible agents, or forecasters, of one pool, which common questions tie together. ' +
      'An agent that has retired has none.',
  },
  {
    kind: 'advanced_metrics',
    name: 'advanced-metrics',
    tag: 'Records',
    summary: 'Stability, conviction and responsiveness of',
    description: 'How stable the skill is, how confident the forecasts are and how they respond to news.',
  },
]

export const publications: Route[] = CALLS.flatMap((call) => [
  publication('agent', call),
  publication('forecaster', call),
])

function publication(entityType: EntityType, call: PublicationCall): Route {
  const { kind, name, tag, description } = call
  const { path, words, idName, example, missing } = ENTITIES[entityType]
  const isVerification = kind === 'verification'
  const replyOf = ({ bytes, signature }: Publication, caller: Caller): Reply => ({
    body: bytes,
    headers: {
      ...signatureHeader(signature),
      'Cache-Control': `${caller.kind === 'anonymous' ? 'public' : 'private'}, max-age=60`,
      // A cache in front of the service must not answer a call that counts, nor one with a wrong key.
      ...(isVerification ? { Vary: 'X-API-Key, Authorization' } : {}),
    },
  })
  return route({
    path: kind === 'profile' ? path : `${path}/${name}`,
    operationId: `get${componentName(`${entityType}-${name}`)}`,
    tag,
    summary: `${call.summary} ${words}`,
    description: `${description} \`release\` names an earlier release instead, which answers in the same bytes for good.`,
    ...(isVerification ? { key: 'optional', limit: 'verification' } : { key: 'none' }),
    follows: true,
    needsStore: true,
    namesRelease: true,
    query: releaseQuery,
    params: z.strictObject({ [idName]: uuid }),
    examples: { params: { [idName]: example } },
    success: {
      description: 'As in the current release',
      body: RESPONSES[`${entityType}-${name}`],
      example: examples.PUBLICATIONS[entityType][kind],
      headers: ['X-Service-Signature', ...(isVerification ? (['Vary'] as const) : [])],
    },
    problems: { 404: missing, 422: examples.invalid('path', idName, 'must be a UUID') },
    handle: async ({ params, caller, asker }, context, release) => {
      const entityId = params[idName]!
      // A verification is one call of its month, whatever it takes.
      const payer = isVerification ? undefined : asker
      const found = await release.find(entityType, entityId, kind, payer)
      if (!found) throw await notPublished(context, release, entityType, entityId)
      return replyOf(found, caller)
    },
  })
}
