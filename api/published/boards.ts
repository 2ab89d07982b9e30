// The entries of any board of a release: the leaderboard of a type of entity, or the board of a category.
import { ENTRIES_PER_PAGE, boardPagePath } from '../../pipeline/release/board-order.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { CategoryBoardFile, LeaderboardFile } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { BoardNames, nameLine } from './board-names.ts'
import type { ReleaseFiles } from './release-files.ts'
import { type People, namedEntry } from './people.ts'

type BoardPage = LeaderboardFile | CategoryBoardFile

/** A board, by the folder of its pages. */
export interface Board {
  manifest: ReleaseManifest
  folder: string
  entityType: EntityType
}

export class Boards {
  readonly people: People
  readonly #files: ReleaseFiles

  constructor(files: ReleaseFiles, people: People) {
    this.#files = files
    this.people = people
  }

  /** Returns a page as it was published, counted from 0; undefined if the board does not have it. */
  page<Page extends BoardPage>({ manifest, folder }: Board, page: number): Promise<Page | undefined> {
    return this.#files.parsed(manifest, boardPagePath(folder, page))
  }

  /** Returns the entry at a place, from 0 on, which the board must have. */
  async entry<Page extends BoardPage>(board: Board, place: number): Promise<Page['entries'][number]> {
    const page = await this.page<Page>(board, Math.floor(place / ENTRIES_PER_PAGE))
    return page!.entries[place % ENTRIES_PER_PAGE]!
  }

  /** Yields the entries page by page. */
  async *entries<Page extends BoardPage>({ manifest, folder }: Board): AsyncGenerator<Page['entries']> {
    for await (const { entries } of this.#files.eachParsed<Page>(manifest, folder)) yield entries
  }

  /** Returns the names of all entries, as they are now. */
  names({ manifest, folder, entityType }: Board): Promise<BoardNames> {
    const version = entityType === 'agent' ? '' : ` ${this.people.version}`
    return this.#files.made(manifest, `${folder} names${version}`, async (its) => {
      const lineOf = (entry: BoardPage['entries'][number]) => nameLine(namedEntry(this.people, entry).name)
      const lines = await this.#files.fromEach(its, folder, ({ entries }: BoardPage) => entries.map(lineOf))
      const value = new BoardNames(lines)
      return { value, sizeBytes: value.sizeBytes }
    })
  }
}
