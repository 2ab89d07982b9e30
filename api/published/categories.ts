// The boards by category of a release, and the index of its categories.
import { CATEGORIES_PATH, categoryFolder } from '../../pipeline/release/category-boards.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type {
  CategoriesFile,
  CategoryBoardEntry,
  CategoryBoardFile,
  CategoryFacts,
} from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { type BoardRequest, boardPage } from './board-page.ts'
import type { Board, Boards } from './boards.ts'
import { pageStart } from './cursor.ts'
import type { ReleaseFiles } from './release-files.ts'
import type { References } from './references.ts'

/** A category with its number, by which its files are named. */
export interface NumberedCategory extends CategoryFacts {
  number: number
}

export class Categories {
  readonly #files: ReleaseFiles
  readonly #boards: Boards
  readonly #references: References

  constructor(files: ReleaseFiles, boards: Boards, references: References) {
    this.#files = files
    this.#boards = boards
    this.#references = references
  }

  /** Returns all categories in the order of their names. */
  async all(manifest: ReleaseManifest): Promise<NumberedCategory[]> {
    const index = await this.#files.parsed<CategoriesFile>(manifest, CATEGORIES_PATH)
    return (index?.categories ?? []).map((facts, number) => ({ ...facts, number }))
  }

  /** Returns a category by its name. @throws ServiceError `notFound` if the release has none of that name. */
  async sought(manifest: ReleaseManifest, category: string): Promise<NumberedCategory> {
    const found = (await this.all(manifest)).find((one) => one.category === category)
    if (found) return found
    const quotedCategory = JSON.stringify(category)
    throw new ServiceError(
      'notFound',
      `no question of release ${manifest.release} has the category ${quotedCategory}: /view/topics lists the categories`,
    )
  }

  /** Returns a page as it was published, counted from 0; undefined if the board does not have it. */
  file(
    manifest: ReleaseManifest,
    facts: NumberedCategory,
    entityType: EntityType,
    page: number,
  ): Promise<CategoryBoardFile | undefined> {
    return this.#boards.page(boardOf(manifest, facts, entityType), page)
  }

  /** Yields the entries page by page. */
  entries(
    manifest: ReleaseManifest,
    facts: NumberedCategory,
    entityType: EntityType,
  ): AsyncGenerator<CategoryBoardEntry[]> {
    return this.#boards.entries<CategoryBoardFile>(boardOf(manifest, facts, entityType))
  }

  /**
   * Returns the entries from the cursor on in the cursor's release; without a cursor, the first ones in this
   * release. A search leaves out all whose names it does not find.
   *
   * @throws ServiceError `notFound` if the release does not exist or has no such category, or if retention
   *   has deleted its pages.
   */
  async page(current: ReleaseManifest, category: string, request: BoardRequest): Promise<Uint8Array> {
    const { manifest, from = 0 } = await pageStart(this.#files, current, request.cursor)
    const facts = await this.sought(manifest, category)
    const board = boardOf(manifest, facts, request.entityType)
    return boardPage(this.#boards, { ...board, category }, from, request, this.#references)
  }
}

function boardOf(manifest: ReleaseManifest, { number }: NumberedCategory, entityType: EntityType): Board {
  return { manifest, folder: categoryFolder(number, entityType), entityType }
}
