// Earlier releases, of which entities can be read until retention thins them.
import { thinned, thinnedAt } from '../../pipeline/release/read.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { Manifests } from './manifests.ts'
import { type PayloadParts, type Release, type ReleaseFile, ReleasePayloads } from './release-payloads.ts'
import { ShardCache } from './shard-cache.ts'

/** Some files, with room for their payloads. */
const CACHE_BYTES = 32 * 1024 * 1024

export class EarlierReleases {
  readonly #parts: PayloadParts
  readonly #manifests: Manifests
  readonly #files = new ShardCache<ReleaseFile>(CACHE_BYTES)

  constructor(parts: PayloadParts, manifests: Manifests) {
    this.#parts = parts
    this.#manifests = manifests
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
    return new ReleasePayloads(manifest, this.#parts, this.#files)
  }

  manifest(release: number): Promise<ReleaseManifest> {
    const gone = () => new ServiceError('corrupt', `the manifest of release ${release} is gone`)
    return this.#manifests.of(release, gone)
  }

  /** Returns when retention began to delete what a release said; undefined if it has not. */
  thinnedAt(release: number): Promise<string | undefined> {
    return thinnedAt(this.#parts.store, release)
  }
}
