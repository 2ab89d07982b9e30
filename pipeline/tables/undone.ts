// The imports that the operator has undone. Their rows stay in the tables, and nobody reads them.
import { type UndoneImport, undoneImport } from '../../schemas/manifests.ts'
import { type ImportedTable, IMPORTED_TABLES } from '../../schemas/tables.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { UNDONE_PREFIX, undonePath } from '../store/paths.ts'
import { records } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { DataFile, TableVersion } from './delta.ts'

/** An import is the version of a table that it made, such as forecasts-17. */
export interface ImportId {
  table: ImportedTable
  version: number
}

export function textOfImport({ table, version }: ImportId): string {
  return `${table}-${version}`
}

export function isAmong(imports: readonly ImportId[], { table, version }: ImportId): boolean {
  return imports.some((one) => one.table === table && one.version === version)
}

/** @throws ServiceError `invalid` for anything but the id of an import. */
export function importIdOf(text: string): ImportId {
  const [, name, version] = /^([a-z]+)-([1-9]\d{0,14})$/.exec(text) ?? []
  const table = IMPORTED_TABLES.find((one) => one === name)
  if (table && version !== undefined) return { table, version: Number(version) }
  throw new ServiceError(
    'invalid',
    `${JSON.stringify(text.slice(0, 200))} is not the id of an import, such as forecasts-17; \`fvs imports\` lists them`,
  )
}

/** Reads which imports are undone, by table and version. */
export function undoneImports(store: Store): Promise<UndoneImport[]> {
  return records(store, undonePath, undoneImport).list(UNDONE_PREFIX)
}

/**
 * A table without the rows of the imports that are undone by `undone`, and by nothing else: what was undone
 * in `version` by another list is back.
 */
export function withoutUndone<Version extends TableVersion>(
  version: Version,
  undone: readonly UndoneImport[],
): Version {
  const by = new Map(undone.flatMap((one) => (one.table === version.table ? [[one.version, one]] : [])))
  if (by.size === 0 && version.undone === undefined) return version
  const files = everSaid(version)
  return {
    ...version,
    files: files.filter((file) => !by.has(file.version)),
    undone: files.flatMap((file) => {
      const one = by.get(file.version)
      return one ? [{ ...file, by: one }] : []
    }),
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
