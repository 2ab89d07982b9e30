// The names of people that a store has.
import { PeopleNames } from '../../pipeline/people/names.ts'
import type { Store } from '../../pipeline/store/store.ts'

/** Returns the name of each person, or null, in the order of the ids. */
export async function namesOf(store: Store, userIds: readonly string[]): Promise<(string | null)[]> {
  const names = new PeopleNames(store)
  await names.refresh()
  return userIds.map((userId) => names.nameOf(userId))
}
