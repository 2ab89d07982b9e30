// Manifests of releases that callers still ask for, in memory.
import { readManifest } from '../../pipeline/release/read.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { ShardCache } from './shard-cache.ts'

/** Some tens of the longest manifests. */
const CACHE_BYTES = 32 * 1024 * 1024
/** The estimated memory of a manifest for each of its files. */
const FILE_BYTES = 500

export class Manifests {
  readonly #store: Store
  readonly #manifests = new ShardCache<ReleaseManifest>(CACHE_BYTES)

  constructor(store: Store) {
    this.#store = store
  }

  /** @throws the error that `missing` returns, if there is no manifest. */
  of(release: number, missing: () => ServiceError): Promise<ReleaseManifest> {
    return this.#manifests.get(String(release), async () => {
      const manifest = await readManifest(this.#store, release)
      if (!manifest) throw missing()
      return { value: manifest, sizeBytes: manifest.files.length * FILE_BYTES }
    })
  }
}
