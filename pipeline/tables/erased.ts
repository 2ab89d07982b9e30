// The people whose forecasts the operator has erased, each by a record with an id and no name. Their rows
// stay in the data files, and nobody reads them.
import pMap from 'p-map'
import { type ErasedPerson, erasedPerson } from '../../schemas/manifests.ts'
import { ERASED_PREFIX, erasedPath } from '../store/paths.ts'
import { readRecord, recordBytes } from '../store/records.ts'
import type { Store } from '../store/store.ts'

const READS_AT_ONCE = 16

/** Reads whose forecasts are erased, in the order of ids. */
export async function erasedPeople(store: Store): Promise<ErasedPerson[]> {
  const paths: string[] = []
  for await (const { path } of store.list(ERASED_PREFIX)) paths.push(path)
  const read = (path: string) => readRecord(store, path, erasedPerson)
  const found = await pMap(paths.toSorted(), read, { concurrency: READS_AT_ONCE })
  return found.filter((erased) => erased !== undefined)
}

export function readErased(store: Store, userId: string): Promise<ErasedPerson | undefined> {
  return readRecord(store, erasedPath(userId), erasedPerson)
}

/**
 * Records that the forecasts of a person are erased. Returns false if they were already: the first record
 * stays.
 */
export function recordErased(store: Store, person: ErasedPerson): Promise<boolean> {
  const path = erasedPath(person.user_id)
  return store.putIfAbsent(path, recordBytes(path, person))
}
