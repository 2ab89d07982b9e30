// The names of entities on pages: agents' from their signed records, people's as they stand now.
import type { PeopleNames } from '../../pipeline/people/names.ts'
import type { LeaderboardFile } from '../../schemas/payloads.ts'
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

type Entry = LeaderboardFile['entries'][number]
/** An entry of a board with the name that pages show. */
export type NamedEntry = Entry & { name: string | null }

export type NamedPage = Omit<LeaderboardFile, 'entries'> & { entries: NamedEntry[] }

export function namedEntry(people: People, entry: Entry): NamedEntry {
  return 'user_id' in entry ? { ...entry, name: people.nameOf(entry.user_id) } : entry
}

/** Returns an entry as it is today: releases of earlier versions of the service have names of people. */
export function withoutName(entry: Entry): Entry {
  if ('agent_id' in entry || !('name' in entry)) return entry
  const { name: _, ...rest } = entry
  return rest
}
