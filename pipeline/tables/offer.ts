// Offers: rows that may enter a table only if their author has seen everything in it. An import checks its
// rows against a version of the table, and offers them to the next one. Whether they enter is decided when
// its intake is created.
import type { TableName } from '../../schemas/tables.ts'
import { deltaLogPath, intakePath, offerPath, offeredVersion, offersPrefix } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { deleteTaken, listInbox, notShown, openTable, take } from './compact.ts'
import type { CompactionContext } from './data-files.ts'
import { type DataFile, type TableVersion, statisticsOf } from './delta.ts'
import type { TableLog } from './delta-log.ts'
import { putIntake, readIntake } from './intake.ts'
import { lookAgain } from './quarantine.ts'

/**
 * Makes the rows of an object the next version of a table, with no others, and returns its number. If another
 * import or statement has written rows that `seen` lacks, adds nothing and returns undefined: check again,
 * and offer again. Rows of agents never prevent an offer, and never wait.
 *
 * Any number of calls may run at once, beside compactions, on any machines. After a crash the rows are all in
 * the table, or will be with the next compaction, or never will be.
 *
 * @param id a new version 7 UUID.
 * @throws ServiceError `unavailable` if the store does not answer: the rows may be in the table.
 */
export async function offer(
  context: CompactionContext,
  seen: TableVersion,
  id: string,
  bytes: Uint8Array,
): Promise<number | undefined> {
  const { store, wait } = context
  const { table } = seen
  const log = await openTable(context, table)
  for (;;) {
    const last = log.current
    if (last.files.some((file) => file.version > seen.version && !isOfAgents(table, file))) return undefined
    await deleteTaken(context, last, await listInbox(store, table))
    const version = last.version + 1
    const path = offerPath(table, version, id, bytes)
    await store.putIfAbsent(path, bytes)
    // Whoever wins, make the version that the intake decides.
    await putIntake(store, table, version, [path])
    const decided = await lookAgain(wait, () => readIntake(store, table, version))
    if (!decided) throw notShown(intakePath(table, version))
    await take(context, last, decided)
    if ((await isMade(log, version)) && decided.includes(path)) return version
    await store.delete(path)
  }
}

/** Whether a version has rows. It has none if it was given up. */
async function isMade(log: TableLog, version: number): Promise<boolean> {
  await log.refresh()
  if (log.current.version < version) throw notShown(deltaLogPath(log.table, version))
  return log.current.files.some((file) => file.version === version)
}

/** Whether all rows of a data file are forecasts of agents, which no check of an import reads. */
function isOfAgents(table: TableName, file: DataFile): boolean {
  return table === 'forecasts' && statisticsOf(file).maxValues['entity_type'] === 'agent'
}

/**
 * Deletes the offers to versions that are made, left by runs that were cut off: their rows are in the table,
 * or never will be.
 */
export async function forgetVoid(store: Store, { table, version: last }: TableVersion): Promise<void> {
  for await (const { path } of store.list(offersPrefix(table))) {
    const version = offeredVersion(table, path)
    if (version !== undefined && version <= last) await store.delete(path)
  }
}

/**
 * Returns the offers in the intake of the next version. If there are any, a run was cut off before it made
 * that version.
 */
export async function acceptedOffers(store: Store, table: TableName): Promise<string[]> {
  const accepted: string[] = []
  for await (const { path } of store.list(offersPrefix(table))) {
    const version = offeredVersion(table, path)
    if (version === undefined) continue
    if ((await readIntake(store, table, version))?.includes(path)) accepted.push(path)
  }
  return accepted
}
