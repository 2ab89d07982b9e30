// The intakes of a table: documents that name the inbox objects of a version before it is made. If an intake
// can no longer be read, the rows of its version show which objects it took in.
import pMap, { pMapSkip } from 'p-map'
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { type TableName, tableSpec } from '../../schemas/tables.ts'
import { parquet } from '../duckdb.ts'
import { deltaLogPath, intakePath } from '../store/paths.ts'
import { recordAt } from '../store/records.ts'
import { READS_AT_ONCE, type Store, readChecked } from '../store/store.ts'
import { columnsOf } from './columns.ts'
import { type CompactionContext, inboxRows } from './data-files.ts'
import { type TableVersion, isGivenUp } from './delta.ts'
import { localPaths, versionAt } from './delta-log.ts'
import { localInbox } from './inbox.ts'
import { lookAgain, orUnreadable, readQuarantined, unreadable } from './quarantine.ts'
import { earliestAfter } from './recorded-at.ts'

const OBJECTS_AT_ONCE = 1_000

const intake = z.strictObject({ inbox: z.array(z.string()).min(1) })

/**
 * Returns the inbox objects that a version takes in; undefined if that is undecided.
 *
 * @throws ServiceError `corrupt`.
 */
export async function readIntake(
  store: Store,
  table: TableName,
  version: number,
): Promise<string[] | undefined> {
  const path = intakePath(table, version)
  return (await orUnreadable(path, recordAt(store, path, intake).get()))?.inbox
}

/** Decides what a version takes in. Returns false if that is decided already. */
export function putIntake(
  store: Store,
  table: TableName,
  version: number,
  inbox: string[],
): Promise<boolean> {
  return recordAt(store, intakePath(table, version), intake).create({ inbox })
}

/** Whether the last version of a table was given up. If so it took in nothing, whatever its intake says. */
export async function wasGivenUp(store: Store, { table, version, files }: TableVersion): Promise<boolean> {
  if (files.at(-1)?.version === version) return false
  const path = deltaLogPath(table, version)
  return (await readChecked(store, path, (commit) => isGivenUp(commit, table, version))) ?? false
}

/**
 * Returns the objects that the last version of a table took in: all that its intake names or, if the intake
 * is in quarantine, the `listed` ones whose rows the version has.
 *
 * @throws ServiceError `corrupt` if its intake is damaged or lost and not in quarantine: without it rows
 *   could be taken twice.
 */
export async function takenBy(
  context: CompactionContext,
  last: TableVersion,
  listed: readonly string[],
): Promise<ReadonlySet<string>> {
  const { store, wait } = context
  const { table, version } = last
  if (version < 1 || (await wasGivenUp(store, last))) return new Set()
  const path = intakePath(table, version)
  const inQuarantine = async () =>
    (await readQuarantined(store, path)) ? ('in quarantine' as const) : undefined
  const inbox = await lookAgain(
    wait,
    async () => (await readIntake(store, table, version)) ?? (await inQuarantine()),
  )
  if (inbox === 'in quarantine') return takenByRows(context, last, listed)
  if (inbox) return new Set(inbox)
  throw unreadable(path, `${path} is gone: it says what version ${version} of ${table} has taken in`)
}

/** Returns the listed objects whose rows are all in the files that the last version added. */
async function takenByRows(
  context: CompactionContext,
  last: TableVersion,
  listed: readonly string[],
): Promise<Set<string>> {
  const { database, local } = context
  const { table, version } = last
  const spec = tableSpec(table)
  const earliest = earliestAfter(versionAt(last, version - 1))
  const files = last.files.filter((file) => file.version === version)
  const taken = new Set<string>()
  for (let from = 0; files.length > 0 && from < listed.length; from += OBJECTS_AT_ONCE) {
    const objects = new Map<string, string>()
    for (const { object, path } of await stillPresent(context, listed.slice(from, from + OBJECTS_AT_ONCE))) {
      objects.set(path, object)
    }
    if (objects.size === 0) continue
    const added = await localPaths(local, { table, files })
    const isSame = spec.columns.map(({ name }) => `waiting.${name} IS NOT DISTINCT FROM added.${name}`)
    const inbox = inboxRows({ spec, paths: [...objects.keys()], earliest })
    try {
      await database.run(`CREATE OR REPLACE TEMP TABLE waiting AS ${inbox}`)
    } catch (error) {
      throw await namingObject(context, table, [...objects.values()], error)
    }
    const rows = await database.rows<{ path: string }>(
      `SELECT DISTINCT filename AS path FROM waiting WHERE filename NOT IN (
         SELECT filename FROM waiting ANTI JOIN (SELECT ${columnsOf(spec)} FROM ${parquet(added)}) added
         ON ${isSame.join(' AND ')})`,
    )
    await database.run('DROP TABLE waiting')
    for (const { path } of rows) taken.add(objects.get(path)!)
  }
  return taken
}

/** An inbox object and its local file. */
interface PresentObject {
  object: string
  path: string
}

/**
 * Returns the objects that still exist, each with its local file. A stale listing may name objects that were
 * taken long ago.
 */
export function stillPresent(
  { local }: Pick<CompactionContext, 'local'>,
  inbox: readonly string[],
): Promise<PresentObject[]> {
  const read = async (object: string): Promise<PresentObject | typeof pMapSkip> => {
    try {
      return { object, path: await localInbox(local, object, { inStore: true }) }
    } catch (error) {
      if (error instanceof ServiceError && error.kind === 'notFound') return pMapSkip
      throw error
    }
  }
  return pMap(inbox, read, { concurrency: READS_AT_ONCE })
}

/**
 * Returns the error for the first object that cannot be read, since DuckDB does not name it; otherwise
 * `error`.
 */
export async function namingObject(
  context: Pick<CompactionContext, 'local' | 'database'>,
  table: TableName,
  objects: readonly string[],
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof ServiceError && error.kind === 'corrupt')) return error
  try {
    for (const object of objects) await assertReadable(context, table, object)
    return error
  } catch (named) {
    return named
  }
}

/**
 * @throws ServiceError `corrupt` if the object has no readable rows of its table, `notFound` if it is gone.
 */
export async function assertReadable(
  { local, database }: Pick<CompactionContext, 'local' | 'database'>,
  table: TableName,
  object: string,
): Promise<void> {
  const path = await localInbox(local, object)
  const rows = inboxRows({ spec: tableSpec(table), paths: [path], earliest: undefined })
  try {
    await database.run(`CREATE OR REPLACE TEMP TABLE trial AS ${rows}`)
    await database.run('DROP TABLE trial')
  } catch (cause) {
    if (!(cause instanceof ServiceError && cause.kind === 'corrupt')) throw cause
    throw unreadable(object, `${object} holds no rows of ${table} that can be read: ${cause.message}`, cause)
  }
}
