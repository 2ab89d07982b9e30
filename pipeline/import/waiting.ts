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
import { attachErased, counts } from '../tables/left-out.ts'
import { acceptedOffers } from '../tables/offer.ts'
import { earliestAfter } from '../tables/recorded-at.ts'
import { attachAll, currentRows, isReplaced } from '../tables/views.ts'
import type { ImportContext } from './take-in.ts'

/**
 * Lists the objects that each table is about to take in. Call it before the versions are read, so that an
 * object that is taken in after the listing is in the table.
 */
async function listWaiting<Table extends ScoredTable>(
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
 * Adds inbox objects to the views of a table, unless some are gone. Returns those that are gone.
 *
 * @throws ServiceError `corrupt` for an object that is damaged.
 */
async function attachWaiting(
  { local, database }: Pick<CompactionContext, 'local' | 'database'>,
  version: TableVersion,
  listed: readonly string[],
): Promise<string[]> {
  const { table } = version
  // An offer to a version that is made may be left over, and its rows are in the table.
  const waiting = listed.filter((path) => (offeredVersion(table, path) ?? Infinity) > version.version)
  const { paths, gone } = await lookFor({ local }, waiting)
  if (gone.length > 0 || paths.length === 0) return gone
  const rows = inboxRows({ spec: tableSpec(table), paths, earliest: earliestAfter(version) })
  try {
    await database.run(
      `CREATE OR REPLACE TEMP TABLE waiting_${table} AS SELECT * FROM (${rows}) WHERE ${counts(version)}`,
    )
  } catch (error) {
    const again = await lookFor({ local }, waiting)
    if (again.gone.length > 0) return again.gone
    throw await namingObject({ local, database }, table, waiting, error)
  }
  await extendView(database, table, `waiting_${table}`)
  return []
}

/** Returns the local files of the objects that still exist, and the others. */
async function lookFor(
  context: Pick<CompactionContext, 'local'>,
  objects: readonly string[],
): Promise<{ paths: string[]; gone: string[] }> {
  const present = new Map((await stillPresent(context, objects)).map(({ object, path }) => [object, path]))
  return { paths: [...present.values()], gone: objects.filter((object) => !present.has(object)) }
}

/**
 * Makes views of tables with the rows that wait. `attach` reads the versions and makes the views without
 * them. It is called again if an object is gone that was there before: another command has taken it in, so
 * that the table of a later version has its rows.
 *
 * @throws ServiceError `corrupt` for an object that is damaged.
 */
export async function attachWithWaiting<Table extends ScoredTable>(
  context: Pick<CompactionContext, 'store' | 'local' | 'database'>,
  tables: readonly Table[],
  attach: () => Promise<Record<Table, TableVersion>>,
): Promise<Record<Table, TableVersion>> {
  const taken = new Set<string>()
  for (;;) {
    const listed = await listWaiting(context.store, tables)
    const versions = await attach()
    const gone: string[] = []
    for (const table of tables) {
      const waiting = listed[table].filter((path) => !taken.has(path))
      gone.push(...(await attachWaiting(context, versions[table], waiting)))
    }
    if (gone.length === 0) return versions
    for (const path of gone) taken.add(path)
  }
}

/**
 * Works with the views of all that is known: the rows of the tables, and those that wait to be taken in.
 *
 * @throws ServiceError `unavailable` if the store shows an earlier state than a release has read, `corrupt`
 *   for an object that is damaged.
 */
export async function onKnown<T>(
  context: ImportContext,
  work: (versions: Record<ScoredTable, TableVersion>) => Promise<T>,
): Promise<T> {
  const { store, database, local, released = {} } = context
  return local.reading(async () => {
    const known = await attachWithWaiting(context, SCORED_TABLES, async () => {
      const versions = await currentVersions(store)
      assertNotBehind(versions, released)
      await attachAll(database, local, versions)
      await attachErased(database, versions.forecasts)
      return versions
    })
    return work(known)
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
  if (!isReplaced(table)) return
  await database.run(`CREATE OR REPLACE VIEW current_${table} AS ${currentRows(table, table)}`)
}
