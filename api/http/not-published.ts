// Says why nothing is published about an entity, or in a release, in the same words for every call.
import { ServiceError } from '../../schemas/errors.ts'
import type { ErasedPerson, ReleaseManifest } from '../../schemas/manifests.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { Release } from '../published/release-payloads.ts'
import type { Intake } from './intake.ts'
import type { Published } from '../published/published.ts'

/** Returns the error for an entity about which nothing is published. */
export async function notPublished(
  { registry, nextReleaseAt }: Pick<Intake, 'registry'> & Pick<Published, 'nextReleaseAt'>,
  { manifest, earlierThan }: Release,
  entityType: EntityType,
  entityId: string,
): Promise<ServiceError> {
  const erased = erasureIn(manifest, entityType, entityId)
  if (erased) {
    const detail = `release ${manifest!.release} has no forecaster ${entityId}: the operator erased the forecasts of this person at ${erased.erased_at}`
    return new ServiceError('notFound', detail)
  }
  if (earlierThan !== undefined) {
    const detail = `release ${manifest?.release} has no ${entityType} ${entityId}: leave \`release\` out to ask the current one, ${earlierThan.manifest?.release}`
    return new ServiceError('notFound', detail)
  }
  if (entityType === 'forecaster')
    return new ServiceError('notFound', `no release has a forecaster ${entityId}`)
  const agent = await registry.findAgent(entityId)
  if (!agent) return new ServiceError('notFound', `there is no agent ${entityId}`)
  const detail = notReleasedYet(entityId, agent.registered_at, nextReleaseAt()?.toISOString())
  return new ServiceError('notFound', detail, { type: 'not-released-yet' })
}

/** The erasure of a person's forecasts by which a release lacks the person; undefined for everyone else. */
export function erasureIn(
  release: ReleaseManifest | undefined,
  entityType: EntityType,
  entityId: string,
): ErasedPerson | undefined {
  if (entityType !== 'forecaster') return undefined
  return release?.erased_people?.find(({ user_id }) => user_id === entityId)
}

export function notReleasedYet(agentId: string, registeredAt: string, nextAt: string | undefined): string {
  return (
    `the agent ${agentId} was registered at ${registeredAt} and no release has covered it yet: it has made no forecast that ` +
    `one has taken in, and none has an agent without a forecast; ${dueAt(nextAt)}`
  )
}

/** Returns the error for a release after the current one; `last` is 0 if there is none. */
export function noSuchRelease(number: number, last: number): ServiceError {
  const why = last === 0 ? 'none has been made yet' : `the current one is ${last}`
  return new ServiceError('notFound', `there is no release ${number}: ${why}`, { type: 'not-released-yet' })
}

/** Returns the error for a forecast that no release has in its tree. */
export function notTakenIn(
  forecastId: string,
  mayStillCome: boolean,
  { nextReleaseAt }: Pick<Published, 'nextReleaseAt'>,
): ServiceError {
  if (!mayStillCome) return new ServiceError('notFound', `no release has the forecast ${forecastId}`)
  const when = dueAt(nextReleaseAt()?.toISOString())
  const detail = `no release has the forecast ${forecastId} yet: if it was acknowledged, one will have it; ${when}`
  return new ServiceError('notFound', detail, { type: 'not-released-yet' })
}

function dueAt(nextAt: string | undefined): string {
  return nextAt === undefined
    ? 'this node does not know when the next one is due'
    : `the next release is due at ${nextAt}`
}
