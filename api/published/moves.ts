// How far entities have moved on a leaderboard in about a month.
import { lastWhere } from '../../pipeline/release/last-where.ts'
import { isThinned } from '../../pipeline/release/read.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { type NamedEntry, idOf } from '../pages/ranking.ts'
import type { ReleaseFiles } from './release-files.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Leaderboard } from './leaderboard.ts'

const MONTH_MS = 30 * 86_400_000

export interface Moves {
  /** The release that the moves are counted from. */
  since: { release: number; as_of: string }
  /** How many places each entity went up, or down below 0, by its id. */
  places: ReadonlyMap<string, number>
}

/**
 * Compares a page of a leaderboard, counted from 0, with the newest release that is 30 days older. It reads
 * that page of the older release and the two beside it, so that it has no move of who came from further away.
 *
 * @returns undefined if there is no such release, or if retention has deleted it.
 */
export async function movesOn(
  context: { store: Store; files: ReleaseFiles; leaderboard: Leaderboard },
  current: ReleaseManifest,
  entityType: EntityType,
  { page, entries }: { page: number; entries: readonly NamedEntry[] },
): Promise<Moves | undefined> {
  const before = await monthBefore(context.files, current)
  if (!before || (await isThinned(context.store, before.release))) return undefined
  const near = [page - 1, page, page + 1].filter((one) => one >= 0)
  const files = await Promise.all(near.map((one) => context.leaderboard.file(before, entityType, one)))
  const then = new Map(files.flatMap((file) => file?.entries ?? []).map((entry) => [idOf(entry), entry]))
  const places = new Map<string, number>()
  for (const entry of entries) {
    const old = then.get(idOf(entry))
    if (old?.pool !== entry.pool || !old || old.rank === null || entry.rank === null) continue
    places.set(idOf(entry), old.rank - entry.rank)
  }
  return { since: before, places }
}

/** Returns the last release that is a month older; undefined if there is none. */
async function monthBefore(
  files: ReleaseFiles,
  current: ReleaseManifest,
): Promise<ReleaseManifest | undefined> {
  const latest = Date.parse(current.as_of) - MONTH_MS
  // No release is of an earlier time than the one before.
  const found = await lastWhere(
    current.release - 1,
    async (release) => Date.parse((await files.at(release)).as_of) <= latest,
  )
  return found === 0 ? undefined : files.at(found)
}
