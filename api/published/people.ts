// The names of entities on pages: agents' from their signed records, people's as they stand now.
import type { PeopleNames } from '../../pipeline/people/names.ts'
import type { EntityType } from '../../schemas/tables.ts'

export type People = Pick<PeopleNames, 'nameOf' | 'version'>

/** Returns the name of an entity whose profile is given; null if it has none. */
export function nameOfEntity(
  people: People,
  entityType: EntityType,
  entityId: string,
  profile: object,
): string | null {
  return entityType === 'agent' ? (profile as { name: string | null }).name : people.nameOf(entityId)
}

/** An entry of a board with the name that pages show. */
export type Named<E> = E & { name: string | null }

/** Adds its name to an entry: that of an agent is in it, that of a person is the one of today. */
export function namedEntry<E extends { user_id: string } | { agent_id: string; name: string | null }>(
  people: People,
  entry: E,
): Named<E> {
  return 'user_id' in entry ? { ...entry, name: people.nameOf(entry.user_id) } : (entry as Named<E>)
}
