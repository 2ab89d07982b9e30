// Tries a store out before the service relies on it, and refuses one that would break the service's promises.
import { ServiceError } from '../../schemas/errors.ts'
import { probePath } from './paths.ts'
import type { Store } from './store.ts'

const RIVALS = 4

/**
 * Checks that at most one of several simultaneous creates of a path succeeds, that a later one is refused,
 * and that the created object can be read, listed and deleted. `id` makes the path of this probe unique.
 * Returns the store's own time of the create; an invalid date if the store does not say.
 *
 * @throws ServiceError `invalid` if the store accepts a second create, as servers do that ignore
 *   `If-None-Match: *`, or loses an object; `unavailable` if it does not answer.
 */
export async function probeStore(store: Store, id: string): Promise<Date> {
  const path = probePath(id)
  let createdAt: Date
  try {
    createdAt = await checkCreates(store, path)
  } catch (error) {
    // The first error says more than one about tidying up.
    await store.delete(path).catch(() => undefined)
    if (!(error instanceof ServiceError) || error.kind !== 'unavailable') throw error
    // The store's URL tells the operator which setting to correct.
    throw new ServiceError('unavailable', `${store.url}: ${error.message}`, { cause: error, retryAfterS: 5 })
  }
  await store.delete(path)
  if (await store.get(path)) throw unreliable(store, `still returns ${path} after deleting it`)
  return createdAt
}

async function checkCreates(store: Store, path: string): Promise<Date> {
  const early = Array.from({ length: RIVALS }, (_, rival) => Buffer.from(`${path} ${rival}`))
  const creates = await Promise.all(early.map((bytes) => store.putIfAbsent(path, bytes)))
  const late = await store.putIfAbsent(path, Buffer.from(`${path} late`))
  const created = creates.filter(Boolean).length
  if (late || created > 1) {
    const seen = late
      ? 'a second create of the same path'
      : `${created} of ${RIVALS} simultaneous creates of one path`
    throw unreliable(
      store,
      `accepts ${seen}; the service needs a store that honours put-if-absent (If-None-Match: *)`,
    )
  }
  const stored = await store.get(path)
  // If the answer to a successful create is lost, the client repeats it and is refused: then any rival may
  // have won.
  const winners = created === 1 ? [early[creates.indexOf(true)]!] : early
  const kept = stored !== undefined && winners.some((bytes) => Buffer.compare(stored, bytes) === 0)
  let listed: Date | undefined
  for await (const object of store.list(path)) if (object.path === path) listed = object.modifiedAt
  if (!kept || !listed) throw unreliable(store, `does not return what was written to ${path}`)
  return listed
}

function unreliable(store: Store, fault: string): ServiceError {
  return new ServiceError('invalid', `the store ${store.url} ${fault}`)
}
