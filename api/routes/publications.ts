// What the current release says about an agent or a forecaster: the same four calls for both.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import type { PublicationKind } from '../../schemas/metric.ts'
import * as payloads from '../../schemas/payloads.ts'
import { noQuery } from '../../schemas/requests.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import type { ApiContext } from '../context.ts'
import type { Publication } from '../current-release.ts'
import type { Caller } from '../limits/callers.ts'
import * as examples from '../openapi/examples.ts'
import { type Reply, type Route, type Tag, route } from '../route.ts'

const { AGENT_ID, USER_ID } = examples

interface PublicationCall {
  kind: PublicationKind
  /** The last part of the path. */
  name: string
  /** The last part of the operation's id. */
  id: string
  tag: Tag
  /** Continues with the kind of entity. */
  summary: string
  description: string
  agent: { body: z.ZodType; example: object }
  forecaster: { body: z.ZodType; example: object }
}

const CALLS: PublicationCall[] = [
  {
    kind: 'verification',
    name: 'verification',
    id: 'Verification',
    tag: 'Verification',
    summary: 'The signed verification of',
    description:
      'Whether the current release certifies it, how skilled it is and on how many questions. The signature covers ' +
      'the exact bytes of the body; the guide for verifiers shows how to check it. Calls with a key count toward the ' +
      'monthly quota of its account, calls without one toward the per-minute quota of their address.',
    agent: { body: payloads.agentVerification, example: examples.agentVerification },
    forecaster: { body: payloads.forecasterVerification, example: examples.forecasterVerification },
  },
  {
    kind: 'metrics',
    name: 'metrics',
    id: 'Metrics',
    tag: 'Records',
    summary: 'All scores and the calibration of',
    description: 'Every score in the current release, and how well calibrated the forecasts are.',
    agent: { body: payloads.agentMetrics, example: examples.agentMetrics },
    forecaster: { body: payloads.forecasterMetrics, example: examples.forecasterMetrics },
  },
  {
    kind: 'rankings',
    name: 'rankings',
    id: 'Rankings',
    tag: 'Records',
    summary: 'The rank of',
    description: 'The rank by skill among the eligible agents, or forecasters.',
    agent: { body: payloads.agentRankings, example: examples.agentRankings },
    forecaster: { body: payloads.forecasterRankings, example: examples.forecasterRankings },
  },
  {
    kind: 'advanced_metrics',
    name: 'advanced-metrics',
    id: 'AdvancedMetrics',
    tag: 'Records',
    summary: 'Stability, conviction and responsiveness of',
    description: 'How stable the skill is, how confident the forecasts are and how they respond to news.',
    agent: { body: payloads.agentAdvancedMetrics, example: examples.agentAdvancedMetrics },
    forecaster: { body: payloads.forecasterAdvancedMetrics, example: examples.forecasterAdvancedMetrics },
  },
]

export const publications: Route[] = CALLS.flatMap(
  ({ kind, name, id, tag, summary, description, agent, forecaster }) => {
    const isVerification = kind === 'verification'
    const shared = {
      method: 'GET',
      tag,
      description,
      ...(isVerification
        ? ({ key: 'optional', limit: 'verification' } as const)
        : ({ key: 'none' } as const)),
      needsStore: true,
      query: noQuery,
      body: z.undefined(),
    } as const
    const success = {
      status: 200,
      description: 'As in the current release',
      headers: ['ETag', 'X-Service-Signature', ...(isVerification ? (['Vary'] as const) : [])],
    } as const
    return [
      route({
        ...shared,
        path: `/agents/{agent_id}/${name}`,
        operationId: `getAgent${id}`,
        summary: `${summary} an agent`,
        params: z.strictObject({ agent_id: uuid }),
        examples: { params: { agent_id: AGENT_ID } },
        success: { ...success, ...agent },
        problems: {
          404: {
            detail:
              `the agent ${AGENT_ID} was registered at 2026-03-01T11:58:00.000Z and no release has covered it yet; ` +
              'the next release is due at 2026-03-01T12:15:00.000Z',
          },
          422: examples.notUuid('agent_id'),
        },
        handle: ({ params, caller }, context) =>
          publication(context, { entityType: 'agent', entityId: params.agent_id, kind, caller }),
      }),
      route({
        ...shared,
        path: `/forecaster/{user_id}/${name}`,
        operationId: `getForecaster${id}`,
        summary: `${summary} a forecaster`,
        params: z.strictObject({ user_id: uuid }),
        examples: { params: { user_id: USER_ID } },
        success: { ...success, ...forecaster },
        problems: {
          404: { detail: `no release has a forecaster ${USER_ID}` },
          422: examples.notUuid('user_id'),
        },
        handle: ({ params, caller }, context) =>
          publication(context, { entityType: 'forecaster', entityId: params.user_id, kind, caller }),
      }),
    ]
  },
)

async function publication(
  context: ApiContext,
  asked: { entityType: EntityType; entityId: string; kind: PublicationKind; caller: Caller },
): Promise<Reply> {
  const { entityType, entityId, kind, caller } = asked
  const found = await context.releases.find(entityType, entityId, kind)
  if (!found) throw new ServiceError('notFound', await whyNotPublished(context, entityType, entityId))
  return {
    status: 200,
    body: found.bytes,
    headers: {
      ...headersOf(found),
      'Cache-Control': `${caller.kind === 'anonymous' ? 'public' : 'private'}, max-age=60`,
      // A cache in front of the service must not answer a call that counts, nor one with a wrong key.
      ...(kind === 'verification' ? { Vary: 'X-API-Key' } : {}),
    },
  }
}

function headersOf({ sha256, signature }: Publication): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    ETag: `"${sha256}"`,
    ...(signature === undefined ? {} : { 'X-Service-Signature': signature }),
  }
}

async function whyNotPublished(
  context: ApiContext,
  entityType: EntityType,
  entityId: string,
): Promise<string> {
  if (entityType === 'forecaster') return `no release has a forecaster ${entityId}`
  const agent = await context.registry.findAgent(entityId)
  if (!agent) return `there is no agent ${entityId}`
  const due = context.nextReleaseAt()
  const when = due
    ? `the next release is due at ${due.toISOString()}`
    : 'this node does not know when the next one is due'
  return `the agent ${entityId} was registered at ${agent.registered_at} and no release has covered it yet; ${when}`
}
