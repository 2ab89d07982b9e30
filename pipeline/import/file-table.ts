// A file of an operator as a table: its columns, the SQL of its cells, and its rows, whatever its form.
import { ServiceError } from '../../schemas/errors.ts'
import { type Database, literal } from '../duckdb.ts'
import type { Cell } from './cells.ts'
import type { Input } from './input.ts'
import type { ReasonCount, Rejected } from './rejected.ts'

export interface FileTable {
  input: Input
  /** The names of the columns, or of the members that some row has. */
  names: readonly string[]
  /** Names that are no fault if no column has them, such as those of members around a list. */
  around?: readonly string[]
  /** The header as found, for messages; undefined for a file without a header line. */
  shown?: string
  /** The SQL of a cell, by the name of its column or by a path into a nested one. */
  cellOf: (name: string) => Cell
  /** Whether some row has a path into a nested column. */
  hasPath: (path: string) => Promise<boolean>
  /** The SQL of the fault of a row as a whole, or `BLANK`; NULL for a row that is good. */
  fault?: string
  /** Makes the table `texts` from a query on the rows, and returns the rows that could not be read. */
  load: (select: (source: string) => string) => Promise<Rejected>
  /** The places of rows of `texts`, for messages. */
  placesOf: (records: readonly number[]) => Promise<string[]>
}

/** The fault of a line that is no row. */
export const BLANK = 'a blank line'

/**
 * A file's path for DuckDB's readers, escaped because they would read some names as patterns for other files.
 */
export function onlyFile(path: string): string {
  return literal(path.replace(/[*?[]/g, '[$&]'))
}

/** Counts each `reason` of a query, the most frequent first. */
export async function countsOf(database: Database, reasons: string): Promise<ReasonCount[]> {
  const counts = await database.rows<{ reason: string; count: bigint }>(
    `SELECT reason, count(*) AS count FROM (${reasons}) GROUP BY reason ORDER BY count DESC, reason`,
  )
  return counts.map(({ reason, count }) => ({ reason, count: Number(count) }))
}

/** @throws ServiceError `invalid` if the file is not what its reader expects. */
export async function reading<T>({ name, path }: Input, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof ServiceError && cause.kind === 'invalid') throw cause
    const message =
      cause instanceof Error ? cause.message.split('\n')[0]!.replaceAll(path, name) : String(cause)
    // DuckDB's message for lines that end differently from the first line.
    const reason = message.includes('state machine') ? 'its lines do not all end in the same way' : message
    throw new ServiceError('invalid', `${name} cannot be read: ${reason}`, { cause })
  }
}
