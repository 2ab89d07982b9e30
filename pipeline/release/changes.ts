// Whether there is anything to release that the last release does not say.
import pMap from 'p-map'
import type { QuarantinedObject, ReleaseManifest } from '../../schemas/payloads.ts'
import { SCORED_TABLES, type ScoredTable, type TableName } from '../../schemas/tables.ts'
import { snapshotDate } from './read.ts'
import { canonical } from '../proof/canonical.ts'
import { deltaLogPath, inboxPrefix, isInboxPath } from '../store/paths.ts'
import type { Store } from '../store/store.ts'

/** What a release would be made of. */
export type NextRelease = Pick<ReleaseManifest, 'as_of' | 'engines' | 'methodology_version'> & {
  quarantined: readonly QuarantinedObject[]
  tables: Record<ScoredTable, number>
}

export function hasChanged(last: ReleaseManifest, next: NextRelease): boolean {
  return !isAlike(last, next) || SCORED_TABLES.some((name) => last.tables[name] !== next.tables[name])
}

/** Whether all but the tables is the same. Each day has a release of its own. */
function isAlike(last: ReleaseManifest, next: Omit<NextRelease, 'tables'>): boolean {
  return (
    snapshotDate(last.as_of) === snapshotDate(next.as_of) &&
    isSame(last.engines, next.engines) &&
    isSame(last.quarantined, next.quarantined) &&
    last.methodology_version === next.methodology_version
  )
}

function isSame(one: object, other: object): boolean {
  return Buffer.compare(canonical(one), canonical(other)) === 0
}

/**
 * Whether there is nothing to do for a run that has found no release begun: nothing waits in the inbox, and
 * no table has a commit that the last release has not read. This takes two requests a table, however long the
 * logs are. What another run is about to take in is in the inbox until it is committed.
 */
export async function nothingToRelease(
  store: Store,
  last: ReleaseManifest,
  next: Omit<NextRelease, 'tables'>,
): Promise<boolean> {
  if (!isAlike(last, next)) return false
  const quiet = await pMap(SCORED_TABLES, async (table) => {
    const [commit, waits] = await Promise.all([
      store.get(deltaLogPath(table, (last.tables[table] ?? -1) + 1)),
      hasWaiting(store, table, 1),
    ])
    return !commit && !waits
  })
  return quiet.every((isSo) => isSo)
}

/** Whether at least this many objects wait to be taken in. */
export async function hasWaiting(store: Store, table: TableName, count: number): Promise<boolean> {
  let waiting = 0
  for await (const { path } of store.list(inboxPrefix(table))) {
    if (isInboxPath(table, path)) waiting += 1
    if (waiting >= count) return true
  }
  return false
}
