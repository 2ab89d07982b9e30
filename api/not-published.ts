// Says why nothing is published about an entity, in the same words wherever it is asked about.
import { ServiceError } from '../schemas/errors.ts'
import type { EntityType } from '../schemas/tables.ts'
import type { ApiContext } from './context.ts'

/** The error for an entity that the current release does not have, and no snapshot. */
export async function notPublished(
  { registry, nextReleaseAt }: Pick<ApiContext, 'registry' | 'nextReleaseAt'>,
  entityType: EntityType,
  entityId: string,
): Promise<ServiceError> {
  if (entityType === 'forecaster')
    return new ServiceError('notFound', `no release has a forecaster ${entityId}`)
  const agent = await registry.findAgent(entityId)
  if (!agent) return new ServiceError('notFound', `there is no agent ${entityId}`)
  const detail = notReleasedYet(entityId, agent.registered_at, nextReleaseAt()?.toISOString())
  return new ServiceError('notFound', detail, { type: 'not-released-yet' })
}

export function notReleasedYet(agentId: string, registeredAt: string, nextAt: string | undefined): string {
  const when =
    nextAt === undefined
      ? 'this node does not know when the next one is due'
      : `the next release is due at ${nextAt}`
  return `the agent ${agentId} was registered at ${registeredAt} and no release has covered it yet; ${when}`
}
