// Reads an operator's file into the view `incoming`: a record number, the wanted columns as text, and the
// values that are computed from them.
import type { PipelineComponents } from '../components.ts'
import { type Fault, ServiceError } from '../../schemas/errors.ts'
import { type Database, literal } from '../duckdb.ts'
import { type ExpectedColumns, findColumns, readHeader } from './header.ts'
import { type Format, type Input, type Source, openInput } from './input.ts'
import { linesAt, longLine, recordLines } from './line-numbers.ts'
import type { HeaderOptions } from './options.ts'

/** Bad records: the first faults, and the number of all. */
export interface Rejected {
  faults: Fault[]
  count: number
  byReason: ReasonCount[]
}

/** The number of records that are bad for a reason. */
export interface ReasonCount {
  reason: string
  count: number
}

export const NONE_REJECTED: Rejected = { faults: [], count: 0, byReason: [] }

export interface IncomingRows {
  rejected: Rejected
  /** The places of records in the file, for messages: `line 12` or `row 11`. */
  placesOf(records: readonly number[]): Promise<string[]>
}

/**
 * A line of more than two million bytes is a bad row. A line of this size, half of what DuckDB reads at once,
 * makes the whole file bad.
 */
const LONG_LINE_BYTES = 16_000_000

/** The most faults that are shown. */
export const SHOWN = 20

type ReadContext = Pick<PipelineComponents, 'database' | 'directory'>

/**
 * @throws ServiceError `invalid` for a file that cannot be read, has an unknown format, or has missing,
 *   unknown or repeated columns.
 */
export async function readRows(
  { database, directory }: ReadContext,
  source: Source,
  columns: ExpectedColumns,
  options: HeaderOptions,
): Promise<IncomingRows> {
  const input = await openInput(source, directory)
  return READERS[input.format](database, input, columns, options)
}

type Reader = (
  database: Database,
  input: Input,
  columns: ExpectedColumns,
  options: HeaderOptions,
) => Promise<IncomingRows>

const READERS: Record<Format, Reader> = { csv: readCsv, ndjson: readNdjson, parquet: readParquet }

/**
 * Returns the query of a source's rows: every column as text, or NULL if the file lacks it, and the computed
 * values.
 */
function rowsOf(
  { required, optional, computed = [] }: ExpectedColumns,
  text: (column: string) => string | undefined,
  source: string,
  kept: readonly string[] = [],
): string {
  const texts = [...required, ...optional].map((name) => {
    const found = text(name)
    return found === undefined ? `NULL::VARCHAR AS ${name}` : `nullif(${found}, '') AS ${name}`
  })
  return `SELECT ${['*', ...computed].join(', ')} FROM (SELECT ${[...kept, ...texts].join(', ')} FROM ${source})`
}

async function readCsv(
  database: Database,
  input: Input,
  columns: ExpectedColumns,
  options: HeaderOptions,
): Promise<IncomingRows> {
  const { path, name } = input
  const { names, delimiter, shown } = await readHeader(path, name, columns, options)
  const found = findColumns(name, names, columns, options, shown)
  // The names in SQL are c0, c1 and so on, whatever the file calls its columns.
  const types = names.map((_, index) => `c${index}: 'VARCHAR'`).join(', ')
  const text = (column: string) => (found.has(column) ? `c${found.get(column)}` : undefined)
  const rejected = await createdFromLines(
    database,
    input,
    (source) => rowsOf(columns, text, source),
    `header = true, columns = {${types}}, delim = '${delimiter}', quote = '"', escape = '"'`,
    UNREADABLE_CSV,
  )
  // DuckDB skips blank lines, except in a file of one column, where a blank line could be a row.
  const blankCounts = names.length === 1
  if (blankCounts) await database.run(`DELETE FROM texts WHERE "${[...found.keys()][0]}" IS NULL`)
  return {
    rejected,
    placesOf: async (records) =>
      (await recordLines(path, records, { delimiter, blankCounts })).map((line) => `line ${line}`),
  }
}

/** The JSON Pointer (RFC 6901) of a field of an object. */
const pointerTo = (name: string) => literal(`/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)

async function readNdjson(
  database: Database,
  input: Input,
  columns: ExpectedColumns,
  { map, ignoreUnknown }: HeaderOptions,
): Promise<IncomingRows> {
  const unread = await createdFromLines(
    database,
    input,
    (source) => `SELECT line FROM ${source}`,
    // The delimiter is a character that JSON does not allow.
    `header = false, columns = {'line': 'VARCHAR'}, delim = '\x1f', quote = '', escape = '', max_line_size = 1048576`,
    UNREADABLE_JSON,
  )
  if (unread.count > 0) return { rejected: unread, placesOf: () => Promise.resolve([]) }
  await database.run(
    `CREATE OR REPLACE TEMP TABLE lines AS SELECT record, line FROM incoming WHERE trim(line) <> ''`,
  )
  const fieldOf = (column: string) => map.get(column) ?? column
  const fields = [...columns.required, ...columns.optional].map(fieldOf)
  const mapped = [...map].filter(([column, field]) => column !== field && !fields.includes(column))
  const names = fields.map(literal).join(', ')
  const nested = fields.map(
    (name) =>
      `WHEN json_type(line, ${pointerTo(name)}) IN ('OBJECT', 'ARRAY', 'BOOLEAN') THEN ${literal(`${name} is neither text nor a number`)}`,
  )
  const unknown = `list_filter(json_keys(line), lambda k: k NOT IN (${names}))`
  const faulty = [
    ...mapped.map(
      ([column]) =>
        `WHEN list_contains(json_keys(line), ${literal(column)}) THEN ${literal(`has ${column}, which --map says is another`)}`,
    ),
    ...(ignoreUnknown
      ? []
      : [
          `WHEN len(${unknown}) > 0 THEN 'unknown field ' || left(${unknown}[1], 80) || '; see --map and --ignore-unknown'`,
        ]),
    ...nested,
  ]
  // Grain: one row per line that is not an object of text and numbers under known names.
  const faults = `SELECT record, CASE
      WHEN NOT json_valid(line) THEN 'not JSON'
      WHEN json_type(line) <> 'OBJECT' THEN 'not a JSON object'
      WHEN len(json_keys(line)) <> len(list_distinct(json_keys(line))) THEN 'a field appears twice'
      ${faulty.join('\n      ')}
    END AS reason FROM lines`
  await database.run(
    `CREATE OR REPLACE TEMP TABLE bad_lines AS SELECT * FROM (${faults}) WHERE reason IS NOT NULL`,
  )
  const rejects = await database.rows<{ record: bigint; reason: string }>(
    `FROM bad_lines ORDER BY record LIMIT ${SHOWN}`,
  )
  const byReason = await countsOf(database, 'SELECT reason FROM bad_lines')
  const text = (column: string) => `line ->> ${pointerTo(fieldOf(column))}`
  const good = `(FROM lines WHERE ${rejects.length === 0} ORDER BY record)`
  await database.run(`CREATE OR REPLACE TEMP TABLE texts AS ${rowsOf(columns, text, good, ['record'])}`)
  await database.run('CREATE OR REPLACE TEMP VIEW incoming AS FROM texts')
  const lineOf = (record: number) => `line ${record + 1}`
  return {
    rejected: {
      faults: rejects.map(({ record, reason }) => ({ pointer: lineOf(Number(record)), detail: reason })),
      count: byReason.reduce((sum, { count }) => sum + count, 0),
      byReason,
    },
    placesOf: (records) => Promise.resolve(records.map(lineOf)),
  }
}

async function readParquet(
  database: Database,
  input: Input,
  columns: ExpectedColumns,
  options: HeaderOptions,
): Promise<IncomingRows> {
  const { path, name } = input
  const source = `read_parquet(${onlyFile(path)}, hive_partitioning = false)`
  const described = await reading(
    input,
    database.rows<{ column_name: string; column_type: string }>(`DESCRIBE SELECT * FROM ${source}`),
  )
  const names = described.map(({ column_name }) => column_name)
  const found = findColumns(name, names, columns, options)
  const text = (column: string) => {
    const at = found.get(column)
    return at === undefined ? undefined : asText(names[at]!, described[at]!.column_type)
  }
  await created(database, input, rowsOf(columns, text, source))
  return {
    rejected: NONE_REJECTED,
    placesOf: (records) => Promise.resolve(records.map((record) => `row ${record + 1}`)),
  }
}

/**
 * A Parquet column as text. A timestamp without a zone is in UTC, because that is what writers of Parquet
 * mean.
 */
function asText(name: string, type: string): string {
  const column = `"${name.replaceAll('"', '""')}"`
  if (type === 'TIMESTAMP WITH TIME ZONE') return `(${column} AT TIME ZONE 'UTC')::VARCHAR || 'Z'`
  return type.startsWith('TIMESTAMP') ? `${column}::VARCHAR || 'Z'` : `${column}::VARCHAR`
}

/**
 * A file's path for DuckDB's readers, escaped because they would read some names as patterns for other files.
 */
function onlyFile(path: string): string {
  return literal(path.replace(/[*?[]/g, '[$&]'))
}

type Unreadable = Readonly<Record<string, readonly [summary: string, hint?: string]>>

/**
 * The service's words for DuckDB's kinds of unreadable lines, with a hint where the author may have meant
 * something else.
 */
const UNREADABLE_LINES: Unreadable = {
  'LINE SIZE OVER MAXIMUM': ['a line that is too long'],
  'INVALID ENCODING': ['not UTF-8', 'save the file as UTF-8'],
}
const UNREADABLE_JSON: Unreadable = { ...UNREADABLE_LINES, 'TOO MANY COLUMNS': ['a control character'] }
const UNREADABLE_CSV: Unreadable = {
  ...UNREADABLE_LINES,
  'MISSING COLUMNS': ['fewer values than the header has names'],
  'TOO MANY COLUMNS': [
    'more values than the header has names',
    'a value that has the delimiter in it, such as a decimal comma, must be in quotes',
  ],
  'UNQUOTED VALUE': ['a quote that does not end, or text after one'],
}

/** Reads a file of lines into `incoming`, and returns one fault for each line that DuckDB could not read. */
async function createdFromLines(
  database: Database,
  input: Input,
  select: (source: string) => string,
  format: string,
  unreadable: Unreadable,
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
  await created(database, input, select(source))
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

/** Counts each `reason` of a query, the most frequent first. */
async function countsOf(database: Database, reasons: string): Promise<ReasonCount[]> {
  const counts = await database.rows<{ reason: string; count: bigint }>(
    `SELECT reason, count(*) AS count FROM (${reasons}) GROUP BY reason ORDER BY count DESC, reason`,
  )
  return counts.map(({ reason, count }) => ({ reason, count: Number(count) }))
}

/** Makes the table `texts` and the view `incoming`. The record number is the row's place in the file. */
async function created(database: Database, input: Input, select: string): Promise<void> {
  await reading(input, database.run(`CREATE OR REPLACE TEMP TABLE texts AS ${select}`))
  await database.run('CREATE OR REPLACE TEMP VIEW incoming AS SELECT rowid AS record, * FROM texts')
}

async function reading<T>({ name, path }: Input, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const message =
      cause instanceof Error ? cause.message.split('\n')[0]!.replaceAll(path, name) : String(cause)
    // DuckDB's message for lines that end differently from the first line.
    const reason = message.includes('state machine') ? 'its lines do not all end in the same way' : message
    throw new ServiceError('invalid', `${name} cannot be read: ${reason}`, { cause })
  }
}
