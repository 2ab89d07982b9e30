// Moves rows from the inbox into a table exactly once: lists the objects it takes, writes the data files,
// commits, and only then deletes the objects. After a crash anywhere the next run finishes the same step with
// the same files.
import pMap from 'p-map'
import { v5 as uuidv5 } from 'uuid'
import { ServiceError } from '../../schemas/errors.ts'
import { type TableName, tableSpec } from '../../schemas/tables.ts'
import { deltaLogPath, inboxPrefix, intakePath, isInboxPath, tablePath } from '../store/paths.ts'
import { sha256Hex } from '../proof/canonical.ts'
import { type Store, type StoredObject, readChecked } from '../store/store.ts'
import { writeCheckpoint } from './checkpoint.ts'
import { type CompactionContext, writeDataFiles } from './data-files.ts'
import {
  type NewDataFile,
  type TableVersion,
  appendCommit,
  creationCommit,
  filesOf,
  isGivenUp,
  statisticsOf,
} from './delta.ts'
import { TableLog } from './delta-log.ts'
import { localInbox } from './inbox.ts'
import { namingObject, putIntake, readIntake, stillPresent, takenBy } from './intake.ts'
import { lookAgain, unreadable } from './quarantine.ts'
import { earliestAfter } from './recorded-at.ts'

const OBJECTS_AT_ONCE = 16
/** A table gets a checkpoint after this many commits. */
export const COMMITS_PER_CHECKPOINT = 100
/**
 * The most that one version takes in, so that memory stays bounded however much waits. A single object may be
 * larger.
 */
const MOST_OBJECTS_AT_ONCE = 1_000
const MOST_BYTES_AT_ONCE = 256 * 1024 * 1024
/** The namespace of the tables' ids, an arbitrary UUID. */
const TABLE_IDS = '5b6b2f0e-7a52-4f0b-9a3e-3c1d7f0a9c55'

/** The table at the end of the call, and the rows and objects that the call took in. */
export interface Compaction extends TableVersion {
  rows: number
  objects: number
}

/**
 * Takes in everything that was in the inbox when the call began, in one version of the table after another.
 * Any number of calls may run at once, on any machines: the first to write a version's intake decides it, and
 * the others help to finish it.
 *
 * @throws ServiceError `corrupt` for an object that is damaged or lost: nothing after it is taken in.
 */
export async function compact(context: CompactionContext, table: TableName): Promise<Compaction> {
  const { store } = context
  const log = await openTable(context, table)
  let [rows, objects] = [0, 0]
  for (let waiting: StoredObject[] | undefined; ;) {
    await log.refresh()
    const latest = log.current
    if (latest.version - log.checkpoint > COMMITS_PER_CHECKPOINT) {
      await writeCheckpoint(context, latest)
      log.checkpoint = latest.version
    }
    const next = latest.version + 1
    const decided = await readIntake(store, table, next)
    if (decided) {
      rows += await take(context, latest, decided)
      objects += decided.length
      continue
    }
    // Delete the objects of the last version before an intake is written, so that none is taken twice.
    waiting ??= await clear(context, latest)
    if (waiting.length === 0) return { ...latest, rows, objects }
    // Each object is checked before an intake names it.
    const inbox = (await stillPresent(context, nextBatch(waiting))).map(({ object }) => object)
    // Whoever wins, the next round finds an intake for the version and finishes it. If a rival won, the
    // listing may hold objects that are taken by now.
    const isMine = inbox.length === 0 || (await putIntake(store, table, next, inbox))
    if (!isMine) waiting = undefined
  }
}

/** Returns the log of a table. Creates the table if it does not exist. */
export async function openTable({ store, now }: CompactionContext, table: TableName): Promise<TableLog> {
  const log = new TableLog(store, table)
  await log.refresh()
  if (log.current.version >= 0) return log
  const path = deltaLogPath(table, 0)
  await store.putIfAbsent(path, creationCommit(table, uuidv5(table, TABLE_IDS), now().getTime()))
  await log.refresh()
  // Rows taken in before the first commit would never get into the table.
  if (log.current.version < 0) throw notShown(path)
  return log
}

/** Takes objects from the front of a listing, as many as one version may have. */
function nextBatch(waiting: StoredObject[]): string[] {
  let sizeBytes = 0
  const fits = waiting.findIndex((object, index) => {
    sizeBytes += object.sizeBytes
    return index >= MOST_OBJECTS_AT_ONCE || (index > 0 && sizeBytes > MOST_BYTES_AT_ONCE)
  })
  return waiting.splice(0, fits < 0 ? waiting.length : fits).map(({ path }) => path)
}

/** Deletes the objects that a committed version took, and returns the others that wait. */
async function clear(context: CompactionContext, last: TableVersion): Promise<StoredObject[]> {
  const listed = await listInbox(context.store, last.table)
  if (listed.length === 0) return []
  const taken = await deleteTaken(context, last, listed)
  return listed.filter(({ path }) => !taken.has(path))
}

export async function listInbox(store: Store, table: TableName): Promise<StoredObject[]> {
  const listed: StoredObject[] = []
  for await (const object of store.list(inboxPrefix(table))) {
    if (isInboxPath(table, object.path)) listed.push(object)
  }
  return listed
}

/**
 * Deletes the objects that the last version took in. Call it before the next intake is written, so that none
 * is taken twice.
 */
export async function deleteTaken(
  context: CompactionContext,
  last: TableVersion,
  listed: readonly StoredObject[],
): Promise<ReadonlySet<string>> {
  const taken = await takenBy(
    context,
    last,
    listed.map(({ path }) => path),
  )
  // Delete all by name: a stale listing may lack some, which would then be taken again.
  await pMap(taken, (path) => context.store.delete(path), { concurrency: OBJECTS_AT_ONCE })
  return taken
}

/**
 * Writes the data files of the version after `last`, commits it, and deletes the objects that it took.
 * Returns its number of rows, or 0 if a rival committed it first or it was given up.
 */
export async function take(context: CompactionContext, last: TableVersion, inbox: string[]): Promise<number> {
  const { store, local, now } = context
  const { table } = last
  const version = last.version + 1
  const path = deltaLogPath(table, version)
  let files: NewDataFile[]
  let paths: string[] = []
  try {
    paths = await pMap(inbox, (object) => localOrTaken(context, table, version, object), {
      concurrency: OBJECTS_AT_ONCE,
    })
    const digest = sha256Hex(inbox.join('\n')).slice(0, 32)
    const batch = { spec: tableSpec(table), paths, version, digest, earliest: earliestAfter(last) }
    files = await local.reading(() => writeDataFiles(context, batch))
  } catch (error) {
    // Inbox objects are deleted only after the commit: if one is gone, a rival has committed this version.
    if (await store.get(path)) return 0
    throw paths.length > 0 ? await namingObject(context, table, inbox, error) : error
  }
  const rows = files.reduce((sum, file) => sum + statisticsOf(file).numRecords, 0)
  const commit = appendCommit(table, version, files, now().getTime())
  const committed = await store.putIfAbsent(path, commit)
  if (!committed && !(await isTaken(context, last, files))) return 0
  const remove = async (object: string) => {
    await local.forget(object)
    await store.delete(object)
  }
  await pMap(inbox, remove, { concurrency: OBJECTS_AT_ONCE })
  return committed ? rows : 0
}

/**
 * A rival has committed the version after `last`. Returns whether that version took in the objects of its
 * intake, so that they may be deleted. If the version was given up, deletes its data files, because no commit
 * names them; the inbox objects stay.
 */
async function isTaken(
  { store }: CompactionContext,
  { table, version: lastVersion }: TableVersion,
  files: readonly NewDataFile[],
): Promise<boolean> {
  const version = lastVersion + 1
  const path = deltaLogPath(table, version)
  const stored = await readChecked(store, path, (commit) => ({
    added: filesOf(commit, table, version),
    isGivenUp: isGivenUp(commit, table, version),
  }))
  if (!stored) throw notShown(path)
  if (stored.isGivenUp) {
    await pMap(files, (file) => store.delete(tablePath(table, file.path)), { concurrency: OBJECTS_AT_ONCE })
    return false
  }
  if (stored.added.map((file) => file.path).join() === files.map((file) => file.path).join()) return true
  throw new ServiceError(
    'corrupt',
    `${path} was made from other objects than ${intakePath(table, version)} names`,
  )
}

/** Returns the error for an object that the store refuses to create but cannot find. */
export function notShown(path: string): ServiceError {
  return new ServiceError(
    'unavailable',
    `the store refuses to create ${path} because it is there, and does not show it; run again`,
    { retryAfterS: 5 },
  )
}

/**
 * Returns the local file of an object that an intake names.
 *
 * @throws ServiceError `notFound` if a rival has taken it in, `corrupt` if it is damaged or lost.
 */
async function localOrTaken(
  context: CompactionContext,
  table: TableName,
  version: number,
  object: string,
): Promise<string> {
  const { store, local, wait } = context
  const found = await lookAgain(wait, async () => {
    try {
      return await localInbox(local, object)
    } catch (error) {
      if (!(error instanceof ServiceError && error.kind === 'notFound')) throw error
      if (await store.get(deltaLogPath(table, version))) throw error
      return undefined
    }
  })
  if (found !== undefined) return found
  throw unreadable(
    object,
    `${object} is gone: ${intakePath(table, version)} names it, and no commit has taken it in`,
  )
}
