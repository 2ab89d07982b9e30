// The people whose forecasts the operator has erased, each by a record with an id and no name. Their rows
// stay in the data files, and nobody reads them.
import { type ErasedPerson, erasedPerson } from '../../schemas/manifests.ts'
import { ERASED_PREFIX, erasedPath } from '../store/paths.ts'
import { records } from '../store/records.ts'
import type { Store } from '../store/store.ts'

const erasedIn = (store: Store) => records(store, erasedPath, erasedPerson)

/** Reads whose forecasts are erased, in the order of ids. */
export function erasedPeople(store: Store): Promise<ErasedPerson[]> {
  return erasedIn(store).list(ERASED_PREFIX)
}

export function readErased(store: Store, userId: string): Promise<ErasedPerson | undefined> {
  return erasedIn(store).get(userId)
}

/**
 * Records that the forecasts of a person are erased. Returns false if they were already: the first record
 * stays.
 */
export function recordErased(store: Store, person: ErasedPerson): Promise<boolean> {
  return erasedIn(store).create(person.user_id, person)
}
