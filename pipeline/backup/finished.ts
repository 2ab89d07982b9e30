// Reads how far a store has finished its numbered objects. A copy has everything up to there.
import { lastIssue } from '../credentials/read.ts'
import { currentRelease, snapshotDates } from '../release/read.ts'
import { lastNumbered } from '../store/numbered.ts'
import { deltaLogPath, feedPath, manifestPath, tablePath } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import type { Content } from '../store/body.ts'
import { TableLog } from '../tables/delta-log.ts'
import { lastCheckpoint } from '../transparency/log-files.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { TABLE_NAMES } from '../../schemas/tables.ts'
import type { Horizon } from './place.ts'

/** The content of the data files that the tables name, by path. */
export type DataFiles = ReadonlyMap<string, Required<Content>>

export interface Finished extends Horizon {
  dataFiles: DataFiles
}

/**
 * Reads what is finished in a store that may be at work. Reads an object that names others before those
 * others, so that nothing finished names an object beyond the horizon.
 *
 * @throws ServiceError `corrupt` for a table whose log is damaged.
 */
export async function readFinished(store: Store): Promise<Finished> {
  const segment = await lastNumbered(store, feedPath)
  const issue = await lastIssue(store)
  const logged = await lastCheckpoint(store)
  const snapshots = new Set(await snapshotDates(store))
  const release = await currentRelease(store)
  const dataFiles = new Map<string, Required<Content>>()
  const tables: Record<string, number> = {}
  for (const table of TABLE_NAMES) {
    const { version, files } = await new TableLog(store, table).readTo()
    tables[table] = version
    for (const { path, sha256, sizeBytes } of files)
      dataFiles.set(tablePath(table, path), { sha256, sizeBytes })
  }
  return { segment, issue, logged, snapshots, release, tables, dataFiles }
}

/**
 * Checks that the store `from` continues the store `to`: only then may it be copied over it.
 *
 * @throws ServiceError `conflict`.
 */
export async function assertContinues(from: Store, to: Store): Promise<void> {
  const { tables, release } = await readFinished(to)
  const lasts = release > 0 ? [manifestPath(release)] : []
  for (const table of TABLE_NAMES) if (tables[table]! >= 0) lasts.push(deltaLogPath(table, tables[table]!))
  for (const path of lasts) {
    const [there, here] = await Promise.all([to.get(path), from.get(path)])
    if (there && here && Buffer.compare(there, here) === 0) continue
    throw new ServiceError(
      'conflict',
      `${to.url} has ${path}, and ${from.url} has ${here ? 'another one' : 'none'}: it is of another store, or of this one before it was set back; name an empty place`,
    )
  }
}
