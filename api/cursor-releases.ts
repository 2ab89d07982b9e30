// The releases that callers page through: a cursor names its release, so that pages fit together whatever is released meanwhile.
import { readManifest } from '../pipeline/release/read.ts'
import type { Store } from '../pipeline/store/store.ts'
import { ServiceError } from '../schemas/errors.ts'
import type { ReleaseManifest } from '../schemas/payloads.ts'
import { RELEASE_CURSOR } from '../schemas/requests.ts'
import { ShardCache } from './shard-cache.ts'

/** Some tens of the longest manifests. */
const CACHE_BYTES = 16 * 1024 * 1024

interface Place {
  manifest: ReleaseManifest
  /** Where in the release; undefined: from the beginning. */
  from: number | undefined
}

export class CursorReleases {
  readonly #store: Store
  readonly #manifests: ShardCache<ReleaseManifest>

  constructor(store: Store) {
    this.#store = store
    this.#manifests = new ShardCache(CACHE_BYTES)
  }

  /**
   * What a cursor names; without one it is the beginning of the current release.
   *
   * @throws ServiceError `notFound` if there is no release as the cursor names it.
   */
  async placeOf(current: ReleaseManifest, cursor: string | undefined): Promise<Place> {
    if (cursor === undefined) return { manifest: current, from: undefined }
    const [, release, from] = RELEASE_CURSOR.exec(cursor)!.map(Number) as [number, number, number]
    if (release > current.release) throw noRelease(release)
    return { manifest: release === current.release ? current : await this.#manifest(release), from }
  }

  #manifest(release: number): Promise<ReleaseManifest> {
    return this.#manifests.get(String(release), async () => {
      const manifest = await readManifest(this.#store, release)
      if (!manifest) throw noRelease(release)
      return { value: manifest, sizeBytes: manifest.files.length * 500 }
    })
  }
}

/** The cursor of a place in a release; null for what has no next page. */
export function cursorTo({ release }: ReleaseManifest, from: number | undefined): string | null {
  return from === undefined ? null : `${release}_${from}`
}

function noRelease(release: number): ServiceError {
  return new ServiceError('notFound', `there is no release ${release}: begin again without a cursor`)
}
