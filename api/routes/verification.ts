// What was published of an entity: its verification and its metrics, and many verifications at once.
import { z } from 'zod'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { type PublicationKind } from '../../schemas/metric.ts'
import {
  agentAdvancedMetrics,
  agentMetrics,
  agentRankings,
  agentVerification,
  bulkResults,
  forecasterAdvancedMetrics,
  forecasterMetrics,
  forecasterRankings,
  forecasterVerification,
} from '../../schemas/payloads.ts'
import { bulkVerification, noQuery } from '../../schemas/requests.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import type { Caller } from '../limits/callers.ts'
import type { ApiContext } from '../context.ts'
import { type Reply, type Route, route } from '../route.ts'
import type { Publication } from '../current-release.ts'

/** Any kind of entity has all of these; agents are asked for under /agents, forecasters under /forecaster. */
const CALLS: {
  kind: PublicationKind
  call: string
  summary: string
  agent: z.ZodType
  forecaster: z.ZodType
}[] = [
  {
    kind: 'verification',
    call: 'verification',
    summary: 'The signed verification of',
    agent: agentVerification,
    forecaster: forecasterVerification,
  },
  {
    kind: 'metrics',
    call: 'metrics',
    summary: 'All scores and the calibration of',
    agent: agentMetrics,
    forecaster: forecasterMetrics,
  },
  {
    kind: 'rankings',
    call: 'rankings',
    summary: 'The rank of',
    agent: agentRankings,
    forecaster: forecasterRankings,
  },
  {
    kind: 'advanced_metrics',
    call: 'advanced-metrics',
    summary: 'Stability, conviction and responsiveness of',
    agent: agentAdvancedMetrics,
    forecaster: forecasterAdvancedMetrics,
  },
]

export const publications: Route[] = CALLS.flatMap(({ kind, call, summary, agent, forecaster }) => {
  const shared = {
    method: 'GET',
    ...(kind === 'verification'
      ? ({ key: 'optional', limit: 'verification' } as const)
      : ({ key: 'none' } as const)),
    query: noQuery,
    body: z.undefined(),
  } as const
  const failures = kind === 'verification' ? [401, 404, 429, 503] : [404, 503]
  return [
    route({
      ...shared,
      path: `/agents/{agent_id}/${call}`,
      summary: `${summary} an agent`,
      params: z.strictObject({ agent_id: uuid }),
      success: { status: 200, body: agent },
      failures,
      handle: ({ params, caller }, context) =>
        publication(context, { entityType: 'agent', entityId: params.agent_id, kind, caller }),
    }),
    route({
      ...shared,
      path: `/forecaster/{user_id}/${call}`,
      summary: `${summary} a forecaster`,
      params: z.strictObject({ user_id: uuid }),
      success: { status: 200, body: forecaster },
      failures,
      handle: ({ params, caller }, context) =>
        publication(context, { entityType: 'forecaster', entityId: params.user_id, kind, caller }),
    }),
  ]
})

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
      // A cache before the service must neither answer a call that counts nor let a wrong key through.
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
  if (entityType === 'forecaster') return `no release speaks of a forecaster ${entityId}`
  const agent = await context.registry.findAgent(entityId)
  if (!agent) return `there is no agent ${entityId}`
  const due = context.nextReleaseAt()
  const when = due
    ? `the next release is due at ${due.toISOString()}`
    : 'this node does not know when the next is due'
  return `the agent ${entityId} was registered at ${agent.registered_at} and no release has covered it yet; ${when}`
}

export const bulk = route({
  method: 'POST',
  path: '/verification/bulk',
  summary: 'The signed verifications of many entities of one kind',
  key: 'optional',
  limit: 'verification',
  params: z.strictObject({}),
  query: noQuery,
  body: bulkVerification,
  success: { status: 200, body: bulkResults },
  failures: [401, 429, 503],
  handle: async ({ body, caller }, context) => {
    const most = context.limits.bulkIds(caller)
    if (body.ids.length > most) {
      throw new ServiceError(
        'invalid',
        `${body.ids.length} ids were sent; at most ${most} are allowed in one request`,
        {
          faults: [{ pointer: '/ids', detail: `must have at most ${most} items` }],
        },
      )
    }
    const ids = [...new Set(body.ids)]
    const results = await Promise.all(
      ids.map(async (id) => {
        const found = await context.releases.find(body.entity_type, id, 'verification')
        return found
          ? { id, status: 'ok', verification: found.payload, signature: found.signature ?? null }
          : { id, status: 'not_found' }
      }),
    )
    return {
      status: 200,
      body: canonical({ results }),
      headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
    }
  },
})
