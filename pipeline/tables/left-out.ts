// The rows that the operator leaves out: those of undone imports and of erased people. A record says since
// when and why. The rows stay in the tables, because earlier releases were made from them, but no later
// release reads them.
import { type ErasedPerson, type UndoneImport, erasedPerson, undoneImport } from '../../schemas/manifests.ts'
import { type Database, literal } from '../duckdb.ts'
import { ERASED_PREFIX, UNDONE_PREFIX, erasedPath, undonePath } from '../store/paths.ts'
import { records } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { DataFile, LeftOut, TableVersion } from './delta.ts'

/** The records of undone imports. They are never deleted. */
export const undoneImports = (store: Store) => records(store, undonePath, undoneImport)

/** The records of people whose forecasts are erased, without their names. They are never deleted. */
export const erasedPeople = (store: Store) => records(store, erasedPath, erasedPerson)

/** Reads who is erased, in the order of ids. */
export function listErased(store: Store): Promise<ErasedPerson[]> {
  return erasedPeople(store).list(ERASED_PREFIX)
}

/** Reads what is left out from now on. */
export async function readLeftOut(store: Store): Promise<LeftOut> {
  const [undone, erased] = await Promise.all([undoneImports(store).list(UNDONE_PREFIX), listErased(store)])
  return {
    undone_imports: undone.length > 0 ? undone : undefined,
    erased_people: erased.length > 0 ? erased : undefined,
  }
}

/**
 * Whether more is left out than before. Rows left out never come back, so comparing the numbers is enough.
 */
export function isMoreLeftOut(before: LeftOut, now: LeftOut): boolean {
  const numberIn = ({ undone_imports = [], erased_people = [] }: LeftOut) =>
    undone_imports.length + erased_people.length
  return numberIn(before) !== numberIn(now)
}

/** Returns a table without exactly these rows. Rows that another list left out of `version` are back. */
export function without<Version extends TableVersion>(
  version: Version,
  { undone_imports = [], erased_people = [] }: LeftOut,
): Version {
  const { table } = version
  const by = new Map(undone_imports.flatMap((one) => (one.table === table ? [[one.version, one]] : [])))
  const isOfPeople = table in OF_PERSON && erased_people.length > 0
  const files = everSaid(version)
  const undone = files.flatMap((file) => {
    const one = by.get(file.version)
    return one ? [{ ...file, by: one }] : []
  })
  return {
    ...version,
    files: files.filter((file) => !by.has(file.version)),
    undone: undone.length > 0 ? undone : undefined,
    erased: isOfPeople ? erased_people : undefined,
  }
}

/** All data files of a table in the order of its log, those of undone imports among them. */
export function everSaid({ files, undone = [] }: TableVersion): readonly DataFile[] {
  if (undone.length === 0) return files
  return [...files, ...undone].toSorted((one, other) => one.version - other.version)
}

/** The undone imports of a table, each with its files. */
export function undoneIn({ undone = [] }: TableVersion): { by: UndoneImport; files: readonly DataFile[] }[] {
  return [...Map.groupBy(undone, ({ by }) => by.version).values()].map((files) => ({
    by: files[0]!.by,
    files,
  }))
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

/** Makes the table of the people whose forecasts a version leaves out, for `isErased`. */
export async function attachErased(database: Database, { erased = [] }: TableVersion): Promise<void> {
  const ids = erased.map(({ user_id }) => literal(user_id)).join(', ')
  await database.run(
    `CREATE OR REPLACE TEMP TABLE erased_people AS SELECT unnest([${ids}]::VARCHAR[]) AS user_id`,
  )
}

/** Returns SQL that tells whether an id is that of an erased person. No import brings them back. */
export function isErased(id: string): string {
  return `${id} IN (SELECT user_id FROM erased_people)`
}
