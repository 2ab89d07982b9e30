// The id of an import: the version of a table that it made, such as forecasts-17.
import { ServiceError } from '../../schemas/errors.ts'
import { type ImportedTable, IMPORTED_TABLES } from '../../schemas/tables.ts'

export interface ImportId {
  table: ImportedTable
  version: number
}

export function textOfImport({ table, version }: ImportId): string {
  return `${table}-${version}`
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

export function isAmong(imports: readonly ImportId[], { table, version }: ImportId): boolean {
  return imports.some((one) => one.table === table && one.version === version)
}
