// Earlier releases, of which entities can be read until retention thins them.
import { thinned, thinnedAt } from '../../pipeline/release/read.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { Manifests } from './manifests.ts'
import { type Release, type ReleaseFile, ReleasePayloads } from './release-payloads.ts'
import { ShardCache } from './shard-cache.ts'
import type { SignAnswer } from './signature.ts'

/** Some files, with room for their payloads. */
const CACHE_BYTES = 32 * 1024 * 1024

export class EarlierReleases {
  readonly #store: Store
  readonly #manifests: Manifests
  readonly #sign: SignAnswer
  readonly #files = new ShardCache<ReleaseFile>(CACHE_BYTES)

  constructor(store: Store, manifests: Manifests, sign: SignAnswer) {
    this.#store = store
    this.#manifests = manifests
    this.#sign = sign
  }

  /**
   * Returns a release up to the current one, with its payloads as it published them.
   *
   * @throws ServiceError `notFound` if retention has begun to delete it, `corrupt` if its manifest is damaged
   *   or gone.
   */
  async wholeOf(current: Release, release: number): Promise<Release> {
    const at = await this.thinnedAt(release)
    if (at !== undefined) throw thinned(release, at)
    if (release === current.current?.release) return current
    const manifest = await this.manifest(release)
    return new ReleasePayloads(manifest, { store: this.#store, sign: this.#sign, files: this.#files })
  }

  manifest(release: number): Promise<ReleaseManifest> {
    const gone = () => new ServiceError('corrupt', `the manifest of release ${release} is gone`)
    return this.#manifests.of(release, gone)
  }

  /** Returns when retention began to delete what a release said; undefined if it has not. */
  thinnedAt(release: number): Promise<string | undefined> {
    return thinnedAt(this.#store, release)
  }
}
