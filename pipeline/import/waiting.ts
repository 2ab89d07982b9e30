// Adds the rows that wait in the inbox to the views of the tables, for commands that must not write.
import { type ScoredTable, tableSpec } from '../../schemas/tables.ts'
import { inboxPrefix, isInboxPath } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { columnsOf } from '../tables/columns.ts'
import { type CompactionContext, inboxRows } from '../tables/data-files.ts'
import type { TableVersion } from '../tables/delta.ts'
import { namingObject, stillPresent } from '../tables/intake.ts'
import { acceptedOffers } from '../tables/offer.ts'
import { earliestAfter } from '../tables/recorded-at.ts'
import { currentRows } from '../tables/views.ts'

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
  const waiting = await stillPresent({ local }, listed)
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
  await database.run(`ALTER VIEW ${table} RENAME TO taken_in_${table}`)
  await database.run(
    `CREATE VIEW ${table} AS FROM taken_in_${table} UNION ALL SELECT ${columnsOf(spec)} FROM waiting_${table}`,
  )
  if (table === 'forecasts' || table === 'usage') return
  await database.run(`CREATE OR REPLACE VIEW current_${table} AS ${currentRows(table, table)}`)
}
