// A CSV file as a table.
import type { Database } from '../duckdb.ts'
import type { ExpectedColumns } from './cells.ts'
import { BLANK, type FileTable } from './file-table.ts'
import { readHeader } from './header.ts'
import type { Input } from './input.ts'
import { recordLines } from './line-numbers.ts'
import { UNREADABLE_LINES, type Unreadable, linesNamed, readLines, unreadStarts } from './lines-file.ts'
import type { HeaderOptions } from './options.ts'
import { NONE_REJECTED } from './rejected.ts'

const UNREADABLE_CSV: Unreadable = {
  ...UNREADABLE_LINES,
  'MISSING COLUMNS': ['fewer values than the header has names'],
  'TOO MANY COLUMNS': [
    'more values than the header has names',
    'a value that has the delimiter in it, such as a decimal comma, must be in quotes',
  ],
  'UNQUOTED VALUE': ['a quote that does not end, or text after one'],
}

/** Opens a CSV file. Among delimiters the one wins that finds most of the columns. */
export async function openCsv(
  database: Database,
  input: Input,
  columns: Pick<ExpectedColumns, 'required' | 'optional'>,
  options: HeaderOptions,
): Promise<FileTable> {
  const { names, delimiter, shown } = await readHeader(input.path, input.name, columns, options)
  // The names in SQL are c0, c1 and so on, whatever the file calls its columns.
  const types = names.map((_, index) => `c${index}: 'VARCHAR'`).join(', ')
  const format = `header = true, columns = {${types}}, delim = '${delimiter}', quote = '"', escape = '"'`
  // DuckDB skips blank lines, except in a file of one column, where a blank line could be a row.
  const blankCounts = names.length === 1
  let unread = NONE_REJECTED
  return {
    input,
    names,
    shown,
    cellOf: (name) => ({ text: `c${names.indexOf(name)}`, isThere: 'true', isBare: 'true' }),
    hasPath: () => Promise.resolve(false),
    ...(blankCounts && { fault: `if(coalesce(c0, '') = '', '${BLANK}', NULL)` }),
    load: async (select) => {
      unread = await readLines(database, input, 'texts', select, { format, unreadable: UNREADABLE_CSV })
      return unread
    },
    placesOf: async (records) => {
      const skipped = unread.count === 0 ? [] : await unreadStarts(database)
      return linesNamed(await recordLines(input.path, records, { delimiter, blankCounts, skipped }))
    },
  }
}
