// Rows in SQL: a row is the name of each column with its expression. Only this file has the names of what is
// known of a column of ours beside its text.
import { identifier } from '../duckdb.ts'

/** Column → its SQL. */
export type Row = Readonly<Record<string, string>>

const listed = (row: Row) => Object.entries(row).map(([name, sql]) => `${sql} AS ${identifier(name)}`)

/** The query of rows that are made of those of `source`, which may end in any clause after FROM. */
export const rowsFrom = (source: string, row: Row) => `SELECT ${listed(row).join(', ')} FROM ${source}`

/** The query of the rows of `source` with further columns, and without some of their own. */
export function rowsWith(source: string, row: Row, without: readonly string[] = []): string {
  const own = without.length === 0 ? '*' : `* EXCLUDE (${without.map(identifier).join(', ')})`
  return `SELECT ${[own, ...listed(row)].join(', ')} FROM ${source}`
}

/** The SQL of what a row says for a column of ours. */
export interface Saying {
  text: string
  /** Whether the row says anything there, for a column that it may lack: otherwise the known value stays. */
  isSaid?: string
  /** Whether a word for a missing value stands there. */
  isVoid?: string
  /** Whether the text is another one than that of the file. */
  isAltered?: string
}

/** The columns of a row that says these things. */
export function rowSaying(sayings: Readonly<Record<string, Saying>>): Row {
  const row: Record<string, string> = {}
  for (const [name, { text, ...marks }] of Object.entries(sayings)) {
    row[name] = text
    if (marks.isSaid !== undefined) row[isSaid(name)] = marks.isSaid
    if (marks.isVoid !== undefined) row[isVoid(name)] = marks.isVoid
    if (marks.isAltered !== undefined) row[isAltered(name)] = marks.isAltered
  }
  return row
}

export const isSaid = (column: string) => `has_${column}`
export const isVoid = (column: string) => `void_${column}`
export const isAltered = (column: string) => `altered_${column}`

/**
 * The value of a column: a lower-case UUID, a text, milliseconds since 1970, or millionths, which are −1 for
 * a withdrawal.
 */
export const valueOf = (column: string) => `value_${column}`

/** The value of an optional column that a row does not have: the one that is known. */
export const keptOf = (column: string) => `kept_${column}`
