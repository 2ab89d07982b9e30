// The boards by category of a release, and the index of its categories.
import { readReleaseFile } from '../../pipeline/release/read.ts'
import { CATEGORIES_PATH, categoryPath } from '../../pipeline/release/category-boards.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type {
  CategoriesFile,
  CategoryBoardEntry,
  CategoryBoardFile,
  CategoryFacts,
} from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { KeptFiles, fileIn } from './kept-files.ts'

/** Some hundred pages, and the index. */
const CACHE_BYTES = 8 * 1024 * 1024

/** A category with its number, by which its files are named. */
export interface NumberedCategory extends CategoryFacts {
  number: number
}

export class Categories {
  readonly #store: Store
  readonly #files: KeptFiles<CategoriesFile | CategoryBoardFile>

  constructor(store: Store) {
    this.#store = store
    this.#files = new KeptFiles(store, CACHE_BYTES)
  }

  /** Returns all categories in the order of their names. */
  async all(manifest: ReleaseManifest): Promise<NumberedCategory[]> {
    const file = await this.#files.at<CategoriesFile>(manifest, CATEGORIES_PATH)
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
      `no question of release ${release} has the category ${asked}: /view/topics lists the categories`,
    )
  }

  /** Returns a page of a board, counted from 0; undefined if the board does not have it. */
  page(
    manifest: ReleaseManifest,
    { number }: NumberedCategory,
    entityType: EntityType,
    page: number,
  ): Promise<CategoryBoardFile | undefined> {
    return this.#files.at(manifest, categoryPath(number, entityType, page))
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
}
