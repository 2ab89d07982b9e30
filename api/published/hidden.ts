// Agents that the operator has hidden: the current release has no name for them.
import type { EntityType } from '../../schemas/tables.ts'
import type { Release } from './release-payloads.ts'

/** Whether a release hides an entity, so that pages of earlier ones must not show its name either. */
export async function isHidden(
  release: Release | undefined,
  entityType: EntityType,
  id: string,
): Promise<boolean> {
  if (entityType !== 'agent') return false
  const profile = await release?.find(entityType, id, 'profile')
  return profile !== undefined && (profile.payload as { name: string | null }).name === null
}
