// The boards by category of a release, and the index of its categories.
import { readReleaseFile } from '../../pipeline/release/read.ts'
import { CATEGORIES_PATH, categoryPath } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import type {
  CategoriesFile,
  CategoryBoardEntry,
  CategoryBoardFile,
  CategoryFacts,
} from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { ShardCache } from './shard-cache.ts'

/** Some hundred pages, and the index. */
const CACHE_BYTES = 8 * 1024 * 1024
/** A parsed file takes about three times as much memory as its bytes. */
const PARSED_FACTOR = 3

/** A category with its number, by which its files are named. */
export interface NumberedCategory extends CategoryFacts {
  number: number
}

export class Categories {
  readonly #store: Store
  readonly #files = new ShardCache<CategoriesFile | CategoryBoardFile>(CACHE_BYTES)

  constructor(store: Store) {
    this.#store = store
  }

  /** Returns all categories in the order of their names; none of a release that was made without them. */
  async all(manifest: ReleaseManifest): Promise<NumberedCategory[]> {
    const file = await this.#read<CategoriesFile>(manifest, CATEGORIES_PATH)
    return (file?.categories ?? []).map((facts, number) => ({ ...facts, number }))
  }

  /** Returns a category by its name. @throws ServiceError `notFound` if the release has none of that name. */
  async sought(manifest: ReleaseManifest, category: string): Promise<NumberedCategory> {
    const found = (await this.all(manifest)).find((one) => one.category === category)
    if (found) return found
    const { release } = manifest
    const asked = JSON.stringify(category)
    throw new ServiceError(
      'notFound',
      fileIn(manifest, CATEGORIES_PATH)
        ? `no question of release ${release} has the category ${asked}: /view/topics lists the categories`
        : `release ${release} was made before there were boards by category, so it has none of ${asked}: leave \`category\` out, or ask a later release`,
    )
  }

  /** Returns a page of a board, counted from 0; undefined if the board does not have it. */
  page(
    manifest: ReleaseManifest,
    { number }: NumberedCategory,
    entityType: EntityType,
    page: number,
  ): Promise<CategoryBoardFile | undefined> {
    return this.#read(manifest, categoryPath(number, entityType, page))
  }

  /** Yields the entries page by page, and keeps none of them: they would put all others out of the cache. */
  async *entries(
    manifest: ReleaseManifest,
    { number }: NumberedCategory,
    entityType: EntityType,
  ): AsyncGenerator<CategoryBoardEntry[]> {
    for (let page = 0; ; page++) {
      const file = fileIn(manifest, categoryPath(number, entityType, page))
      if (!file) return
      yield (await readReleaseFile<CategoryBoardFile>(this.#store, manifest.release, file)).entries
    }
  }

  async #read<File extends CategoriesFile | CategoryBoardFile>(
    manifest: ReleaseManifest,
    path: string,
  ): Promise<File | undefined> {
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

function fileIn({ files }: ReleaseManifest, path: string): ManifestFile | undefined {
  return files.find((one) => one.path === path)
}
