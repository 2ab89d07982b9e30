// The rows that stay in the tables, and that nobody reads: those of imports that were undone, and those of
// people whose forecasts were erased.
import type { ErasedPerson } from '../../schemas/manifests.ts'
import { literal } from '../duckdb.ts'
import type { Store } from '../store/store.ts'
import type { LeftOut, TableVersion } from './delta.ts'
import { erasedPeople } from './erased.ts'
import { undoneImports, withoutUndone } from './undone.ts'

/** Reads what is left out from now on. */
export async function readLeftOut(store: Store): Promise<LeftOut> {
  const [undone, erased] = await Promise.all([undoneImports(store), erasedPeople(store)])
  return {
    undone_imports: undone.length > 0 ? undone : undefined,
    erased_people: erased.length > 0 ? erased : undefined,
  }
}

/** Whether less counts than before. Nothing that is left out comes back, so that numbers tell. */
export function isMoreLeftOut(before: LeftOut, now: LeftOut): boolean {
  const numberIn = ({ undone_imports = [], erased_people = [] }: LeftOut) =>
    undone_imports.length + erased_people.length
  return numberIn(before) !== numberIn(now)
}

/** A table without these rows, and with all others: what another list left out of `version` is back. */
export function without<Version extends TableVersion>(
  version: Version,
  { undone_imports = [], erased_people = [] }: LeftOut,
): Version {
  const { erased: _, ...whole } = withoutUndone(version, undone_imports)
  const isOfPeople = version.table in OF_PERSON && erased_people.length > 0
  return { ...whole, ...(isOfPeople && { erased: erased_people }) } as Version
}

/** The SQL of the rows of a person, in each table that has any. */
const OF_PERSON: Partial<Record<TableVersion['table'], (ids: string) => string>> = {
  forecasters: (ids) => `user_id IN (${ids})`,
  forecasts: (ids) => `entity_type = 'forecaster' AND entity_id IN (${ids})`,
}

/** The SQL of the rows of these people in a table; undefined for a table that has none of anyone. */
export function rowsOfPeople(
  table: TableVersion['table'],
  people: readonly Pick<ErasedPerson, 'user_id'>[],
): string | undefined {
  if (people.length === 0) return undefined
  return OF_PERSON[table]?.(people.map(({ user_id }) => literal(user_id)).join(', '))
}

/** The SQL of the rows of a table that count. */
export function counts({ table, erased = [] }: Pick<TableVersion, 'table' | 'erased'>): string {
  const gone = rowsOfPeople(table, erased)
  return gone === undefined ? 'true' : `NOT (${gone})`
}
