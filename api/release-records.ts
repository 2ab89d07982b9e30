// What each release says of itself as a whole, as it is sent. A manifest may name thousands of files, so its text is kept.
import { readManifest, thinnedAt } from '../pipeline/release/read.ts'
import { canonical } from '../pipeline/proof/canonical.ts'
import { manifestPath } from '../pipeline/store/paths.ts'
import type { Store } from '../pipeline/store/store.ts'
import { ServiceError } from '../schemas/errors.ts'
import type { ReleaseManifest } from '../schemas/payloads.ts'
import { ShardCache } from './shard-cache.ts'

/** Some tens of the longest manifests. */
const CACHE_BYTES = 32 * 1024 * 1024

interface Sent {
  bytes: Uint8Array
}

export class ReleaseRecords {
  readonly #store: Store
  readonly #sent = new ShardCache<Sent>(CACHE_BYTES)

  constructor(store: Store) {
    this.#store = store
  }

  current(manifest: ReleaseManifest, nextDueAt: Date | undefined): Promise<Uint8Array> {
    const next_due_at = nextDueAt?.toISOString() ?? null
    return this.#text(`current ${manifest.release} ${next_due_at}`, () =>
      Promise.resolve({ ...manifest, next_due_at }),
    )
  }

  /** A release up to the current one. @throws ServiceError `corrupt` if its manifest is damaged or gone. */
  async of(release: number): Promise<Uint8Array> {
    const thinned_at = (await thinnedAt(this.#store, release)) ?? null
    return this.#text(`${release} ${thinned_at}`, async () => {
      const manifest = await readManifest(this.#store, release)
      if (manifest) return { ...manifest, thinned_at }
      throw new ServiceError('corrupt', `${manifestPath(release)} is gone, though there are later releases`)
    })
  }

  async #text(key: string, read: () => Promise<object>): Promise<Uint8Array> {
    const sent = await this.#sent.get(key, async () => {
      const bytes = canonical(await read())
      return { value: { bytes }, sizeBytes: bytes.byteLength }
    })
    return sent.bytes
  }
}
