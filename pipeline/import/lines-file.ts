// Reads the lines of a text file, and says which of them cannot be read.
import { ServiceError } from '../../schemas/errors.ts'
import type { Database } from '../duckdb.ts'
import { countsOf, onlyFile } from './file-table.ts'
import type { Input } from './input.ts'
import { linesAt, longLine } from './line-numbers.ts'
import { NONE_REJECTED, type Rejected, SHOWN } from './rejected.ts'

/**
 * A line of more than two million bytes is a bad row. A line of this size, half of what DuckDB reads at once,
 * makes the whole file bad.
 */
const LONG_LINE_BYTES = 16_000_000

export interface LineFormat {
  /** The options of DuckDB's reader of CSV. */
  format: string
  unreadable: Unreadable
}

export type Unreadable = Readonly<Record<string, readonly [summary: string, hint?: string]>>

/**
 * The service's words for DuckDB's kinds of unreadable lines, with a hint where the author may have meant
 * something else.
 */
export const UNREADABLE_LINES: Unreadable = {
  'LINE SIZE OVER MAXIMUM': ['a line that is too long'],
  'INVALID ENCODING': ['not UTF-8', 'save the file as UTF-8'],
}

/** Makes a table of a file of lines, and returns one fault for each line that DuckDB could not read. */
export async function readLines(
  database: Database,
  input: Input,
  table: string,
  select: (source: string) => string,
  { format, unreadable }: LineFormat,
): Promise<Rejected> {
  const { path } = input
  // Without a word, DuckDB would leave out a line that is longer than it reads at once.
  const long = await longLine(path, LONG_LINE_BYTES)
  if (long !== undefined) {
    throw new ServiceError(
      'invalid',
      `${input.name} has more than ${LONG_LINE_BYTES.toLocaleString('en')} bytes in line ${long}`,
    )
  }
  // Otherwise DuckDB would add this file's faults to those of earlier files.
  await database.run('DROP TABLE IF EXISTS reject_errors')
  const source = `read_csv(${onlyFile(path)}, auto_detect = false, compression = 'none', ${format}, store_rejects = true, rejects_limit = 0)`
  await database.run(`CREATE OR REPLACE TEMP TABLE ${table} AS ${select(source)}`)
  // Grain: one row per line that could not be read. Its position is that of its first or second byte.
  await database.run(
    `CREATE OR REPLACE TEMP TABLE unread AS
     SELECT line_byte_position AS start, min(error_message) AS message, min_by(error_type::VARCHAR, error_message) AS kind
     FROM reject_errors GROUP BY line_byte_position`,
  )
  const rejects = await database.rows<{ start: bigint; message: string; kind: string }>(
    `FROM unread ORDER BY start LIMIT ${SHOWN}`,
  )
  if (rejects.length === 0) return NONE_REJECTED
  const lines = await linesAt(
    path,
    rejects.map(({ start }) => Number(start)),
  )
  const byKind = await countsOf(database, 'SELECT kind AS reason FROM unread')
  return {
    faults: rejects.map(({ message, kind }, index) => {
      const [detail, hint] = [message.split('\n')[0]!.replace(/\.$/, ''), unreadable[kind]?.[1]]
      return { pointer: `line ${lines[index]}`, detail: hint === undefined ? detail : `${detail}; ${hint}` }
    }),
    count: byKind.reduce((sum, { count }) => sum + count, 0),
    byReason: byKind.map(({ reason, count }) => ({
      reason: unreadable[reason]?.[0] ?? reason.toLowerCase(),
      count,
    })),
  }
}

/** The byte offsets of the lines that could not be read, which ascend. */
export async function unreadStarts(database: Database): Promise<number[]> {
  const rows = await database.rows<{ start: bigint }>('SELECT start FROM unread ORDER BY start')
  return rows.map(({ start }) => Number(start))
}

export const linesNamed = (lines: readonly number[]) => lines.map((line) => `line ${line}`)
