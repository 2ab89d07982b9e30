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

/** Returns entries of a board without the names that a release hides. */
export async function withoutHidden<E extends { agent_id: string } | { user_id: string }>(
  release: Release | undefined,
  entries: readonly E[],
): Promise<E[]> {
  return Promise.all(
    entries.map(async (entry) =>
      'agent_id' in entry && (await isHidden(release, 'agent', entry.agent_id))
        ? { ...entry, name: null }
        : entry,
    ),
  )
}
