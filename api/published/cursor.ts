// Cursors of lists. A cursor names its release, so that pages fit together even if the current release
// changes in between.
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { RELEASE_CURSOR } from '../../schemas/requests.ts'
import type { ReleaseFiles } from './release-files.ts'

interface ListPosition {
  manifest: ReleaseManifest
  /** The position in the release; undefined for its beginning. */
  from: number | undefined
}

/**
 * Returns the position that a cursor names; without a cursor, the beginning of the current release.
 *
 * @throws ServiceError `notFound` if the cursor's release does not exist.
 */
export async function pageStart(
  files: ReleaseFiles,
  current: ReleaseManifest,
  cursor: string | undefined,
): Promise<ListPosition> {
  if (cursor === undefined) return { manifest: current, from: undefined }
  const [, release, from] = RELEASE_CURSOR.exec(cursor)!.map(Number) as [number, number, number]
  if (release > current.release) throw noRelease(release)
  const manifest = release === current.release ? current : await files.atIfThere(release)
  if (!manifest) throw noRelease(release)
  return { manifest, from }
}

/** Returns the cursor of a position in a release; null if there is no next page. */
export function cursorTo({ release }: ReleaseManifest, from: number | undefined): string | null {
  return from === undefined ? null : `${release}_${from}`
}

function noRelease(release: number): ServiceError {
  return new ServiceError('notFound', `there is no release ${release}: begin again without a cursor`)
}
