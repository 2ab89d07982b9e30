// Pages of the board of a category and a kind, in one release, put together from its published pages.
import { ENTRIES_PER_PAGE } from '../../pipeline/release/board-order.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { CategoryBoardEntry } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { rankedIn } from '../pages/topics.ts'
import { BoardNames } from './board-names.ts'
import { type BoardRequest, boardPage } from './board-page.ts'
import type { Categories, NumberedCategory } from './categories.ts'
import type { CursorReleases } from './cursor-releases.ts'
import { type People, namedEntry } from './people.ts'
import type { References } from './references.ts'
import { ShardCache } from './shard-cache.ts'

/** The names of some hundred thousand entities. */
const NAMES_BYTES = 16 * 1024 * 1024

/** The board of a kind in a category of a release. */
interface Board {
  manifest: ReleaseManifest
  facts: NumberedCategory
  entityType: EntityType
}

export class CategoryBoards {
  readonly #categories: Categories
  readonly #releases: CursorReleases
  readonly #people: People
  readonly #references: References
  readonly #names = new ShardCache<BoardNames>(NAMES_BYTES)

  constructor(categories: Categories, releases: CursorReleases, people: People, references: References) {
    this.#categories = categories
    this.#releases = releases
    this.#people = people
    this.#references = references
  }

  /**
   * Returns the entries from the cursor on in the cursor's release; without a cursor, the first ones in this
   * release. A search leaves out all whose names it does not find.
   *
   * @throws ServiceError `notFound` if the release does not exist or has no such category, or if retention
   *   has deleted its pages.
   */
  async page(current: ReleaseManifest, category: string, request: BoardRequest): Promise<Uint8Array> {
    const { manifest, from = 0 } = await this.#releases.placeOf(current, request.cursor)
    const { entityType } = request
    const facts = await this.#categories.sought(manifest, category)
    const board = { manifest, facts, entityType }
    return boardPage(
      {
        manifest,
        category,
        size: rankedIn(facts, entityType),
        entryAt: (place) => this.#entry(board, place),
        namesOn: () => this.#namesOn(board),
      },
      from,
      request,
      this.#references,
    )
  }

  async #entry({ manifest, facts, entityType }: Board, place: number): Promise<CategoryBoardEntry> {
    const page = Math.floor(place / ENTRIES_PER_PAGE)
    const file = await this.#categories.page(manifest, facts, entityType, page)
    return file!.entries[place % ENTRIES_PER_PAGE]!
  }

  #namesOn({ manifest, facts, entityType }: Board): Promise<BoardNames> {
    const of = entityType === 'agent' ? '' : ` ${this.#people.version}`
    return this.#names.get(`${manifest.release} ${facts.number} ${entityType}${of}`, async () => {
      const pages = await Array.fromAsync(this.#categories.entries(manifest, facts, entityType))
      const value = new BoardNames(pages.flat().map((entry) => namedEntry(this.#people, entry).name))
      return { value, sizeBytes: value.sizeBytes }
    })
  }
}
