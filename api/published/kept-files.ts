// Files of releases, parsed and kept in memory.
import { readReleaseFile } from '../../pipeline/release/read.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import type { CategoriesFile, CategoryBoardFile } from '../../schemas/payloads.ts'
import type { ReferencesFile } from '../../schemas/references.ts'
import { ShardCache } from './shard-cache.ts'

/** A parsed file takes about three times as much memory as its bytes. */
const PARSED_FACTOR = 3

export class KeptFiles<Any extends CategoriesFile | CategoryBoardFile | ReferencesFile> {
  readonly #store: Store
  readonly #files: ShardCache<Any>

  constructor(store: Store, maxBytes: number) {
    this.#store = store
    this.#files = new ShardCache(maxBytes)
  }

  /**
   * Returns the file of this path; undefined if the release was made without it.
   *
   * @throws ServiceError as `readReleaseFile` does.
   */
  async at<File extends Any>(manifest: ReleaseManifest, path: string): Promise<File | undefined> {
    const { release } = manifest
    const file = fileIn(manifest, path)
    if (!file) return undefined
    const read = await this.#files.get(`${release} ${path}`, async () => ({
      value: await readReleaseFile<File>(this.#store, release, file),
      sizeBytes: file.size_bytes * PARSED_FACTOR,
    }))
    return read as File
  }
}

export function fileIn({ files }: ReleaseManifest, path: string): ManifestFile | undefined {
  return files.find((one) => one.path === path)
}
