// Pages of the leaderboard of one release, put together from its published pages.
import pMap from 'p-map'
import { ENTRIES_PER_PAGE } from '../../pipeline/release/board-order.ts'
import { leaderboardFolder } from '../../pipeline/release/files/leaderboards.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { LeaderboardFile } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { type BoardRequest, boardPage } from './board-page.ts'
import type { Board, Boards } from './boards.ts'
import { pageStart } from './cursor.ts'
import { type ReleaseFiles, rowsIn } from './release-files.ts'
import type { BoardPage, NamedEntry } from '../pages/ranking.ts'
import { namedEntry } from './people.ts'
import type { References } from './references.ts'
import { READS_AT_ONCE } from '../../pipeline/store/store.ts'

type LeaderboardEntry = LeaderboardFile['entries'][number]
type PoolOf = Pick<LeaderboardEntry, 'pool' | 'pool_size'>

/** Entries that a search of names has found. */
export interface FoundEntries {
  /** Of all entries that it has found. */
  total: number
  /** Those whose whole names are the text come first, then those that begin with it. */
  entries: NamedEntry[]
  /** How many of `entries` have the text as their whole names. */
  whole: number
}

export class Leaderboard {
  readonly #boards: Boards
  readonly #files: ReleaseFiles
  readonly #references: References

  constructor(files: ReleaseFiles, boards: Boards, references: References) {
    this.#files = files
    this.#boards = boards
    this.#references = references
  }

  /**
   * Returns the entries from the cursor on in the cursor's release; without a cursor, the first ones in this
   * release. A search leaves out all whose names it does not find.
   *
   * @throws ServiceError `notFound` if the cursor's release does not exist, or if retention has deleted its
   *   pages.
   */
  async page(current: ReleaseManifest, request: BoardRequest): Promise<Uint8Array> {
    const { manifest, from = 0 } = await pageStart(this.#files, current, request.cursor)
    const board = { ...boardOf(manifest, request.entityType), category: null }
    return boardPage(this.#boards, board, from, request, this.#references)
  }

  /** Returns the entries from `from` on, at most `most`, with a text anywhere in their names. */
  async found(
    manifest: ReleaseManifest,
    entityType: EntityType,
    text: string,
    { from = 0, most }: { from?: number; most: number },
  ): Promise<FoundEntries> {
    const board = boardOf(manifest, entityType)
    const names = await this.#boards.names(board)
    const places = names.found(text)
    const shown = places.slice(from, from + most)
    const entries = await pMap(shown, (place) => this.#entry(board, place), { concurrency: READS_AT_ONCE })
    const whole = shown.filter((place) => names.isWhole(place, text)).length
    return { total: places.length, entries, whole }
  }

  /** Returns a page, counted from 0, with names; undefined if the release does not have it. */
  async file(
    manifest: ReleaseManifest,
    entityType: EntityType,
    page: number,
  ): Promise<BoardPage | undefined> {
    const file = await this.#boards.page<LeaderboardFile>(boardOf(manifest, entityType), page)
    return file && { ...file, entries: file.entries.map((entry) => namedEntry(this.#boards.people, entry)) }
  }

  /** Yields the entries page by page. */
  entries(manifest: ReleaseManifest, entityType: EntityType): AsyncGenerator<LeaderboardEntry[]> {
    return this.#boards.entries<LeaderboardFile>(boardOf(manifest, entityType))
  }

  /** Returns how many are ranked in the pool of an entity, and the first two of them. */
  async board(
    manifest: ReleaseManifest,
    entityType: EntityType,
    pool: PoolOf,
  ): Promise<{ size: number; first: NamedEntry[] }> {
    const board = boardOf(manifest, entityType)
    const { begin, size } = await this.#span(board, pool)
    const first = Array.from({ length: Math.min(2, size) }, (_, index) => this.#entry(board, begin + index))
    return { size, first: await Promise.all(first) }
  }

  /** Returns how many are ranked in the pool of an entity. */
  async boardSize(manifest: ReleaseManifest, entityType: EntityType, pool: PoolOf): Promise<number> {
    return (await this.#span(boardOf(manifest, entityType), pool)).size
  }

  /**
   * Finds where the ranked of a pool begin, and how many they are. The pages are in order of pools, so that a
   * search reads few of them, however many there are.
   */
  async #span(board: Board, { pool, pool_size: size }: PoolOf): Promise<{ begin: number; size: number }> {
    const comesBefore = (entry: LeaderboardEntry) =>
      entry.rank !== null &&
      (entry.pool_size! > size! || (entry.pool_size === size && entry.pool !== pool && entry.pool! < pool!))
    const isIn = (entry: LeaderboardEntry) => entry.rank !== null && entry.pool === pool
    const begin = await this.#countWhile(board, comesBefore)
    const end = await this.#countWhile(board, (entry) => comesBefore(entry) || isIn(entry))
    return { begin, size: end - begin }
  }

  /** Counts the first entries for which `holds` is true, which it must be of no later one. */
  async #countWhile(board: Board, holds: (entry: LeaderboardEntry) => boolean): Promise<number> {
    const entriesOf = async (page: number) =>
      (await this.#boards.page<LeaderboardFile>(board, page))?.entries ?? []
    let [low, high] = [0, Math.max(0, pagesOf(board.manifest, board.entityType) - 1)]
    while (low < high) {
      const middle = (low + high) >> 1
      const last = (await entriesOf(middle)).at(-1)
      if (last && holds(last)) low = middle + 1
      else high = middle
    }
    return low * ENTRIES_PER_PAGE + (await entriesOf(low)).filter(holds).length
  }

  async #entry(board: Board, place: number): Promise<NamedEntry> {
    return namedEntry(this.#boards.people, await this.#boards.entry<LeaderboardFile>(board, place))
  }
}

/** Returns the number of pages that a release has for a type of entity. */
export function pagesOf(manifest: ReleaseManifest, entityType: EntityType): number {
  return Math.ceil(listedCount(manifest, entityType) / ENTRIES_PER_PAGE)
}

/** Returns the number of entries that a release has for a type of entity. */
export function listedCount(manifest: ReleaseManifest, entityType: EntityType): number {
  return rowsIn(manifest, leaderboardFolder(entityType))
}

function boardOf(manifest: ReleaseManifest, entityType: EntityType): Board {
  return { manifest, folder: leaderboardFolder(entityType), entityType }
}
