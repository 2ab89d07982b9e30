// Finds releases that the public log has, but the store has lost.
import { ServiceError } from '../../schemas/errors.ts'
import { lastNumbered } from '../store/numbered.ts'
import { logCheckpointPath, manifestPath } from '../store/paths.ts'
import type { Store } from '../store/store.ts'

export interface GoneReleases {
  /** The path of the first manifest that the store has lost. */
  path: string
  /** The last release that is logged. */
  logged: number
}

/**
 * Returns undefined if the log ends at the current release or before it.
 *
 * @param current the current release; 0 if there is none.
 */
export async function goneReleases(store: Store, current: number): Promise<GoneReleases | undefined> {
  const logged = await lastNumbered(store, logCheckpointPath, current)
  if (logged === current) return undefined
  const path = manifestPath(current + 1)
  // Another run may have published and logged a release in the meantime.
  const isPublished = (await store.range(path, 0, 1)) !== undefined
  return isPublished ? undefined : { path, logged }
}

/**
 * Refuses to make a release under a number in the log. Of two releases with one number, only the logged one
 * could ever be proven.
 *
 * @throws ServiceError `corrupt` if the newest releases are gone and the log has them.
 */
export async function assertNoneGone(store: Store, current: number): Promise<void> {
  const gone = await goneReleases(store, current)
  if (!gone) return
  throw new ServiceError(
    'corrupt',
    `${gone.path} is not in the store, and the public log has ${gone.logged} releases; nothing is published under a number that it has: ` +
      'copy the release back from a backup (docs/recover.md, A release that is gone)',
  )
}
