// Adds rows to the views of the tables that are not in the tables yet: rows that wait in the inbox, for
// commands that must not write, and rows that are about to be written.
import { SCORED_TABLES, type ScoredTable, type TableName, tableSpec } from '../../schemas/tables.ts'
import type { Database } from '../duckdb.ts'
import { inboxPrefix, isInboxPath, offeredVersion } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { columnsOf } from '../tables/columns.ts'
import { type CompactionContext, inboxRows, notBefore } from '../tables/data-files.ts'
import { assertNotBehind, currentVersions } from '../tables/delta-log.ts'
import type { TableVersion } from '../tables/delta.ts'
import { namingObject, stillPresent } from '../tables/intake.ts'
import { acceptedOffers } from '../tables/offer.ts'
import { earliestAfter } from '../tables/recorded-at.ts'
import { attachAll, currentRows } from '../tables/views.ts'
import type { ImportContext } from './take-in.ts'

/**
 * Lists the objects that each table is about to take in. Call it before the versions are read, so that an
 * object that is taken in after the listing is in the table.
 */
export async function listWaiting<Table extends ScoredTable>(
  store: Store,
  tables: readonly Table[],
): Promise<Record<Table, string[]>> {
  const listed: [Table, string[]][] = []
  for (const table of tables) {
    const objects = await acceptedOffers(store, table)
    for await (const { path } of store.list(inboxPrefix(table))) {
      if (isInboxPath(table, path)) objects.push(path)
    }
    listed.push([table, objects])
  }
  return Object.fromEntries(listed) as Record<Table, string[]>
}

/**
 * Adds inbox objects to the views of a table, except objects that were taken in after they were listed.
 *
 * @throws ServiceError `corrupt` for an object that is damaged.
 */
export async function attachWaiting(
  { local, database }: Pick<CompactionContext, 'local' | 'database'>,
  version: TableVersion,
  listed: readonly string[],
): Promise<void> {
  const { table } = version
  // An offer to a version that is made may be left over, and its rows are in the table.
  const isToCome = (path: string) => (offeredVersion(table, path) ?? Infinity) > version.version
  const waiting = await stillPresent({ local }, listed.filter(isToCome))
  if (waiting.length === 0) return
  const spec = tableSpec(table)
  const paths = waiting.map(([, path]) => path)
  try {
    await database.run(
      `CREATE OR REPLACE TEMP TABLE waiting_${table} AS ${inboxRows({ spec, paths, earliest: earliestAfter(version) })}`,
    )
  } catch (error) {
    const objects = waiting.map(([object]) => object)
    throw await namingObject({ local, database }, table, objects, error)
  }
  await extendView(database, table, `waiting_${table}`)
}

/** The rows that are known: those of the tables, and those that wait to be taken in. */
export interface KnownRows {
  versions: Record<ScoredTable, TableVersion>
  waiting: Record<ScoredTable, string[]>
}

/** @throws ServiceError `unavailable` if the store shows an earlier state than a release has read. */
export async function listKnown({ store, released }: ImportContext): Promise<KnownRows> {
  // The inbox is listed first, so that rows that are taken in after the listing are in the tables.
  const waiting = await listWaiting(store, SCORED_TABLES)
  const versions = await currentVersions(store)
  assertNotBehind(versions, released ?? {})
  return { versions, waiting }
}

/** Makes the views of every table, with the rows that wait. @throws ServiceError as `attachWaiting` does. */
export async function attachKnown(
  context: Pick<CompactionContext, 'local' | 'database'>,
  { versions, waiting }: KnownRows,
): Promise<void> {
  await attachAll(context.database, context.local, versions)
  for (const table of SCORED_TABLES) await attachWaiting(context, versions[table], waiting[table])
}

/** Works with the views of all that is known. @throws ServiceError as `listKnown` and `attachKnown` do. */
export async function onKnown<T>(
  context: ImportContext,
  work: (versions: KnownRows['versions']) => Promise<T>,
): Promise<T> {
  const known = await listKnown(context)
  return context.local.reading(async () => {
    await attachKnown(context, known)
    return work(known.versions)
  })
}

/** Adds rows that are about to be written to the views of a table, as they will be recorded. */
export async function attachRows(database: Database, version: TableVersion, rows: string): Promise<void> {
  const { table } = version
  const earliest = earliestAfter(version)
  const recordedAt = earliest === undefined ? 'recorded_at' : notBefore(earliest, table, 'recorded_at')
  await database.run(
    `CREATE OR REPLACE TEMP TABLE coming_${table} AS SELECT * REPLACE (${recordedAt} AS recorded_at) FROM ${rows}`,
  )
  await extendView(database, table, `coming_${table}`)
}

/** Adds the rows of a DuckDB table to the views of a table. */
async function extendView(database: Database, table: TableName, rows: string): Promise<void> {
  const before = `before_${rows}`
  await database.run(`DROP VIEW IF EXISTS ${before}`)
  await database.run(`ALTER VIEW ${table} RENAME TO ${before}`)
  await database.run(
    `CREATE VIEW ${table} AS FROM ${before} UNION ALL SELECT ${columnsOf(tableSpec(table))} FROM ${rows}`,
  )
  if (table === 'forecasts' || table === 'usage') return
  await database.run(`CREATE OR REPLACE VIEW current_${table} AS ${currentRows(table, table)}`)
}
