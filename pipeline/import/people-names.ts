// The names of people in an import: they are no columns of a table, and go into objects of their own.
import type { Database } from '../duckdb.ts'
import { type NameChange, PeopleNames, changeNames } from '../people/names.ts'
import type { ImportContext } from './take-in.ts'
import { valueOf } from './row.ts'

/** The function in SQL that gives the name of a person as it stands. */
export const KNOWN_NAME = 'known_name'
/** The function in SQL that gives the reason why the name of a person was taken back. */
const ERASED_FOR = 'erased_for'

/** The names that the rows of the last comparison say. Grain: one row per person. */
const SAID_NAMES = 'said_names'

export async function defineKnownNames({
  store,
  database,
}: Pick<ImportContext, 'store' | 'database'>): Promise<void> {
  const names = new PeopleNames(store)
  await names.refresh()
  database.define(KNOWN_NAME, (userId) => names.nameOf(userId) ?? undefined)
  database.define(ERASED_FOR, (userId) => names.erasureOf(userId)?.reason)
}

/** Selects rows of forecasters. The name is null in the rows of those whose names were taken back. */
export function withoutErasedNames(rows: string): string {
  const [id, name] = [valueOf('user_id'), valueOf('display_name')]
  return `(SELECT * REPLACE (if(${ERASED_FOR}(${id}) IS NULL, ${name}, NULL) AS ${name}) FROM ${rows})`
}

/** Moves the names out of the table `fresh`, which keeps the people that no row has named. */
export async function takeOutNames(database: Database): Promise<void> {
  await database.run(`CREATE OR REPLACE TEMP TABLE ${SAID_NAMES} AS SELECT user_id, display_name FROM fresh`)
  await database.run(`CREATE OR REPLACE TEMP TABLE fresh AS FROM fresh ANTI JOIN standing USING (user_id)`)
}

export async function recordNames({ store, database }: ImportContext): Promise<void> {
  const rows = await database.rows<{ user_id: string; display_name: string | null }>(`FROM ${SAID_NAMES}`)
  const changes = rows.map(({ user_id, display_name: name }): [string, NameChange] => [user_id, { name }])
  await changeNames(store, new Map(changes))
}
