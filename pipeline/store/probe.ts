// Refuses a store that would break the service's promises, before anything relies on it.
import { ServiceError } from '../../schemas/errors.ts'
import { probeKey } from './keys.ts'
import type { Store } from './store.ts'

const RIVALS = 4

/**
 * Checks that of several creates of one key exactly one goes through, that a later one is refused, and that
 * what was created can be read, listed and deleted. `id` makes the probe's key its own.
 *
 * @throws ServiceError `invalid` for a store that lets a second create through, as servers do that ignore
 *   `If-None-Match: *`; `unavailable` for one that does not answer.
 */
export async function probeStore(store: Store, id: string): Promise<void> {
  const key = probeKey(id)
  const bytes = (rival: number) => new TextEncoder().encode(`${id} ${rival}`)
  try {
    const creates = await Promise.all(
      Array.from({ length: RIVALS }, (_, rival) => store.putIfAbsent(key, bytes(rival))),
    )
    const late = await store.putIfAbsent(key, bytes(RIVALS))
    const created = creates.filter(Boolean).length
    if (late || created !== 1) {
      const seen = late
        ? 'a second create of the same key'
        : `${created} of ${RIVALS} creates of one key at once`
      throw new ServiceError(
        'invalid',
        `the store ${store.url} let ${seen} through; it must honour put-if-absent (If-None-Match: *) for the service to be safe`,
      )
    }
    const stored = await store.get(key)
    const winner = bytes(creates.indexOf(true))
    let listed = false
    for await (const object of store.list(key)) listed ||= object.key === key
    if (!stored || Buffer.compare(stored, winner) !== 0 || !listed) {
      throw new ServiceError(
        'invalid',
        `the store ${store.url} does not give back what was written to ${key}`,
      )
    }
  } finally {
    await store.delete(key)
  }
}
