// Makes a page of a board, of all questions or of a category, from the entries at its places.
import pMap from 'p-map'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { CATEGORY_BOARD_NOTICE } from '../../schemas/answers.ts'
import { type NameSearch, isSearch } from './board-names.ts'
import type { Board, Boards } from './boards.ts'
import { cursorTo } from './cursor.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { rowsIn } from './release-files.ts'
import type { References } from './references.ts'
import { READS_AT_ONCE } from '../../pipeline/store/store.ts'

export interface BoardRequest extends NameSearch {
  entityType: EntityType
  limit: number
  cursor?: string | undefined
}

/** Returns the entries from a place on. A search leaves out all whose names it does not find. */
export async function boardPage(
  boards: Boards,
  { category, ...board }: Board & { /** Null for the leaderboard. */ category: string | null },
  from: number,
  { limit, ...search }: BoardRequest,
  references: References,
): Promise<Uint8Array> {
  const { manifest, folder, entityType } = board
  // One more than the page has, to know whether there is a next one.
  const most = limit + 1
  const left = Math.max(0, rowsIn(manifest, folder) - from)
  const places = isSearch(search)
    ? (await boards.names(board)).places(search, from, most)
    : Array.from({ length: Math.min(most, left) }, (_, index) => from + index)
  const entries = await pMap(places.slice(0, limit), (place) => boards.entry(board, place), {
    concurrency: READS_AT_ONCE,
  })
  const { release, as_of, environment, methodology_version } = manifest
  return canonical({
    release,
    as_of,
    environment,
    methodology_version,
    ...(category !== null && { category, notice: CATEGORY_BOARD_NOTICE }),
    entity_type: entityType,
    entries,
    references: await references.beside(manifest, entries, category),
    next_cursor: cursorTo(manifest, places[limit]),
  })
}
