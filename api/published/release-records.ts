// The records of whole releases, in the bytes that are sent. A manifest may name thousands of files, so its
// text is kept.
import pMap from 'p-map'
import { readManifest, thinnedAt } from '../../pipeline/release/read.ts'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { manifestPath } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { Site } from '../pages/site.ts'
import { atomOf } from './atom.ts'
import type { Release } from './release-payloads.ts'
import type { RenderedAnswers } from './rendered.ts'
import { READS_AT_ONCE } from '../../pipeline/store/store.ts'

/** Releases in the feed. */
const IN_FEED = 50

export class ReleaseRecords {
  readonly #store: Store
  readonly #site: Site
  readonly #rendered: RenderedAnswers

  constructor(store: Store, site: Site, rendered: RenderedAnswers) {
    this.#store = store
    this.#site = site
    this.#rendered = rendered
  }

  /** @param release has a manifest. */
  current(release: Release, nextDueAt: Date | undefined): Promise<Uint8Array> {
    const next_due_at = nextDueAt?.toISOString() ?? null
    return this.#rendered.get(release, '/releases/current', {
      state: String(next_due_at),
      render: () => canonical({ ...release.manifest!, next_due_at }),
    })
  }

  /**
   * Returns a release up to the current one. @throws ServiceError `corrupt` if its manifest is damaged or
   * gone.
   */
  async recordOf(release: number): Promise<Uint8Array> {
    const thinned_at = (await thinnedAt(this.#store, release)) ?? null
    return this.#rendered.get(undefined, `/releases/${release}`, {
      state: String(thinned_at),
      render: async () => canonical({ ...(await this.#manifest(release)), thinned_at }),
    })
  }

  /**
   * Returns the feed of the last releases up to one that has a manifest.
   *
   * @throws ServiceError `corrupt` if one of their manifests is damaged or gone.
   */
  async feed(release: Release): Promise<Uint8Array> {
    return this.#rendered.get(release, '/releases.atom', {
      render: () => this.#feed(release.manifest!.release),
    })
  }

  async #feed(current: number): Promise<Uint8Array> {
    const installation = { site: this.#site, store: this.#store.mark ?? this.#store.url }
    const first = Math.max(1, current - IN_FEED + 1)
    const earlier = Array.from({ length: current - first }, (_, index) => current - 1 - index)
    const read = (release: number) => this.#manifest(release)
    // The current manifest is read too, so that a store that is gone gives no feed.
    const newest = await read(current)
    const manifests = await pMap(earlier, read, { concurrency: READS_AT_ONCE })
    return new TextEncoder().encode(atomOf(installation, [newest, ...manifests]))
  }

  async #manifest(release: number): Promise<ReleaseManifest> {
    const manifest = await readManifest(this.#store, release)
    if (manifest) return manifest
    throw new ServiceError('corrupt', `${manifestPath(release)} is gone, though there are later releases`)
  }
}
