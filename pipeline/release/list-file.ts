// Lists of a release: rows in an order, in pages of JSON.
import { canonical } from '../proof/canonical.ts'
import type { OutputFile } from './output.ts'

/** Makes a page: its rows under the name of the list, beside the members that all rows share. */
export function listFile<Row extends object>(
  path: string,
  name: string,
  rows: readonly Row[],
  common: Readonly<Record<string, unknown>>,
): OutputFile {
  return { path, rows: rows.length, bytes: canonical({ ...common, [name]: rows }) }
}

/** Divides rows into pages; none has more than `size`. */
export function pagesOf<Row>(rows: readonly Row[], size: number): (readonly Row[])[] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, page) =>
    rows.slice(page * size, (page + 1) * size),
  )
}
