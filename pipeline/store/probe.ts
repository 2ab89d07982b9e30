// Refuses a store that would break the service's promises, before anything relies on it.
import { ServiceError } from '../../schemas/errors.ts'
import { probePath } from './paths.ts'
import type { Store } from './store.ts'

const RIVALS = 4

/**
 * Checks that of several creates of one path at most one goes through, that a later one is refused, and that what
 * was created can be read, listed and deleted. `id` makes the probe's path its own.
 *
 * @throws ServiceError `invalid` for a store that lets a second create through, as servers do that ignore
 *   `If-None-Match: *`, or that loses what was written; `unavailable` for one that does not answer.
 */
export async function probeStore(store: Store, id: string): Promise<void> {
  const path = probePath(id)
  try {
    await checkCreates(store, path)
  } catch (error) {
    // What was wrong with the store says more than that it cannot be tidied either.
    await store.delete(path).catch(() => undefined)
    if (!(error instanceof ServiceError) || error.kind !== 'unavailable') throw error
    // Whose settings are wrong is to know which store is meant.
    throw new ServiceError('unavailable', `${store.url}: ${error.message}`, { cause: error, retryAfterS: 5 })
  }
  await store.delete(path)
  if (await store.get(path)) throw unreliable(store, `still gives ${path} after deleting it`)
}

async function checkCreates(store: Store, path: string): Promise<void> {
  const rivals = Array.from({ length: RIVALS + 1 }, (_, rival) =>
    new TextEncoder().encode(`${path} ${rival}`),
  )
  const early = rivals.slice(0, RIVALS)
  const creates = await Promise.all(early.map((bytes) => store.putIfAbsent(path, bytes)))
  const late = await store.putIfAbsent(path, rivals[RIVALS]!)
  const created = creates.filter(Boolean).length
  if (late || created > 1) {
    const seen = late
      ? 'a second create of the same path'
      : `${created} of ${RIVALS} creates of one path at once`
    throw unreliable(
      store,
      `lets ${seen} through; it must honour put-if-absent (If-None-Match: *) for the service to be safe`,
    )
  }
  const stored = await store.get(path)
  // A create whose answer was lost succeeds unseen, and its repetition is refused: then any rival may have won.
  const winners = created === 1 ? [early[creates.indexOf(true)]!] : early
  const kept = stored !== undefined && winners.some((bytes) => Buffer.compare(stored, bytes) === 0)
  let listed = false
  for await (const object of store.list(path)) listed ||= object.path === path
  if (!kept || !listed) throw unreliable(store, `does not give back what was written to ${path}`)
}

function unreliable(store: Store, fault: string): ServiceError {
  return new ServiceError('invalid', `the store ${store.url} ${fault}`)
}
