// Lists of releases: rows in an order, in pages, which are read, parsed and kept in memory.
import pMap from 'p-map'
import { readReleaseFile } from '../../pipeline/release/read.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import { ShardCache } from './shard-cache.ts'

/** Some hundred pages. */
const CACHE_BYTES = 64 * 1024 * 1024
/** A parsed page takes about three times as much memory as its bytes. */
const PARSED_FACTOR = 3
const READS_AT_ONCE = 16

export class ReleaseLists {
  readonly #store: Store
  readonly #pages = new ShardCache<object>(CACHE_BYTES)

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Returns the page at a path; undefined if the release does not have it.
   *
   * @throws ServiceError as `readReleaseFile` does.
   */
  async page<Page extends object>(
    { release, files }: ReleaseManifest,
    path: string,
  ): Promise<Page | undefined> {
    const file = files.find((one) => one.path === path)
    if (!file) return undefined
    const page = await this.#pages.get(`${release} ${path}`, async () => ({
      value: await readReleaseFile<Page>(this.#store, release, file),
      sizeBytes: file.size_bytes * PARSED_FACTOR,
    }))
    return page as Page
  }

  /** Yields the pages in a folder, and keeps none of them: they would put all others out of memory. */
  async *pages<Page extends object>(manifest: ReleaseManifest, folder: string): AsyncGenerator<Page> {
    for (const file of filesIn(manifest, folder)) {
      yield await readReleaseFile<Page>(this.#store, manifest.release, file)
    }
  }

  /** Returns what `of` takes from each page in a folder, in order, and keeps no page. */
  async fromPages<Page extends object, Row>(
    manifest: ReleaseManifest,
    folder: string,
    of: (page: Page) => readonly Row[],
  ): Promise<Row[]> {
    const read = async (file: ManifestFile) =>
      of(await readReleaseFile<Page>(this.#store, manifest.release, file))
    return (await pMap(filesIn(manifest, folder), read, { concurrency: READS_AT_ONCE })).flat()
  }
}

/** Returns the number of rows that the pages in a folder have. */
export function rowsIn(manifest: ReleaseManifest, folder: string): number {
  return filesIn(manifest, folder).reduce((sum, { rows }) => sum + rows, 0)
}

function filesIn({ files }: ReleaseManifest, folder: string): ManifestFile[] {
  return files.filter(({ path }) => path.startsWith(folder))
}
