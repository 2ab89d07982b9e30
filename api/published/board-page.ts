// Makes a page of a board, of all questions or of a category, from the entries at its places.
import pMap from 'p-map'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { CATEGORY_BOARD_NOTICE } from '../../schemas/answers.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { type BoardNames, type NameSearch, isSearch } from './board-names.ts'
import { cursorTo } from './cursor-releases.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { Placed, References } from './references.ts'

const READS_AT_ONCE = 16

export interface BoardRequest extends NameSearch {
  entityType: EntityType
  limit: number
  cursor?: string | undefined
  /** The number of the release, if the caller names one. */
  release?: number | undefined
}

/** The board of a kind in a release. */
export interface Board {
  manifest: ReleaseManifest
  /** Null for the leaderboard. */
  category: string | null
  size: number
  /** Reads the entry at a place, from 0 on. */
  entryAt: (place: number) => Promise<Placed>
  namesOn: () => Promise<BoardNames>
}

/** Returns the entries from a place on. A search leaves out all whose names it does not find. */
export async function boardPage(
  { manifest, category, size, entryAt, namesOn }: Board,
  from: number,
  { entityType, limit, ...search }: BoardRequest,
  references: References,
): Promise<Uint8Array> {
  // One more than the page has, to know whether there is a next one.
  const most = limit + 1
  const places = isSearch(search)
    ? (await namesOn()).places(search, from, most)
    : Array.from({ length: Math.min(most, Math.max(0, size - from)) }, (_, index) => from + index)
  const entries = await pMap(places.slice(0, limit), entryAt, { concurrency: READS_AT_ONCE })
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
