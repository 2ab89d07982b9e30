// The boards by category of a release, and the index of its categories.
import { readReleaseFile } from '../../pipeline/release/read.ts'
import { CATEGORIES_PATH, categoryPath } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
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

  /** Returns a category by its name; undefined if the release has none of that name. */
  async find(manifest: ReleaseManifest, category: string): Promise<NumberedCategory | undefined> {
    return (await this.all(manifest)).find((one) => one.category === category)
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

  /** Yields the entries of a board page by page. */
  async *entries(
    manifest: ReleaseManifest,
    category: NumberedCategory,
    entityType: EntityType,
  ): AsyncGenerator<CategoryBoardEntry[]> {
    for (let page = 0; ; page++) {
      const file = await this.page(manifest, category, entityType, page)
      if (!file) return
      yield file.entries
    }
  }

  async #read<File extends CategoriesFile | CategoryBoardFile>(
    { release, files }: ReleaseManifest,
    path: string,
  ): Promise<File | undefined> {
    const file = files.find((one) => one.path === path)
    if (!file) return undefined
    const read = await this.#files.get(`${release} ${path}`, async () => ({
      value: await readReleaseFile<File>(this.#store, release, file),
      sizeBytes: file.size_bytes * PARSED_FACTOR,
    }))
    return read as File
  }
}
