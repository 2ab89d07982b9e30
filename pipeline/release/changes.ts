// Whether there is anything to release that the last release does not say.
import pMap from 'p-map'
import type { ReleaseManifest } from '../../schemas/payloads.ts'
import { SCORED_TABLES, type ScoredTable, type TableName } from '../../schemas/tables.ts'
import { snapshotDate } from './derive.ts'
import { readSnapshotManifest } from './read.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import { inboxPrefix, intakePath, isInboxPath, deltaLogPath, planPath } from '../store/paths.ts'
import type { Store } from '../store/store.ts'

/** What a release would be made of. */
export type NextRelease = Pick<ReleaseManifest, 'as_of' | 'engines' | 'methodology_version'> & {
  tables: Record<ScoredTable, number>
}

export function hasChanged(last: ReleaseManifest, next: NextRelease): boolean {
  return !isAlike(last, next) || SCORED_TABLES.some((name) => last.tables[name] !== next.tables[name])
}

/** The same but for the tables. Each day has a release of its own. */
function isAlike(last: ReleaseManifest, next: Omit<NextRelease, 'tables'>): boolean {
  return (
    snapshotDate(new Date(last.as_of)) === snapshotDate(new Date(next.as_of)) &&
    sha256Hex(canonical(last.engines)) === sha256Hex(canonical(next.engines)) &&
    last.methodology_version === next.methodology_version
  )
}

/**
 * Whether a run has nothing to do: nobody has begun the next release, nothing waits to be taken in, and no table has a
 * commit that the last release has not read. It takes some twenty requests, however long the logs are. False where in
 * doubt.
 */
export async function nothingToRelease(
  store: Store,
  last: ReleaseManifest,
  next: Omit<NextRelease, 'tables'>,
): Promise<boolean> {
  if (!isAlike(last, next)) return false
  const date = snapshotDate(new Date(last.as_of))
  if (!(await readSnapshotManifest(store, date))) return false
  if (await store.get(planPath(last.release + 1))) return false
  const quiet = await pMap(SCORED_TABLES, async (table) => {
    const version = (last.tables[table] ?? -1) + 1
    const [intake, commit, waits] = await Promise.all([
      store.get(intakePath(table, version)),
      store.get(deltaLogPath(table, version)),
      hasWaiting(store, table, 1),
    ])
    return !intake && !commit && !waits
  })
  return quiet.every((isSo) => isSo)
}

/** Whether at least so many objects wait to be taken in. */
export async function hasWaiting(store: Store, table: TableName, count: number): Promise<boolean> {
  let waiting = 0
  for await (const { path } of store.list(inboxPrefix(table))) {
    if (isInboxPath(table, path)) waiting += 1
    if (waiting >= count) return true
  }
  return false
}
