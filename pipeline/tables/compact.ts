// Moves rows from the inbox into a table exactly once: lists the objects it takes, writes the data files, commits, and
// only then deletes the objects. After a crash anywhere the next run finishes the same step with the same files.
import pMap, { pMapSkip } from 'p-map'
import { v5 as uuidv5 } from 'uuid'
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { type TableName, tableSpec } from '../../schemas/tables.ts'
import { inboxPrefix, intakePath, isInboxPath, deltaLogPath } from '../store/paths.ts'
import { sha256Hex } from '../proof/canonical.ts'
import type { LocalFiles } from '../store/local-files.ts'
import { readRecord, recordBytes } from '../store/records.ts'
import { type Store, type StoredObject, readChecked } from '../store/store.ts'
import { writeCheckpoint } from './checkpoint.ts'
import { type DataFileContext, writeDataFiles } from './data-files.ts'
import { type NewDataFile, type TableVersion, appendCommit, creationCommit, filesOf } from './delta.ts'
import { TableLog } from './delta-log.ts'
import { localInbox } from './inbox.ts'
import { isReplaced } from './views.ts'

const OBJECTS_AT_ONCE = 16
/** A table gets a checkpoint after so many commits. */
export const COMMITS_PER_CHECKPOINT = 100
/** What one version takes at most, so that memory stays bounded however much waits. A single object may be larger. */
const MOST_OBJECTS = 1_000
const MOST_BYTES = 256 * 1024 * 1024
/** The namespace of the tables' ids, an arbitrary UUID. */
const TABLE_IDS = '5b6b2f0e-7a52-4f0b-9a3e-3c1d7f0a9c55'

export interface CompactionContext extends DataFileContext {
  local: LocalFiles
  now: () => Date
}

/** The table when the call ended, and what the call took in. */
export interface Compaction extends TableVersion {
  rows: number
  objects: number
}

const intake = z.strictObject({ inbox: z.array(z.string()).min(1) })

/**
 * Takes in everything that was in the inbox when the call began, in one version of the table after another. Any number of
 * calls may run at once, on any machines: the first to write a version's intake decides it, and the others help to finish
 * it.
 *
 * @throws ServiceError `corrupt` for an object that is damaged or lost: nothing after it is taken in.
 */
export async function compact(context: CompactionContext, table: TableName): Promise<Compaction> {
  const { store, local, now } = context
  const log = new TableLog(store, table)
  await log.refresh()
  if (log.current.version < 0) {
    const creation = creationCommit(table, uuidv5(table, TABLE_IDS), now().getTime())
    await store.putIfAbsent(deltaLogPath(table, 0), creation)
  }
  let [rows, objects] = [0, 0]
  for (let waiting: StoredObject[] | undefined; ;) {
    await log.refresh()
    const latest = log.current
    // Whatever was taken in before the first commit would never get into the table.
    if (latest.version < 0) throw notShown(deltaLogPath(table, 0))
    if (latest.version - log.checkpoint > COMMITS_PER_CHECKPOINT) {
      await writeCheckpoint(context, latest)
      log.checkpoint = latest.version
    }
    const path = intakePath(table, latest.version + 1)
    const next = await readRecord(store, path, intake)
    if (next) {
      rows += await take(context, latest, next.inbox)
      objects += next.inbox.length
      continue
    }
    // An intake is written only after what the version before has taken is deleted, so that nothing is taken twice.
    waiting ??= await clear(store, table, latest.version)
    if (waiting.length === 0) return { ...latest, rows, objects }
    const inbox = await whole(local, nextBatch(waiting))
    // Whether this write wins or a rival's does, the next round finds an intake for the version and finishes it. After a
    // rival's, the listing may hold objects that are taken by now.
    const isMine = inbox.length === 0 || (await store.putIfAbsent(path, recordBytes(path, { inbox })))
    if (!isMine) waiting = undefined
  }
}

/** Takes objects from the front of a listing, as many as one version may have. */
function nextBatch(waiting: StoredObject[]): string[] {
  let sizeBytes = 0
  const fits = waiting.findIndex((object, index) => {
    sizeBytes += object.sizeBytes
    return index >= MOST_OBJECTS || (index > 0 && sizeBytes > MOST_BYTES)
  })
  return waiting.splice(0, fits < 0 ? waiting.length : fits).map(({ path }) => path)
}

/** The objects that are there, each checked. A listing may be stale and name some that were taken long ago. */
function whole(local: LocalFiles, inbox: readonly string[]): Promise<string[]> {
  const read = async (path: string): Promise<string | typeof pMapSkip> => {
    try {
      // A copy from an earlier run may have outlived its object.
      await local.forget(path)
      await localInbox(local, path)
      return path
    } catch (error) {
      if (error instanceof ServiceError && error.kind === 'notFound') return pMapSkip
      throw error
    }
  }
  return pMap(inbox, read, { concurrency: OBJECTS_AT_ONCE })
}

/** Deletes the objects that a committed version took, and returns the others that wait. */
async function clear(store: Store, table: TableName, version: number): Promise<StoredObject[]> {
  const taken = await takenBy(store, table, version)
  // All of them, by their names, because a stale listing may leave some out that would then be taken again.
  await pMap(taken, (path) => store.delete(path), { concurrency: OBJECTS_AT_ONCE })
  const gone = new Set(taken)
  const waiting: StoredObject[] = []
  for await (const object of store.list(inboxPrefix(table))) {
    if (isInboxPath(table, object.path) && !gone.has(object.path)) waiting.push(object)
  }
  return waiting
}

/** The objects that a committed version took; the first version only creates the table. */
async function takenBy(store: Store, table: TableName, version: number): Promise<string[]> {
  if (version === 0) return []
  const path = intakePath(table, version)
  const record = await readRecord(store, path, intake)
  if (record) return record.inbox
  throw new ServiceError(
    'corrupt',
    `${path} is not in the store, although version ${version} of table ${table} was made from it; without it, rows could be taken in twice`,
  )
}

/**
 * Writes the data files of the version after `last`, commits it, and deletes the objects that it took. Returns its number of
 * rows, or 0 if a rival committed it first.
 */
async function take(context: CompactionContext, last: TableVersion, inbox: string[]): Promise<number> {
  const { store, local, now } = context
  const { table } = last
  const version = last.version + 1
  const path = deltaLogPath(table, version)
  let files: NewDataFile[]
  try {
    files = await local.reading(async () => {
      const paths = await pMap(inbox, (object) => localInbox(local, object), { concurrency: OBJECTS_AT_ONCE })
      const digest = sha256Hex(inbox.join('\n')).slice(0, 32)
      return writeDataFiles(context, { spec: tableSpec(table), paths, digest, earliest: earliestAfter(last) })
    })
  } catch (error) {
    // Inbox objects are deleted only after the commit: if one is gone, a rival has committed this version.
    if (await store.get(path)) return 0
    throw error
  }
  const rows = files.reduce((sum, file) => sum + file.rows, 0)
  const committed = await store.putIfAbsent(path, appendCommit(table, version, files, now().getTime()))
  if (!committed) await assertHolds(store, table, version, files)
  const remove = async (object: string) => {
    await local.forget(object)
    await store.delete(object)
  }
  await pMap(inbox, remove, { concurrency: OBJECTS_AT_ONCE })
  return committed ? rows : 0
}

/** Makes sure that the commit of a version is that of its intake, because what the intake took is about to be deleted. */
async function assertHolds(
  store: Store,
  table: TableName,
  version: number,
  files: readonly NewDataFile[],
): Promise<void> {
  const path = deltaLogPath(table, version)
  const stored = await readChecked(store, path, (commit) => filesOf(commit, table, version))
  if (!stored) throw notShown(path)
  if (stored.map((file) => file.path).join() === files.map((file) => file.path).join()) return
  throw new ServiceError(
    'corrupt',
    `${path} was made from other objects than ${intakePath(table, version)} names`,
  )
}

function notShown(path: string): ServiceError {
  return new ServiceError(
    'unavailable',
    `the store refuses to create ${path} because it is there, and does not show it; run again`,
    { retryAfterS: 5 },
  )
}

/**
 * The earliest instant at which a row of the next version may be recorded: where rows replace each other, what is said later
 * counts later, whatever the clocks of the machines say.
 */
function earliestAfter(last: TableVersion): Date | undefined {
  const recordedAt = isReplaced(last.table) ? lastRecordedAt(last) : undefined
  return recordedAt && new Date(recordedAt.getTime() + 1)
}

/** When the latest row of a table was recorded; undefined if it has none. */
export function lastRecordedAt({ files }: TableVersion): Date | undefined {
  let last = ''
  for (const { maxValues } of files) {
    const recordedAt = String(maxValues['recorded_at'])
    if (recordedAt > last) last = recordedAt
  }
  return last === '' ? undefined : new Date(last)
}
