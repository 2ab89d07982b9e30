// Deletes from a backup the objects that its store has deleted, but not those that the store has lost.
import pMap from 'p-map'
import { quarantineRecordPath, thinnedPath } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import type { Finished } from './finished.ts'
import { placeOf } from './place.ts'

const DELETIONS_AT_ONCE = 16

/**
 * Deletes the objects that the backup had and the store no longer has. Keeps objects that a store never
 * deletes: the store has lost them, and the backup may be the only place that has them.
 *
 * @param kept the paths of the objects in the store.
 */
export async function deleteGone(
  backup: Store,
  had: readonly string[],
  kept: ReadonlySet<string>,
  finished: Finished,
): Promise<{ deleted: number; lost: string[] }> {
  const gone = had.filter((path) => !kept.has(path) && placeOf(path) !== undefined)
  const rightly = gone.filter((path) => isDeleted(path, kept, finished))
  const deleted = new Set(rightly)
  await pMap(deleted, (path) => backup.delete(path), { concurrency: DELETIONS_AT_ONCE })
  const lost = gone.filter((path) => !deleted.has(path) && !isPartialTile(path))
  return {
    deleted: deleted.size,
    lost: lost.map((path) => `${path} is lost: the store had it, and only the backup ${backup.url} has it`),
  }
}

/** Whether a store may delete this object. */
function isDeleted(path: string, kept: ReadonlySet<string>, { dataFiles }: Finished): boolean {
  const place = placeOf(path)
  if (place === 'inbox' || place === 'fact' || place === 'state') return true
  if (kept.has(quarantineRecordPath(path))) return true
  if (path.startsWith('credentials/')) return place === 'file'
  if (path.startsWith('tables/')) return place === 'file' && !dataFiles.has(path)
  const release = /^releases\/(\d+)\/.+\//.exec(path)?.[1]
  return release !== undefined && kept.has(thinnedPath(Number(release)))
}

/**
 * Whether a path is that of a partial tile. A log deletes it once it has the full one, but the log in a copy
 * may end before that.
 */
function isPartialTile(path: string): boolean {
  return /^log\/tile\/.+\.p\/\d+$/.test(path)
}
